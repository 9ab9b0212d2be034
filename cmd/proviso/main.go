// Command proviso tells whether the output of a language model keeps the promises of its prompt.
// Each command has its own file; commands.go lists them. Package engine assembles what they need;
// wiring.go and engine.go turn flags into its options.
package main

import (
	"io"
	"log"
	"os"

	"github.com/proviso-eval/proviso/sandbox"
)

func main() {
	sandbox.Main()            // does not return in a worker process
	log.SetOutput(io.Discard) // net/http would log bytes from other servers
	os.Exit(execute(os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
