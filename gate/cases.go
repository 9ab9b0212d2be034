package gate

import (
	"cmp"
	"math"
	"slices"
)

// sort adds a pair to the list for its change. A case broke if its rows passed and now
// fail while the result of the assertions that both sides have fell, or if one of its
// assertions broke and the rows were not fixed; likewise for fixed. A new assertion
// breaks nothing. With repeats, a change of more than half of them is required; with
// less, the case is flaky.
func (w *work) sort(pair CasePair) {
	list := &w.c.Cases
	if math.IsNaN(pair.Change) && !w.skipped() {
		list.Undecided = append(list.Undecided, pair)
		return
	}
	base, head := w.base.status.mean(), w.head.status.mean()
	broke, fixed := changed(base, head)
	if len(w.base.touched)+len(w.head.touched) > 0 {
		broke, fixed = broke && pair.Change < 0, fixed && pair.Change > 0
	}
	mixed := base > 0 && base < 1 || head > 0 && head < 1
	switch {
	case broke || len(pair.Broke) > 0 && !fixed:
		list.Broke = append(list.Broke, pair)
	case fixed || len(pair.Fixed) > 0:
		list.Fixed = append(list.Fixed, pair)
	case mixed:
		list.Flaky = append(list.Flaky, pair)
	case base == 0 && head == 0:
		list.StillFailing = append(list.StillFailing, pair)
	default:
		list.Same++
	}
}

// skipped reports whether nothing applied to the case on either side.
func (w *work) skipped() bool {
	for _, t := range []*tally{&w.base.status, &w.head.status} {
		if t.decided > 0 || t.undecided > 0 {
			return false
		}
	}
	return true
}

// sort puts the worst cases first. Ties keep the order of the run.
func (c *Cases) sort() {
	worst := func(a, b CasePair) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(len(b.Broke), len(a.Broke)))
	}
	for _, list := range [][]CasePair{c.Broke, c.Flaky, c.StillFailing} {
		slices.SortStableFunc(list, worst)
	}
	slices.SortStableFunc(c.Fixed, func(a, b CasePair) int { return worst(b, a) })
}
