//go:build unix && !linux

package suite

import (
	"os"
	"syscall"
)

// nonblocking keeps the opening of a pipe from waiting for who writes to it.
const nonblocking = syscall.O_NONBLOCK

// ofKernel reports whether the kernel makes up a file while it is read: there is no
// such file system here.
func ofKernel(*os.File) bool { return false }
