package solve

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// tree is a depth-first branch and bound over one model.
type tree struct {
	ctx   context.Context
	m     *model
	w     weights
	r     *relaxation
	fix   []int8
	at    *set // candidates that are fixed in
	limit int64
	nodes int64
	spent bool // the work limit is reached
	extra int64

	best  int64           // value of the best selection
	sel   []int           // the best selection, by candidate of the instance; nil if there is none
	stop  int64           // a value good enough to end the search
	floor float64         // a lower bound from elsewhere
	found func(sel []int) // if set, called with each better selection
}

func newTree(ctx context.Context, m *model, w weights, limit int64) *tree {
	t := &tree{ctx: ctx, m: m, w: w, r: newRelaxation(m, w), fix: make([]int8, len(m.ids)), at: newSet(m, w), limit: limit, best: math.MaxInt64, stop: math.MinInt64}
	for k := range t.fix {
		t.fix[k] = open
	}
	return t
}

// take makes a selection the best one so far.
func (t *tree) take(value int64, sel []int) {
	if value >= t.best {
		return
	}
	t.best, t.sel = value, sel
	if t.found != nil {
		t.found(sel)
	}
}

// Ascent steps at the root and below it.
const (
	rootSteps  = 600
	childSteps = 60
)

// run searches and returns a lower bound on the value. If the work limit was not reached, the
// bound is the value of the best selection.
func (t *tree) run() int64 {
	lower := t.visit(0, t.floor)
	if lower >= float64(t.best) {
		return t.best
	}
	return int64(math.Ceil(lower - slack(lower)))
}

// slack is the allowed floating-point error of the bound.
func slack(v float64) float64 { return 1e-6 + float64(1e-10*math.Abs(v)) }

func (t *tree) work() int64 { return t.r.work + t.at.work + t.extra }

// cut reports whether a bound rules out a better selection.
func (t *tree) cut(bound float64) bool {
	return t.best <= t.stop || math.Ceil(bound-slack(bound)) >= float64(t.best)
}

// visit searches below the fixed candidates. It returns a bound on the value of the part that
// was not searched, +Inf if everything was searched.
func (t *tree) visit(depth int, parent float64) float64 {
	if t.spent || t.work() > t.limit || t.ctx.Err() != nil {
		t.spent = true
		return parent
	}
	t.nodes++
	fixed := []int{}
	defer func() {
		for _, k := range fixed {
			if t.fix[k] == in {
				t.at.drop(k)
			}
			t.fix[k] = open
		}
	}()
	if !t.possible(&fixed) {
		return math.Inf(1)
	}
	t.r.open(t.fix, t.at)
	steps, theta := childSteps, 0.5
	if depth == 0 {
		steps, theta = rootSteps, 1.0
	}
	aim := t.aim(parent)
	bound := math.Max(parent, t.r.ascend(steps, theta, aim, float64(t.best)-1+slack(float64(t.best))+1e-9))
	if depth == 0 || t.nodes < 20 || t.nodes%16 == 0 {
		t.round()
	}
	if t.cut(bound) {
		return math.Inf(1)
	}
	t.settle(&fixed)
	k := t.choose()
	if k < 0 {
		t.leaf()
		return math.Inf(1)
	}
	first, second := out, in
	if t.r.mean[k] > 0.5 {
		first, second = in, out
	}
	lower := math.Inf(1)
	for _, v := range []int8{first, second} {
		lower = math.Min(lower, t.under(k, v, depth, bound))
	}
	return lower
}

// under visits the subtree with k fixed to v.
func (t *tree) under(k int, v int8, depth int, bound float64) float64 {
	if v == in && !t.at.fits(k) {
		return math.Inf(1)
	}
	t.fix[k] = v
	if v == in {
		t.at.add(k)
	}
	lower := t.visit(depth+1, bound)
	if v == in {
		t.at.drop(k)
	}
	t.fix[k] = open
	return lower
}

// aim is the target value of the ascent.
func (t *tree) aim(parent float64) float64 {
	if t.best < math.MaxInt64 {
		return float64(t.best) * 1.01
	}
	return math.Max(parent, float64(t.at.value)) + 1
}

// possible fixes out candidates that no longer fit and reports whether the others can still
// catch enough.
func (t *tree) possible(fixed *[]int) bool {
	for k, f := range t.fix {
		if f == open && !t.at.fits(k) {
			t.fix[k] = out
			*fixed = append(*fixed, k)
		}
	}
	if t.at.caught >= t.m.need {
		return true
	}
	reach := t.at.caught
	t.extra += int64(len(t.m.bad.cand))
	for b := range t.m.bad.len() {
		if t.at.bad[b] > 0 {
			continue
		}
		for _, k := range t.m.bad.row(b) {
			if t.fix[k] == open {
				reach += int(t.m.bad.weight[b])
				break
			}
		}
	}
	return reach >= t.m.need
}

// settle fixes the candidates that have the same state in every better selection.
func (t *tree) settle(fixed *[]int) {
	if t.best == math.MaxInt64 {
		return
	}
	// the bound at the kept prices, which red corresponds to
	v := t.r.bound()
	for k, f := range t.fix {
		if f != open {
			continue
		}
		red := t.r.red[k]
		switch {
		case red > 0 && t.cut(v+red):
			t.fix[k] = out
		case red < 0 && t.cut(v-red):
			if !t.at.fits(k) {
				continue
			}
			t.fix[k] = in
			t.at.add(k)
		default:
			continue
		}
		*fixed = append(*fixed, k)
	}
}

// choose picks the candidate to branch on, -1 if all are fixed: one that has an effect and is
// fractional in the relaxation.
func (t *tree) choose() int {
	best, value := -1, -1.0
	for k, f := range t.fix {
		if f != open {
			continue
		}
		mean := t.r.mean[k]
		v := float64(math.Min(mean, 1-mean)*(1+float64(len(t.m.succ[k])))) + 1e-4/(1+math.Abs(t.r.red[k])/float64(max(1, t.w.cost)))
		if t.m.method == Subsumption && len(t.m.succ[k])+len(t.m.pred[t.m.ids[k]]) == 0 {
			v *= 0.01
		}
		if v > value {
			best, value = k, v
		}
	}
	return best
}

// leaf offers the fixed candidates as a selection if they catch enough.
func (t *tree) leaf() {
	if t.at.caught >= t.m.need && t.at.failed <= t.m.allow && t.at.value < t.best {
		t.take(t.at.value, t.at.selected())
	}
}

// round makes a selection from the relaxation.
func (t *tree) round() {
	s := newSet(t.m, t.w)
	order := make([]int, 0, len(t.fix))
	for k, f := range t.fix {
		switch f {
		case in:
			s.add(k)
		case open:
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.r.red[a], t.r.red[b]) })
	if t.m.method == Subsumption || t.w.bad > 0 {
		s.fill(order)
	}
	if s.cover(order, 0.3) {
		s.fill(order)
		s.improve(order, 30*t.m.cells())
		if s.value < t.best {
			t.take(s.value, s.selected())
		}
	}
	t.extra += s.work
}
