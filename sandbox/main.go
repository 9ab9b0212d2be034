package sandbox

import (
	"fmt"
	"os"
	"sync/atomic"
)

// confineArgument starts this program as the process that locks itself into the
// sandbox and becomes an interpreter.
const confineArgument = "__sandbox-exec"

// mainCalled tells [New] that the running program can start workers from its own
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
}
