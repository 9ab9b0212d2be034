package sandbox

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/proviso-eval/proviso"
)

// Report is the result of [Probe].
type Report struct {
	System       string // such as linux/amd64
	Kernel       Kernel
	Missing      string // why there is no sandbox here, "" if there is one
	Interpreters []Interpreter
}

// Interpreter describes the interpreter of a language on a machine.
type Interpreter struct {
	Language   string
	Program    string // name of the program
	Path       string // "" if there is none
	Version    string
	Problem    string // why code of the language does not run, or runs without a sandbox; "" if it runs inside
	Sandbox    bool   // the interpreter was started in the sandbox and passed the self-test
	Leaks      bool   // the interpreter failed the self-test: something was not blocked
	Namespaces bool   // in new namespaces
}

// Probe finds out what this machine supports for the code of a suite: it looks for the
// interpreters, starts each in the sandbox and tests the sandbox from inside, like the first
// call of a run. It takes a fraction of a second, because interpreters are started
// concurrently.
func Probe(ctx context.Context, o Options) Report {
	o.Policy, o.Warn = Require, nil
	s := New(o)
	defer func() { _ = s.Close() }()
	r := Report{System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: s.kernel(), Missing: s.unconfinable()}
	r.Interpreters = make([]Interpreter, len(s.languages))
	var all sync.WaitGroup
	for n, l := range s.languages {
		all.Go(func() { r.Interpreters[n] = s.probe(ctx, l, r.Missing) })
	}
	all.Wait()
	for _, i := range r.Interpreters {
		r.Kernel.Namespaces = r.Kernel.Namespaces || i.Namespaces
	}
	return r
}

// probe starts one interpreter.
func (s *Sandbox) probe(ctx context.Context, l *language, missing string) Interpreter {
	i := Interpreter{Language: l.source, Program: l.program, Problem: missing}
	in, err := s.interpreter(ctx, l, false)
	if err != nil {
		i.Problem = message(err)
		return i
	}
	i.Path, i.Version = in.path, in.version
	if l.names == nil {
		i.Path = resolved(s.exe())
	}
	if missing != "" {
		return i
	}
	h, err := s.host(ctx, s.profileFor(l.name, proviso.Deciding))
	if err != nil {
		i.Problem, i.Leaks = message(err), errors.Is(err, errLeaks)
		return i
	}
	i.Sandbox, i.Namespaces = true, h.namespaces
	return i
}

// message returns the message of an error of this package.
func message(err error) string {
	var e *proviso.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
