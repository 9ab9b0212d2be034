//go:build unix

package attacks_test

import (
	"syscall"
	"time"
)

// processorTime is what this process has computed so far. Unlike the time of the wall, it
// stays the same on a busy machine.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
