package runfile

import (
	"os"

	"golang.org/x/sys/windows"
)

// Lock keeps other processes from appending to f until it is closed. On Windows, locks also
// block readers, so the locked byte is far beyond the end of any file.
func Lock(f *os.File) error {
	beyond := &windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond)
}

// Unlock releases the lock of f.
func Unlock(f *os.File) {
	beyond := &windows.Overlapped{OffsetHigh: 1 << 30}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, beyond)
}
