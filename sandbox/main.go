package sandbox

import (
	"fmt"
	"os"
	"sync/atomic"
)

// confineArgument starts this program as the process that enters the sandbox
// and executes an interpreter.
const confineArgument = "__sandbox-exec"

// engineArgument starts this program as a worker that runs JavaScript itself.
const engineArgument = "__sandbox-engine"

// mainCalled is set if the running program can start workers from its own
// binary. It is written once, by Main.
var mainCalled atomic.Bool

// Main becomes a worker, and does not return, if this process was started as one.
// Otherwise it returns at once. It must be the first call of main, and of TestMain
// in tests that run code.
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
