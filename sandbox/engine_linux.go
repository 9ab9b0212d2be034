//go:build linux && (amd64 || arm64)

package sandbox

import (
	"golang.org/x/sys/unix"

	"github.com/proviso-eval/proviso/value"
)

// probeEngine tries operations that the sandbox must block, and returns those that were not
// blocked. Executing a program was tested before this program was started.
func probeEngine(request *value.Object) []string {
	through := []string{}
	try := func(name string, attempt func() error) {
		if attempt() == nil {
			through = append(through, name)
		}
	}
	open := func(path string, flags int) func() error {
		return func() error {
			fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		}
	}
	socket := func(family, kind int) func() error {
		return func() error {
			fd, err := unix.Socket(family, kind, 0)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		}
	}
	try("read", open(request.Text("file"), unix.O_RDONLY))
	try("parent", open(request.Text("parent"), unix.O_RDONLY))
	for _, path := range texts(request, "write") {
		try("write", open(path, unix.O_WRONLY|unix.O_CREAT))
		_ = unix.Unlink(path)
	}
	if network, _ := request.At("network").(bool); !network {
		try("socket", socket(unix.AF_INET, unix.SOCK_STREAM))
		try("socket", socket(unix.AF_INET, unix.SOCK_DGRAM))
	}
	try("socket", socket(unix.AF_UNIX, unix.SOCK_DGRAM))
	try("fork", fork)
	return through
}

// fork starts a process that ends at once.
func fork() error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return nil
}

// resident returns the peak memory of this process, in bytes.
func resident() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Maxrss << 10
}

// rubyCalls are system calls that only Ruby needs: for the clock of its
// threads.
var rubyCalls = []uint32{unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_GETOVERRUN, unix.SYS_TIMER_DELETE}
