//go:build unix && !linux

package suite

import (
	"os"
	"syscall"
)

// nonblocking keeps opening a pipe from waiting for a writer.
const nonblocking = syscall.O_NONBLOCK

// ofKernel reports whether the kernel generates a file while it is read. This system
// has no such files.
func ofKernel(*os.File) bool { return false }
