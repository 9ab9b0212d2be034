// Package align measures how well the verdicts of a judge agree with those of people: it
// reads labels, compares them with the record of a run, and keeps the result for reports.
// Start at [ReadLabels] and [Compare].
package align

import (
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/record"
)

// Compare compares labels with the verdicts of judges. A label without a judge's verdict
// in the file uses the run's verdict on its assertion, in the row of its case; run may be
// nil. If labels do not match the run, the error is [proviso.Mistakes] with all of them.
// Assertions are in the order of their first label.
func Compare(labels *Labels, run record.Run) (*Agreements, error) {
	m := newMatcher(labels)
	if run != nil {
		for i := range labels.Rows {
			if l := &labels.Rows[i]; l.fromPeople {
				l.Judged, l.JudgeID = false, "" // the run takes precedence
			}
		}
		if err := m.read(run); err != nil {
			return nil, err
		}
	}
	if run == nil && !slices.ContainsFunc(labels.Rows, func(l Label) bool { return l.Judged }) {
		m.mistake(position{line: 1}, "no label has a verdict of a judge; add a column judge, or name the run that has the verdicts with --run")
		return nil, m.mistakes
	}
	a := aligner{matcher: m, withRun: run != nil, tallies: map[group]*tally{}, used: map[labelled]int{}}
	for i := range labels.Rows {
		a.add(i)
	}
	if len(m.mistakes) > 0 {
		return nil, m.mistakes
	}
	if len(a.order) == 0 {
		return nil, a.nothing()
	}
	out := &Agreements{Unlabelled: a.unlabelled, Stale: a.stale, Skipped: a.skipped}
	for _, g := range a.order {
		out.Assertions = append(out.Assertions, a.tallies[g].agreement(g, m.groups[g]))
	}
	return out, nil
}

// aligner sorts labels into groups.
type aligner struct {
	*matcher
	withRun                    bool
	tallies                    map[group]*tally
	used                       map[labelled]int // line of the label for each verdict
	order                      []group
	unlabelled, stale, skipped int
}

// labelled identifies a verdict of a run that has a label.
type labelled struct {
	row       int
	assertion string
}

func (a *aligner) add(i int) {
	l := &a.labels.Rows[i]
	switch {
	case l.fromPeople && a.withRun && len(a.candidates[i]) == 0:
		a.stale++ // the label belongs to another run
		return
	case l.fromPeople && !a.withRun && !l.Judged:
		a.unlabelled++
		return
	case !l.Labelled && !l.Judged:
		a.unlabelled++
		return
	case !a.withRun && !l.Judged:
		a.mistake(l.at[colJudge], "no verdict of a judge for this label; fill in the column judge, or name the run that has it with --run")
		return
	}
	if !a.withRun {
		a.take(l, group{l.Assertion, l.JudgeID}, l.Judge, Disagreement{Row: l.Row})
		return
	}
	c, what := a.find(i, a.used)
	switch what {
	case foundStale:
		a.stale++
	case foundNothing:
		t := a.take(l, group{l.Assertion, l.JudgeID}, l.Judge, Disagreement{Row: l.Row})
		t.outside = t.outside || l.Labelled
	case foundVerdict:
		line, twice := a.used[labelled{c.row, l.Assertion}]
		switch {
		case twice && l.fromPeople:
			return // the label belongs to another run with the same output
		case twice:
			a.mistake(l.at[colCase], "a second label for row %d of the run and assertion %q; the first is on line %d", c.row, clipped(l.Assertion), line)
			return
		}
		a.used[labelled{c.row, l.Assertion}] = l.at[colCase].line
		d := Disagreement{Row: c.row, Reason: c.reason, Evidence: c.quotes}
		a.take(l, group{l.Assertion, c.judge}, c.status, d)
	}
}

// take counts one verdict, and its label if there is one.
func (a *aligner) take(l *Label, g group, verdict proviso.Status, d Disagreement) *tally {
	t := a.tallies[g]
	if t == nil {
		t = &tally{}
		a.tallies[g] = t
	}
	if l.Labelled && !t.listed && verdict != proviso.Skip {
		t.listed = true
		a.order = append(a.order, g)
	}
	switch {
	case verdict == proviso.Skip:
		a.skipped++
	case !l.Labelled:
		a.unlabelled++
		if verdict == proviso.Pass {
			t.unlabelled.Pass++
		}
		if verdict != proviso.Errored {
			t.unlabelled.N++
		}
	case verdict == proviso.Errored:
		t.errors++
	default:
		t.count(l.Human, verdict, l.Weight)
	}
	if l.Labelled && verdict != l.Human && (verdict == proviso.Pass || verdict == proviso.Fail) {
		d.Case, d.Human, d.Judge, d.Note = l.Case, l.Human, verdict, l.Note
		t.differ = append(t.differ, d)
	}
	return t
}

// nothing records why no label could be used.
func (a *aligner) nothing() error {
	first := a.labels.Rows[0]
	switch {
	case a.stale > 0:
		a.mistake(position{line: first.at[colCase].line}, "all %d labels are for outputs that this run does not have; align them with the run that was labelled, or label this one", a.stale)
	default:
		a.mistake(first.at[colCase], "no label could be compared with a verdict of a judge")
	}
	return a.mistakes
}
