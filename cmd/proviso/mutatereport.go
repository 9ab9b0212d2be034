package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/mutate/show"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/spade/trial"
)

// writeRunReports writes the reports of the run whose outputs were broken, with the section
// about what its assertions would miss.
func (a *app) writeRunReports(ctx context.Context, f *mutateFlags, r *score.Report) error {
	if len(f.reports) == 0 {
		return nil
	}
	kept, err := a.openRun(ctx, f.trials.dir, f.trials.run)
	if err != nil {
		return err
	}
	defer kept.Close()
	meta, sum, err := kept.report()
	if err != nil {
		return err
	}
	meta.Types = check.Facts()
	meta.Trust = a.trustOf(alignmentFolder(meta.Folder))
	if meta.Missed, err = show.Section(r); err != nil {
		return err
	}
	for _, o := range f.reports {
		err = errors.Join(err, o.write(ctx, meta, sum, kept.Reader))
	}
	return coded(err)
}

// registerMutate adds the flag that breaks the outputs of a run.
func (f *evalFlags) registerMutate(fs *pflag.FlagSet) {
	fs.BoolVar(&f.mutate, "mutate", false, "then break the outputs on purpose, and show in the reports what the assertions would miss; asks no model")
}

// mutateRun breaks the outputs of a run, and adds to its reports what its assertions would
// miss. Assertions that ask a model are not run.
func (a *app) mutateRun(ctx context.Context, f *evalFlags, s *loaded, plan *run.Plan, out *run.Outcome) error {
	if !f.mutate || out.Interrupted {
		return nil
	}
	cases, err := newSuiteCases(plan)
	if err != nil {
		return err
	}
	r, err := score.Run(ctx, func(yield func(score.Output, error) bool) { cases.outputs(trial.OfRun(out.Rows), yield) }, score.Options{
		Rules: f.asked.Compiler(textOnly), Try: s.tries(f.concurrency),
	})
	switch {
	case ctx.Err() != nil:
		return a.interrupted(ctx, "the run is kept; what its assertions would miss is not known")
	case err != nil:
		return a.mistaken(err, nothingRun)
	}
	out.Meta.Missed, err = show.Section(r)
	return err
}
