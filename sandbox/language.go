package sandbox

import (
	"context"
	_ "embed" // for the workers
	"slices"

	"github.com/proviso-eval/proviso"
)

var (
	//go:embed worker.py
	pythonWorker string
	//go:embed worker.js
	nodeWorker string
	//go:embed worker.rb
	rubyWorker string
)

// language is a way to run a language: JavaScript has two. Its worker implements the protocol
// of frame.go.
type language struct {
	name     string   // name of the row
	source   string   // language name in [proviso.Source]
	program  string   // name of the interpreter in messages
	variable string   // environment variable that names the interpreter
	names    []string // names of the interpreter in PATH; the first that works is used
	oldest   string   // oldest supported version
	install  string   // advice if there is no interpreter
	suffixes []string // suffixes of files that a source can import without naming the suffix

	// searches means that modules are also searched in the granted folders, after all others.
	searches bool

	worker string // source text of the worker
	forks  bool   // a host forks workers; otherwise each worker is its own interpreter
	weight int    // memory weight of a worker, where a forked Python worker is 1
	calls  int    // calls after which a worker is replaced; more where starting one takes longer

	interrupts bool   // the worker itself interrupts a late call; otherwise it is killed
	loads      bool   // a source is checked by loading it
	exhausted  string // what the interpreter prints when it dies from lack of memory

	// takes reports whether this row runs a source; nil means all sources of the language.
	takes func(src proviso.Source) bool
	// refuse returns what the interpreter lacks for a source; nil means no check.
	refuse func(in *interpreter, src proviso.Source) error
	// inline makes a file of inline code, and returns the number of characters before the code;
	// nil means that the worker runs inline code.
	inline func(src proviso.Source) (proviso.Source, int)
	// ask queries an interpreter for its version and paths, outside the sandbox.
	ask func(ctx context.Context, s *Sandbox, path string, packages bool) (*interpreter, error)
	// argv returns the command line of the worker; config is JSON for it.
	argv func(in *interpreter, p profile, worker, config string) []string
	// loop reports whether coroutines of a source need an event loop.
	loop func(src proviso.Source, p profile) bool
	// imports names the modules that a host imports before it forks a worker for a
	// source, separated by spaces.
	imports func(src proviso.Source, p profile) string

	undefined      bool     // it distinguishes undefined from null
	data           bool     // the memory limit counts writable memory, since it reserves far more address space
	memory         uint64   // bytes of address space, or of writable memory
	memoryPackages uint64   // the same, with the packages of the interpreter
	extra          []string // files and folders that it reads, in addition to the common ones
	syscalls       []uint32 // system calls in addition to the common ones
}

// languages is the table of languages that the sandbox runs.
func languages() []*language {
	return []*language{
		{
			name: "python", source: "python", program: "Python", variable: "PROMPTFOO_PYTHON", names: []string{"python3", "python"}, oldest: "3.8",
			install:  "install Python 3.8 or later, or name one in PROMPTFOO_PYTHON",
			suffixes: []string{".py"}, searches: true,
			worker: pythonWorker, forks: true, weight: 1, calls: 1000, interrupts: true,
			ask: askPython, argv: pythonArgv, loop: pythonLoop, imports: pythonImports,
			memory: 512 << 20, memoryPackages: 4 << 30,
		},
		{
			name: "node", source: "javascript", takes: NeedsNode, program: "Node", names: []string{"node", "nodejs"}, oldest: "20.12",
			install: "install Node 20.12 or later", exhausted: "out of memory",
			suffixes: []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json"},
			worker:   nodeWorker, weight: 16, calls: 20000,
			ask: askNode, argv: nodeArgv, refuse: refuseNode, inline: asFile,
			undefined: true, data: true, memory: 768 << 20, memoryPackages: 4 << 30,
		},
		{
			name: "javascript", source: "javascript", program: "QuickJS", weight: 8, calls: 20000, interrupts: true, loads: true,
			ask: askEngine, argv: engineArgv,
			undefined: true, data: true, memory: 2 << 30, memoryPackages: 2 << 30, // its engine has its own limit, engineMemory
		},
		{
			name: "ruby", source: "ruby", program: "Ruby", variable: "PROMPTFOO_RUBY", names: []string{"ruby"}, oldest: "3.0",
			install:  "install Ruby 3.0 or later, or name one in PROMPTFOO_RUBY",
			suffixes: []string{".rb"},
			worker:   rubyWorker, weight: 8, calls: 20000,
			ask: askRuby, argv: rubyArgv,
			data: true, memory: 512 << 20, memoryPackages: 4 << 30, syscalls: rubyCalls,
		},
	}
}

// language returns the row that runs a source.
func (s *Sandbox) language(src proviso.Source) (*language, error) {
	var known []string
	for _, l := range s.languages {
		if l.source == src.Language && (l.takes == nil || l.takes(src)) {
			return l, nil
		}
		if !slices.Contains(known, l.source) {
			known = append(known, l.source)
		}
	}
	return nil, &proviso.Error{Code: proviso.Unavailable, Message: src.Language + " cannot be run in the sandbox", Valid: known}
}

// row returns the row with a name, which must exist.
func (s *Sandbox) row(name string) *language {
	i := slices.IndexFunc(s.languages, func(l *language) bool { return l.name == name })
	return s.languages[i]
}
