//go:build !unix

package attacks_test

import "time"

// processorTime returns the wall-clock time, because processor time is not available
// here.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
