// Command proviso tells whether the output of a language model keeps the promises
// of its prompt. Each command has a file of its own; commands.go lists them, and
// wiring.go is where the parts of the house are put together.
package main

import (
	"os"

	"github.com/proviso-eval/proviso/sandbox"
)

func main() {
	sandbox.Main() // does not return if this process is to be a worker
	os.Exit(execute(os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
