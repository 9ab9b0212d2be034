package runfile

import (
	"os"
	"time"
)

// lockWait bounds how long a writer waits for the lock of its file. A process that lists runs
// takes the lock for a moment ([Busy]); a process that writes keeps it for longer than this.
const lockWait = 50 * time.Millisecond

// lockSoon locks f as [Lock] does, and tries again while another process only looks at f.
func lockSoon(f *os.File) error {
	for waited := time.Duration(0); ; waited += lockWait / 10 {
		if err := Lock(f); err == nil || waited >= lockWait {
			return err
		}
		time.Sleep(lockWait / 10)
	}
}

// lockedFile is a file whose lock this process holds.
type lockedFile struct{ *os.File }

// Close releases the lock and closes the file.
func (f lockedFile) Close() error {
	Unlock(f.File)
	return f.File.Close()
}
