package server

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/store"
)

// Runner reads suites that nobody vouches for, and runs them. It is safe for
// concurrent use. [Suites] is one.
type Runner interface {
	// Check reads a suite and makes a plan of it, which asks nobody. With mistakes
	// that are no warnings the plan is nil.
	Check(ctx context.Context, b *Bundle, o RunOptions) (*Plan, proviso.Mistakes)
	// Run executes a suite. It returns once every row was given to Keep, with an
	// error if one could not be, or when ctx ends. A mistake of the suite is a
	// [store.Permanent] error.
	Run(ctx context.Context, e Execution) error
}

// Plan is what is known of a suite before it runs.
type Plan struct {
	SuiteID    string // its id, "" if it has none
	AgentID    string // its id, or else the name of its only provider, "" if it has several
	Name       string // its description, "" if it has none
	PromptHash string // of all prompts, in order
	Hash       string // of what is run
	Rows       int    // prompts × providers × cases
	Providers  []string
	Judges     []string // identities, as far as they are known
	Warnings   proviso.Mistakes
}

// Execution is what to run, and what becomes of its rows.
type Execution struct {
	Bundle  *Bundle
	RunID   string
	Options RunOptions
	// Spans are those that came with the key of the run; nil follows no traces.
	Spans *otlp.Store
	// Planned is called once the plan is made. An error ends the run.
	Planned func(*Plan) error
	// Earlier gives take the rows that an earlier attempt finished, which are not
	// done again.
	Earlier func(take func(index int, row []byte) error) error
	// Keep keeps a finished row, from several goroutines at once. What it is given
	// is valid until it returns.
	Keep func(ctx context.Context, r store.Result) error
}

// RunOptions are what a client says about a run.
type RunOptions struct {
	Concurrency int `json:"concurrency,omitempty" doc:"Rows at a time, at most 32; the suite's own number if it is missing"`
	Repeat      int `json:"repeat,omitempty" doc:"How often every case is run"`
}

// check refuses numbers that are none of a run.
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
