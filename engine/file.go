package engine

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// OpenFile reads a suite from a file, or from a folder that contains one, and opens an engine
// for it: see [Open]. If the suite has mistakes, the error is a proviso.Mistakes with all of
// them and their positions. Warnings come with the mistakes of [Engine.Plan].
func OpenFile(ctx context.Context, name string, o Options) (*Engine, error) {
	if o.Engines.Env == nil {
		o.Engines.Env = proviso.EnvMap{}
	}
	env := o.Engines.Env
	s, mistakes := suite.Read(ctx, []string{name}, suite.Options{
		Env: env, Facts: Facts(), Files: o.Policy.Files(), Trust: o.Policy.Suite(env),
	})
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	e, err := Open(ctx, s, o)
	if err != nil {
		return nil, err
	}
	e.mistakes.list = slices.Concat(mistakes, e.mistakes.list)
	return e, nil
}

// Run plans and runs the suite: see [Engine.Plan] and [run.Plan.Run]. If the suite has
// mistakes, the error is a proviso.Mistakes and nothing ran. Rows that fail or are undecided
// are no error. The caller must close the outcome.
func (e *Engine) Run(ctx context.Context, t run.Task) (*run.Outcome, error) {
	p, mistakes := e.Plan(ctx, t)
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	return p.Run(ctx)
}

// Facts returns the tables of assertion types and providers, for suite.Options.
func Facts() proviso.Facts {
	return proviso.Facts{Types: check.Facts(), Providers: provider.Facts()}
}
