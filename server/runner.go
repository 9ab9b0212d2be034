package server

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/store"
)

// Runner reads and runs untrusted suites. It is safe for concurrent use.
// [Suites] implements it.
type Runner interface {
	// Check reads a suite and makes a plan of it, without calls to models. If
	// there are mistakes other than warnings, the plan is nil.
	Check(ctx context.Context, b *Bundle, o RunOptions) (*Plan, proviso.Mistakes)
	// Run executes a suite. It returns once every row was passed to Keep, with
	// an error if Keep failed, or when ctx ends. A mistake of the suite is a
	// [store.Permanent] error, and what this process lacks one of [store.Unable].
	Run(ctx context.Context, e Execution) error
}

// Plan is what is known about a suite before it runs.
type Plan struct {
	SuiteID    string // its id, "" if it has none
	AgentID    string // its id, or else the name of its only provider, "" if it has several
	Name       string // its description, "" if it has none
	PromptHash string // of all prompts, in order
	Hash       string // of what is run
	Rows       int    // prompts × providers × cases
	Division   store.Division
	Providers  []string
	Prompts    []proviso.Prompt // without those that code writes
	Datasets   []proviso.Dataset
	Judges     []string // identities of the judges, as far as they are known
	Needs      []string // as of [store.NewRun]
	Warnings   proviso.Mistakes
}

// Execution is a run to execute, and its callbacks.
type Execution struct {
	Bundle  *Bundle
	RunID   string
	Options RunOptions
	Version string // of proviso that accepted the run; "" if it is not known
	// Spans are the spans received with the key of the run; nil if traces are
	// not followed.
	Spans *otlp.Store
	// Planned is called once the plan is made. An error ends the run.
	Planned func(*Plan) error
	// Earlier passes the rows that an earlier attempt finished to take. They are
	// not run again.
	Earlier func(take func(index int, row []byte) error) error
	// Take takes the next part of the rows for this process, as [store.Job.Take]; nil if
	// it runs all of them. Of a part that was begun before, Finished passes the finished
	// rows to take.
	Take     func(ctx context.Context, from int) (store.Part, bool, error)
	Finished func(p store.Part, take func(index int, row []byte) error) error
	// Drain, once closed, ends the run gently, as [store.Job.Drain].
	Drain <-chan struct{}
	// Keep stores a finished row. It is called from several goroutines at once.
	// The row is valid until it returns.
	Keep func(ctx context.Context, r store.Result) error
}

// RunOptions are the options of a client for a run.
type RunOptions struct {
	Concurrency int `json:"concurrency,omitempty" doc:"Rows at a time, at most 32; the suite's own number if it is missing"`
	Repeat      int `json:"repeat,omitempty" doc:"How often every case is run"`
}

// check rejects invalid numbers.
func (o RunOptions) check() error {
	var list []Mistake
	for name, n := range map[string]int{"concurrency": o.Concurrency, "repeat": o.Repeat} {
		if n < 0 {
			list = append(list, Mistake{Pointer: "/" + name, Code: proviso.Invalid, Message: name + " has to be a number from 1"})
		}
	}
	if len(list) > 0 {
		return invalid(list)
	}
	return nil
}
