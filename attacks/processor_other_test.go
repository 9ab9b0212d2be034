//go:build !unix

package attacks_test

import "time"

// processorTime is the time of the wall where no other is known.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
