//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package runfile

import (
	"os"
	"syscall"
)

// Lock keeps other processes that lock f from appending to it until it is closed. It returns an
// error if another process holds the lock. The system releases the lock of a process that dies.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.ENOTSUP || err == syscall.ENOLCK || err == syscall.ENOSYS {
		return nil // some network file systems have no locks
	}
	return err
}

// Unlock releases the lock of f. Closing f is not enough: a child process that is just being
// started still holds f open, and with it the lock, until it executes its program.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
