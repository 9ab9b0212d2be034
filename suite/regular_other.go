//go:build !unix

package suite

import "os"

// nonblocking is 0: opening does not wait.
const nonblocking = 0

// ofKernel reports whether the kernel makes up a file while it is read: there is no
// such file system here.
func ofKernel(*os.File) bool { return false }
