//go:build unix

package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// forks is true: on these systems a host can fork workers and pass descriptors.
const forks = true

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and everything that it forked.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// channel returns the two ends of a stream: ours, and the one for a process.
func channel() (ours io.ReadWriteCloser, theirs []*os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	_ = unix.SetNonblock(fds[0], true) // so the runtime waits for it without a thread
	return os.NewFile(uintptr(fds[0]), "worker"), []*os.File{os.NewFile(uintptr(fds[1]), "worker")}, nil
}

// attach gives a process its end of the channel, as descriptor 3.
func attach(cmd *exec.Cmd, theirs []*os.File) {
	cmd.Stdout, cmd.ExtraFiles = cmd.Stderr, theirs
}

// directIn and directOut are the descriptors of a directly started worker.
const directIn, directOut = 3, 3

// errorPipe returns a pipe whose ends never block: output beyond its capacity
// is lost, and the parent reads only what is available.
func errorPipe() (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	neverBlock(w)
	return r, w, nil
}

// neverBlock makes the descriptor of a pipe nonblocking.
func neverBlock(f *os.File) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetNonblock(int(fd), true) })
	}
}

// waiting returns at most n bytes that are in a pipe.
func waiting(r *os.File, n int) []byte {
	raw, err := r.SyscallConn()
	if err != nil {
		return nil
	}
	buf, got := make([]byte, n), 0
	_ = raw.Control(func(fd uintptr) {
		for got < n {
			k, err := unix.Read(int(fd), buf[got:])
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || k <= 0 {
				return
			}
			got += k
		}
	})
	return buf[:got]
}

// sendFiles writes data with descriptors attached to its first byte.
func sendFiles(to io.Writer, data []byte, files ...*os.File) error {
	var fds []int
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err != nil {
			return err
		}
		if err := raw.Control(func(fd uintptr) { fds = append(fds, int(fd)) }); err != nil {
			return err
		}
	}
	raw, err := to.(*os.File).SyscallConn()
	if err != nil {
		return err
	}
	rights, sent := unix.UnixRights(fds...), 0
	var sendErr error
	err = raw.Write(func(fd uintptr) bool {
		sent, sendErr = unix.SendmsgN(int(fd), data, rights, nil, 0)
		return sendErr != unix.EAGAIN
	})
	if err = errors.Join(err, sendErr); err != nil {
		return err
	}
	if sent < len(data) {
		_, err = to.Write(data[sent:])
	}
	return err
}

// describe describes how a worker ended, from its wait status.
func describe(status int) string {
	ws := syscall.WaitStatus(status)
	switch {
	case ws.Signaled():
		return "was killed by " + unix.SignalName(ws.Signal())
	case ws.ExitStatus() == 0:
		return "ended without a reply"
	}
	return "ended with status " + strconv.Itoa(ws.ExitStatus())
}

// waitStatus returns how a child process ended.
func waitStatus(cmd *exec.Cmd) int {
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		return int(ws)
	}
	return -1
}
