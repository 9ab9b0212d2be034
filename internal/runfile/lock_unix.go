//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package runfile

import (
	"os"
	"syscall"
)

// lock keeps other processes from appending to f until it is closed. The system
// drops the lock of a process that dies, so none is ever left behind.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.ENOTSUP || err == syscall.ENOLCK || err == syscall.ENOSYS {
		return nil // some network file systems have no locks
	}
	return err
}
