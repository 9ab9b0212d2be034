package gate

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// ErrNothing is wrapped by the error of [Compare] if the runs have nothing in common to
// compare.
var ErrNothing = errors.New("nothing can be compared")

// Options configure [Compare].
type Options struct {
	// Judges holds the measured judge errors by assertion name. An assertion is corrected
	// if they are known and the same judge decided both runs.
	Judges map[string]stats.Confusion
	// Flakes are the results of an A/A comparison, for [Decide]; see [Flakiness].
	Flakes []Flake
}

// Compare pairs the rows of two runs and estimates how each assertion and the suite
// changed from base to head.
//
// Cases are paired within a pair of columns by id, otherwise by variables and an ordinal
// among equals. Repeats count as the mean of their case. An assertion's result in a case
// is the share of its passed verdicts. The suite's result is the mean over the assertions
// that both sides of the case have, or the score of the row if neither side has any.
// Skipped verdicts are left out. A case with an undecided verdict in any repeat is left
// out of the figures that the verdict affects. Rows and verdicts that only one side has
// are listed, and left out of the figures.
//
// Cases with the same cluster, and the same case in several columns, count as one
// independent unit. The p-values are those of [stats.SignFlip] on the units, and the
// intervals those of [stats.PairedSummary].
//
// Errors wrap [ErrNothing] if no case can be compared.
func Compare(base, head *Run, o Options) (*Comparison, error) {
	c := &Comparison{base: base, head: head}
	c.Base, c.Head = Side{base.Name, base.Identity}, Side{head.Name, head.Identity}
	pairs, err := c.pair()
	if err != nil {
		return nil, err
	}
	w := newWork(c, o)
	for _, p := range pairs {
		w.add(p)
	}
	if c.Pairs == 0 {
		return nil, c.nothing(w)
	}
	if c.Suite, err = c.suite.effect(); err != nil {
		return nil, err
	}
	c.SuiteCorrected = c.correction.effect(c.Suite)
	if err := c.effects(w, o); err != nil {
		return nil, err
	}
	c.Cases.sort()
	if err := c.spending(w); err != nil {
		return nil, err
	}
	c.warn(w)
	c.sort()
	return c, nil
}

// pair pairs columns and cases.
func (c *Comparison) pair() ([]pairRows, error) {
	for _, r := range []*Run{c.base, c.head} {
		if len(r.Rows) == 0 {
			return nil, proviso.Errorf(proviso.Invalid, "%w: %s has no rows", ErrNothing, r.Name)
		}
	}
	columns, onlyBase, onlyHead := pairColumns(c.base, c.head)
	c.OnlyBase, c.OnlyHead = onlyBase, onlyHead
	if len(columns) == 0 {
		return nil, proviso.Errorf(proviso.Invalid, "%w: %s and %s have no prompt with a provider in common; compare runs of the same suite", ErrNothing, c.base.Name, c.head.Name)
	}
	base, head := casesOf(c.base), casesOf(c.head)
	var pairs []pairRows
	common := false
	for i, x := range columns {
		c.Columns = append(c.Columns, ColumnPair{c.base.Columns[x[0]], c.head.Columns[x[1]]})
		pairs = append(pairs, pairCases(i, base[x[0]], head[x[1]])...)
	}
	for _, p := range pairs {
		common = common || p.base != nil && p.head != nil
	}
	if !common {
		return nil, proviso.Errorf(proviso.Invalid, "%w: %s and %s have no case in common; compare runs of the same suite, or give the cases ids", ErrNothing, c.base.Name, c.head.Name)
	}
	return pairs, nil
}

// nothing explains why no pair could be compared.
func (c *Comparison) nothing(w *work) error {
	for _, r := range []*Run{c.base, c.head} {
		if !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Status != proviso.Errored }) {
			return proviso.Errorf(proviso.Invalid, "%w: every row of %s has an error; see the errors and run it again", ErrNothing, r.Name)
		}
	}
	return proviso.Errorf(proviso.Invalid, "%w: none of the %d cases in both runs has a verdict on the same assertion on both sides; give assertions that changed an id", ErrNothing, w.common)
}

// work collects the data of Compare over the pairs.
type work struct {
	c          *Comparison
	names      map[string]int
	assertions []assertionWork
	judges     []judgeErrors // by assertion; the zero value corrects nothing
	base, head tallies
	clusters   clusterer
	common     int // cases in both runs

	cost, tokens, latency series // for the medians
}

