//go:build unix

package attacks_test

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that this process has used so far. Unlike
// wall-clock time, it does not depend on how busy the machine is.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
