package sandbox

import (
	"context"
	_ "embed" // for the workers

	"github.com/proviso-eval/proviso"
)

//go:embed worker.py
var pythonWorker string

// language is one that the sandbox runs. Its worker speaks the protocol of
// frame.go.
type language struct {
	name     string   // as [proviso.Source] has it
	program  string   // what a person calls the interpreter
	variable string   // of the environment, that names the interpreter
	names    []string // of the interpreter in PATH, the first that works
	oldest   string   // version
	install  string   // what to do if there is none

	worker string // source text of the worker
	forks  bool   // a host forks workers; otherwise each is an interpreter of its own

	// ask asks an interpreter, outside of the sandbox, where its things are.
	ask func(ctx context.Context, s *Sandbox, path string, packages bool) (*interpreter, error)
	// argv is the command line of the worker; config is JSON text for it.
	argv func(in *interpreter, p profile, worker, config string) []string
	// loop reports whether coroutines of a source need an event loop.
	loop func(src proviso.Source, p profile) bool
	// imports names the modules that a host imports before it forks a worker for a
	// source, separated by spaces.
	imports func(src proviso.Source, p profile) string

	undefined      bool     // it tells undefined from null
	memory         uint64   // bytes of address space
	memoryPackages uint64   // the same, with the packages of the interpreter
	extra          []string // files and folders that it reads, beside those of every program
	syscalls       []uint32 // beside those of every language
}

// languages is the table of what the sandbox runs.
func languages() []*language {
	return []*language{
		{
			name: "python", program: "Python", variable: "PROMPTFOO_PYTHON", names: []string{"python3", "python"}, oldest: "3.8",
			install: "install Python 3.8 or later, or name one in PROMPTFOO_PYTHON",
			worker:  pythonWorker, forks: true,
			ask: askPython, argv: pythonArgv, loop: pythonLoop, imports: pythonImports,
			memory: 512 << 20, memoryPackages: 4 << 30,
		},
	}
}

// language returns the row of a name.
func (s *Sandbox) language(name string) (*language, error) {
	var known []string
	for _, l := range s.languages {
		if l.name == name {
			return l, nil
		}
		known = append(known, l.name)
	}
	return nil, &proviso.Error{Code: proviso.Unavailable, Message: name + " cannot be run in the sandbox", Valid: known}
}