// assertionWork collects the data of one assertion. The effect points into the
// comparison, whose order is fixed until all data is collected: a suite may have an
// assertion for each of its cases.
type assertionWork struct {
	*AssertionEffect
	criteria  int             // pairs whose criteria differ
	dropped   int             // pairs with a verdict in base and none in head
	baseJudge map[string]bool // nil if no judge is known
	headJudge map[string]bool
}

func newWork(c *Comparison, o Options) *work {
	w := &work{c: c, names: map[string]int{}, clusters: clusterer{map[clusterKey]int{}}}
	w.number()
	for side, r := range []*Run{c.base, c.head} {
		for i := range r.Rows {
			for j := range r.Rows[i].Verdicts {
				w.note(&r.Rows[i].Verdicts[j], side)
			}
		}
	}
	w.judges = make([]judgeErrors, len(w.assertions))
	for i := range w.assertions {
		x := w.assertions[i].AssertionEffect
		if labels, ok := o.Judges[x.Assertion]; ok && x.Judged && maps.Equal(w.assertions[i].baseJudge, w.assertions[i].headJudge) {
			w.judges[i] = newJudgeErrors(labels)
			c.correction.note(w.judges[i])
		}
	}
	seed := maphash.MakeSeed()
	w.base = tallies{seed: seed, list: make([]tally, len(w.assertions))}
	w.head = tallies{seed: seed, list: make([]tally, len(w.assertions))}
	return w
}

// number numbers the assertions in order of first occurrence.
func (w *work) number() {
	for _, r := range []*Run{w.c.base, w.c.head} {
		for i := range r.Rows {
			for j := range r.Rows[i].Verdicts {
				name := r.Rows[i].Verdicts[j].Assertion
				if _, ok := w.names[name]; !ok {
					w.names[name] = len(w.names)
				}
			}
		}
	}
	w.c.Assertions = make([]AssertionEffect, len(w.names))
	w.assertions = make([]assertionWork, len(w.names))
	for name, a := range w.names {
		w.c.Assertions[a].Assertion = name
		w.assertions[a].AssertionEffect = &w.c.Assertions[a]
	}
}

// note records the judge of a verdict.
func (w *work) note(v *Verdict, side int) {
	if v.Judge == "" {
		return
	}
	x := &w.assertions[w.names[v.Assertion]]
	x.Judged = true
	judges := &x.baseJudge
	if side == 1 {
		judges = &x.headJudge
	}
	if *judges == nil {
		*judges = map[string]bool{}
	}
	(*judges)[v.Judge] = true
}

// add adds a pair.
func (w *work) add(p pairRows) {
	w.base.reset()
	w.head.reset()
	first := &p.first().Case
	pair := CasePair{Name: first.Name, Title: first.Title, Column: p.column, Change: math.NaN()}
	if p.base != nil {
		w.base.add(p.base, w.names)
		pair.Base = indexes(p.base)
	}
	if p.head != nil {
		w.head.add(p.head, w.names)
		pair.Head = indexes(p.head)
	}
	if p.base == nil || p.head == nil {
		w.single(p, pair)
		return
	}
	w.common++
	cluster := w.clusters.of(p)
	for _, a := range w.head.touched {
		w.verdicts(a, &pair, cluster)
	}
	for _, a := range w.base.touched {
		if w.head.list[a].repeats == 0 {
			w.verdicts(a, &pair, cluster)
		}
	}
	w.suite(&pair, cluster)
	w.sort(pair)
	w.spent(p, cluster)
}

// single lists a case that is missing on one side.
func (w *work) single(p pairRows, pair CasePair) {
	if p.base != nil {
		w.c.Cases.OnlyBase = append(w.c.Cases.OnlyBase, pair)
	} else {
		w.c.Cases.OnlyHead = append(w.c.Cases.OnlyHead, pair)
	}
	for _, a := range w.base.touched {
		w.assertions[a].OnlyBase += int(w.base.list[a].decided)
	}
	for _, a := range w.head.touched {
		w.assertions[a].OnlyHead += int(w.head.list[a].decided)
	}
}

