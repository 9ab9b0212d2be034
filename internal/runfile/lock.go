package runfile

import "os"

// Lock keeps other processes that lock f from appending to it until it is closed. The
// error is that another one has the lock. The system drops the lock of a process that dies.
func Lock(f *os.File) error { return lock(f) }
