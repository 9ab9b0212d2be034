package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// forks is false: on this system each worker is its own interpreter.
const forks = false

func ownGroup() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() }

// pipes is a stream made of two pipes.
type pipes struct{ in, out *os.File }

func (p pipes) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.out.Close(), p.in.Close()) }

// channel returns the two ends of a stream: ours, and the one for a process.
func channel() (ours io.ReadWriteCloser, theirs []*os.File, err error) {
	in, theirOut, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	theirIn, out, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		_ = theirOut.Close()
		return nil, nil, err
	}
	return pipes{in, out}, []*os.File{theirIn, theirOut}, nil
}

// attach gives a process its end of the channel, as standard input and output.
func attach(cmd *exec.Cmd, theirs []*os.File) {
	cmd.Stdin, cmd.Stdout = theirs[0], theirs[1]
}

// directIn and directOut are the descriptors of a directly started worker.
const directIn, directOut = 0, 1

func errorPipe() (r, w *os.File, err error) { return os.Pipe() }

func neverBlock(*os.File) {}

// waiting returns nothing, because a read would block.
func waiting(*os.File, int) []byte { return nil }

func sendFiles(io.Writer, []byte, ...*os.File) error { return errors.ErrUnsupported }

func describe(status int) string { return "ended with status " + strconv.Itoa(status) }

// waitStatus returns how a child process ended.
func waitStatus(cmd *exec.Cmd) int { return cmd.ProcessState.ExitCode() }
