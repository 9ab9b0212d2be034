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

// OpenFile reads the suite of a file, or of a folder that has one, and opens an engine
// for it: see [Open]. The error is a proviso.Mistakes, all at once and with places, if
// the suite has mistakes. Warnings come with the mistakes of [Engine.Plan].
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

// Run plans and runs the suite: see [Engine.Plan] and [run.Plan.Run]. The error is a
// proviso.Mistakes if the suite has mistakes, in which case nothing ran. Rows that fail
// or that could not be decided are no error. The caller must close the outcome.
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
