package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
)

// launch holds the parameters for starting an interpreter.
type launch struct {
	exe        string // the binary that enters the sandbox
	path       string // the interpreter
	argv, env  []string
	dir        string // working folder outside of the sandbox
	read, exec []string
	sandbox    bool
	namespaces bool // try new namespaces
	network    bool
	memory     uint64
	data       bool // memory limits private writable memory, not the address space
	single     bool // one filter for everything, since the program cannot add a second one
	files      uint64
	syscalls   []uint32 // system calls in addition to those of every language
	leaky      bool     // the filters block nothing; for tests
	dies       bool     // killed with its parent by a signal: it does not read its channel while it runs code

	parentEnd io.ReadWriteCloser // of the channel
	childEnds []*os.File
	stderr    *os.File
}

// command prepares a process with its channel. Its standard error is our own file: waiting for
// the process must not wait for a pipe that another process holds open.
func (l launch) command(path string, argv, env []string) *exec.Cmd {
	if env == nil {
		env = []string{}
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Env: env, Stderr: l.stderr}
	attach(cmd, l.childEnds)
	return cmd
}

// Kernel lists the features of the kernel for a sandbox.
type Kernel struct {
	Release    string
	Landlock   int // version of its interface, 0 if there is none
	Seccomp    bool
	Namespaces bool // available to unprivileged processes
}

// Sandbox reports whether the kernel can confine code.
func (k Kernel) Sandbox() bool { return k.Landlock > 0 && k.Seccomp }

// confineArgument starts this program as the process that enters the sandbox
// and executes an interpreter.
const confineArgument = "__sandbox-exec"

// engineArgument starts this program as a worker that runs JavaScript itself.
const engineArgument = "__sandbox-engine"

// mainCalled is true if the running program can start workers from its own binary. Only Main
// sets it.
var mainCalled atomic.Bool

// Main becomes a worker, and does not return, if this process was started as one. Otherwise it
// returns at once. It must be the first call of main, and of TestMain in tests that run code.
func Main() {
	mainCalled.Store(true)
	if len(os.Args) == 2 && os.Args[1] == confineArgument {
		fmt.Fprintln(os.Stderr, "sandbox:", confine())
		os.Exit(3)
	}
	if len(os.Args) == 3 && os.Args[1] == engineArgument {
		serveEngine(os.Args[2])
	}
}
