package main

import (
	"path/filepath"
	"slices"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/stats"
)

// compareSides compares two runs. Judged assertions are corrected for the errors of their
// judge, if the alignment of the head's suite has them. flakes are what an A/A run
// measured.
func (a *app) compareSides(base, head *side, flakes []gate.Flake) (*gate.Comparison, gate.Options, error) {
	o := gate.Options{Flakes: flakes, Judges: a.judgeErrors(head.folder, base.run, head.run)}
	c, err := gate.Compare(base.run, head.run, o)
	if err != nil {
		return nil, o, err
	}
	c.Warnings = slices.Concat(runs.DifferentSuites(base.suite, head.suite), base.notes, head.notes, c.Warnings)
	if base.kept != "" && base.kept == head.kept {
		c.Warnings = append(c.Warnings, "Base and head are the same run, so that there is no difference to find.")
	}
	return c, o, nil
}

// judgeErrors returns the measured errors of the judges of some runs, by assertion. An
// assertion that has several judges or criteria in these runs is left out: its errors
// are not the same everywhere.
func (a *app) judgeErrors(folder string, list ...*gate.Run) map[string]stats.Confusion {
	kept, err := align.Load(filepath.Join(alignmentFolder(folder), align.File))
	if err != nil {
		a.warn(err.Error())
		return nil
	}
	if len(kept.Entries()) == 0 {
		return nil
	}
	type decider struct{ judge, criterion string }
	deciders, several := map[string]decider{}, map[string]bool{}
	for _, run := range list {
		for i := range run.Rows {
			for j := range run.Rows[i].Verdicts {
				v := &run.Rows[i].Verdicts[j]
				if v.Judge == "" {
					continue
				}
				by := decider{v.Judge, v.Criterion}
				if known, ok := deciders[v.Assertion]; ok && known != by {
					several[v.Assertion] = true
				}
				deciders[v.Assertion] = by
			}
		}
	}
	out := map[string]stats.Confusion{}
	for assertion, by := range deciders {
		e, ok := kept.Find(by.judge, by.criterion)
		if !ok || several[assertion] {
			continue
		}
		if labels, ok := e.IndependentLabels(); ok {
			out[assertion] = labels
		}
	}
	return out
}
