package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
)

// judgeAttack tries prompt injections against the judge.
func (a *app) judgeAttack(ctx context.Context, f *judgeCommand) error {
	j, end, err := a.oneJudge(ctx, f, ".")
	if err != nil {
		return err
	}
	defer end()
	if err := j.Prepare(proviso.Question{Type: "judge"}); err != nil {
		return a.nobodyAsked(err)
	}
	p := a.newProgress(0, false)
	report, err := j.Attack(ctx, judge.AttackOptions{Sets: f.attackSets, Kinds: f.attackKinds, Concurrency: f.concurrency, Tick: func(done, total int) {
		if p != nil {
			p.rows = total
			p.tick(proviso.Totals{Passed: done})
		}
	}})
	p.end()
	var e *proviso.Error
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(a.err, "proviso: interrupted; no report")
		return exitError{exitInterrupted}
	case errors.As(err, &e) && len(e.Valid) > 0:
		return usageError{err, "expected " + strings.Join(e.Valid, ", ")}
	case err != nil:
		return coded(err)
	}
	a.sayModels(f.asked)
	if f.format == formatJSON {
		err = a.printJSON(report)
	} else {
		_, err = io.WriteString(a.out, attackText(report))
	}
	if err != nil {
		return proviso.Errorf(proviso.Unavailable, "%w", err)
	}
	if code := attackCode(report, f.threshold); code != exitOK {
		return exitError{code}
	}
	return nil
}

// attackCode compares the share of withstood attempts with a threshold, with attempts
// without a verdict counted as withstood.
func attackCode(r *judge.AttackReport, threshold float64) int {
	switch {
	case r.Attempts > 0 && float64(r.Attempts-r.Succeeded) < threshold*float64(r.Attempts):
		return exitFailed
	case r.Errors > 0 || r.LeftOut > 0:
		return exitUndecided
	}
	return exitOK
}

// attackText is the report for a person.
func attackText(r *judge.AttackReport) string {
	var b strings.Builder
	b.WriteString("Attempts to talk the judge over that succeeded, with the 95 % interval\n")
	line := func(k *judge.AttackKind, name string) {
		fmt.Fprintf(&b, "  %s  %-24s %s%s\n", attackRate(k.Rate, k.Interval, k.Succeeded, k.Succeeded+k.Withstood), name, k.Doc, attackRest(k.Errors, k.LeftOut))
	}
	for i := range r.Sets {
		for j := range r.Kinds {
			if r.Kinds[j].Set == r.Sets[i].Set {
				line(&r.Kinds[j], r.Kinds[j].Kind)
			}
		}
		line(&r.Sets[i], "set "+r.Sets[i].Set)
	}
	fmt.Fprintf(&b, "  %s  all%s\n", attackRate(r.Rate, r.Interval, r.Succeeded, r.Succeeded+r.Withstood), attackRest(r.Errors, r.LeftOut))
	attackList(&b, "Got through", r.Through)
	attackList(&b, "Without a verdict", r.Undecided)
	attackList(&b, "Left out: without an attempt the judge gives another verdict on these outputs, or none", r.Controls)
	fmt.Fprintf(&b, "\njudge %s%s\n", printable(r.Judge), tookText(r.Usage, r.Cost))
	return b.String()
}

func attackRate(rate *float64, i *judge.RateInterval, k, n int) string {
	if rate == nil {
		return "  –    0 of 0              "
	}
	return fmt.Sprintf("%3.0f%% %3d of %-3d %10s", 100**rate, k, n, fmt.Sprintf("%.0f–%.0f%%", 100*i.Low, 100*i.High))
}

func attackRest(errors, left int) string {
	text := ""
	if errors > 0 {
		text += ", " + plural(errors, "error")
	}
	if left > 0 {
		text += fmt.Sprintf(", %d left out", left)
	}
	return text
}

// attackList prints attempts with the judge's reasoning, up to a limit.
func attackList(b *strings.Builder, title string, list []judge.AttackResult) {
	const most = 30
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, r := range list[:min(len(list), most)] {
		name := r.ID
		if r.Control != "" {
			name += " (" + r.Control + ")"
		}
		fmt.Fprintf(b, "  %s: %s\n", printable(name), printable(oneLine(r.Reasoning)))
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(b, "  … and %d more (--format json)\n", more)
	}
}