// verdicts adds one assertion of a pair.
func (w *work) verdicts(a int, pair *CasePair, cluster int) {
	x, base, head := &w.assertions[a], &w.base.list[a], &w.head.list[a]
	switch {
	case w.base.bare+w.head.bare > 0 || base.undecided+head.undecided > 0:
		x.LeftOut++
		return
	case base.none() || head.none():
		x.OnlyBase += int(base.decided)
		x.OnlyHead += int(head.decided)
		if !base.none() {
			x.dropped++
		}
		return
	}
	b, h := base.mean(), head.mean()
	x.series.add(b, h, cluster, int(base.decided), int(head.decided))
	x.Flips += b*(1-h) + h*(1-b)
	broke, fixed := changed(b, h)
	if broke {
		x.Broke++
		pair.Broke = append(pair.Broke, x.Assertion)
	}
	if fixed {
		x.Fixed++
		pair.Fixed = append(pair.Fixed, x.Assertion)
	}
	if !base.unknown && !head.unknown && base.criterion != head.criterion {
		x.criteria++
	}
}

// suite adds a case's result to the suite.
func (w *work) suite(pair *CasePair, cluster int) {
	base, head, n := 0.0, 0.0, 0.0
	baseCorrected, headCorrected := 0.0, 0.0
	baseTrials, headTrials := 0, 0
	undecided := w.base.status.undecided+w.head.status.undecided > 0
	for _, a := range w.base.touched {
		undecided = undecided || w.base.list[a].undecided > 0
	}
	for _, a := range w.head.touched {
		b, h := &w.base.list[a], &w.head.list[a]
		undecided = undecided || h.undecided > 0
		if b.known() && h.known() {
			base, head, n = base+b.mean(), head+h.mean(), n+1
			baseTrials, headTrials = baseTrials+int(b.decided), headTrials+int(h.decided)
			baseCorrected += w.judges[a].correct(b.mean())
			headCorrected += w.judges[a].correct(h.mean())
		}
	}
	if len(w.base.touched)+len(w.head.touched) == 0 && w.base.scored == int(w.base.status.decided) && w.head.scored == int(w.head.status.decided) && w.base.scored*w.head.scored > 0 {
		n, baseTrials, headTrials = 1, w.base.scored, w.head.scored
		base, head = w.base.score/float64(baseTrials), w.head.score/float64(headTrials)
		baseCorrected, headCorrected = base, head
	}
	switch {
	case undecided || n == 0 && !w.skipped():
		w.c.LeftOut++
	case n > 0:
		base, head = min(1, base/n), min(1, head/n)
		pair.Change = head - base
		w.c.Pairs++
		w.c.suite.add(base, head, cluster, baseTrials, headTrials)
		w.c.correction.add(baseCorrected/n, headCorrected/n)
		w.c.repeats.add(&w.base, &w.head)
	}
}

func indexes(c *caseRows) []int {
	list := make([]int, len(c.rows))
	for i, r := range c.rows {
		list[i] = r.Index
	}
	return list
}

// effects estimates every assertion.
func (c *Comparison) effects(w *work, o Options) error {
	var tested []int
	var p []float64
	for i := range w.assertions {
		x := w.assertions[i].AssertionEffect
		if err := x.estimate(); err != nil {
			return fmt.Errorf("assertion %s: %w", named(x.Assertion), err)
		}
		if w.judges[i].index > 0 && x.Pairs > 0 {
			x.Corrected = corrected(x.Effect, o.Judges[x.Assertion])
		}
		if x.Pairs > 0 {
			tested, p = append(tested, i), append(p, x.P)
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return err
	}
	for i, a := range tested {
		w.assertions[a].PAdjusted = adjusted[i]
	}
	return nil
}

// sort puts the worst assertions first.
func (c *Comparison) sort() {
	slices.SortStableFunc(c.Assertions, func(a, b AssertionEffect) int {
		if n := cmp.Compare(min(1, b.Pairs), min(1, a.Pairs)); n != 0 {
			return n
		}
		return cmp.Or(cmp.Compare(a.Worse, b.Worse), cmp.Compare(a.Difference.Value, b.Difference.Value), cmp.Compare(a.Assertion, b.Assertion))
	})
}

// estimate sets the figures of an assertion.
func (x *AssertionEffect) estimate() (err error) {
	x.P, x.PAdjusted, x.Worse = 1, 1, 1
	if x.Effect, err = x.series.effect(); err != nil || x.Pairs == 0 {
		return err
	}
	x.Flips /= float64(x.Pairs)
	worse := x.series.worse()
	if x.P, err = stats.SignFlip(worse, stats.TwoSided, false); err != nil {
		return err
	}
	x.Worse, err = stats.SignFlip(worse, stats.FirstMore, true)
	return err
}
