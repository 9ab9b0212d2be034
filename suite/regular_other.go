//go:build !unix

package suite

import "os"

// nonblocking is 0: opening does not wait.
const nonblocking = 0

// ofKernel reports whether the kernel generates a file while it is read. This system
// has no such files.
func ofKernel(*os.File) bool { return false }
