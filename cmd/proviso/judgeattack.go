package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/attack"
)

// judgeAttack tries prompt injections against the judge.
func (a *app) judgeAttack(ctx context.Context, f *judgeCommand) error {
	var end closers
	defer end.close()
	j, err := a.oneJudge(ctx, &end, f, ".")
	if err != nil {
		return err
	}
	if err := j.Prepare(proviso.Question{Type: proviso.TypeJudge}); err != nil {
		return a.noModelAsked(err)
	}
	p := a.newProgress(0, false)
	report, err := attack.Run(ctx, j, attack.Options{Sets: f.attackSets, Kinds: f.attackKinds, Concurrency: f.concurrency, Tick: func(done, total int) {
		if p != nil {
			p.rows = total
			p.tick(proviso.Totals{Passed: done})
		}
	}})
	p.end()
	var e *proviso.Error
	switch {
	case ctx.Err() != nil:
		return a.interrupted(ctx, "no report")
	case errors.As(err, &e) && len(e.Valid) > 0:
		return usageError{err, "expected " + strings.Join(e.Valid, ", ")}
	case err != nil:
		return coded(err)
	}
	a.sayModels(f.asked)
	if f.format == formatJSON {
		err = a.printJSON(report)
	} else {
		_, err = io.WriteString(a.out, report.Text())
	}
	if err != nil {
		return coded(err)
	}
	return exitWith(attackCode(report, f.threshold))
}

// attackCode compares the share of withstood attempts with a threshold, with attempts
// without a verdict counted as withstood.
func attackCode(r *attack.Report, threshold float64) int {
	switch {
	case r.Attempts > 0 && float64(r.Attempts-r.Succeeded) < threshold*float64(r.Attempts):
		return exitFailed
	case r.Errors > 0 || r.LeftOut > 0:
		return exitUndecided
	}
	return exitOK
}
