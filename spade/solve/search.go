package solve

import (
	"context"
	"math"
	"slices"
)

// finder runs the stages of a search and keeps the best selection.
type finder struct {
	ctx    context.Context
	in     *Instance
	method Method
	full   *model
	tied   weights
	exact  bool // tied is exact
	limit  int64
	work   int64
	nodes  int64

	best   []int // nil if there is none
	value  int64 // value of best under tied
	lower  int64 // lower bound of the primary objective
	proven bool
	engine string
}

func search(ctx context.Context, in *Instance, method Method, o Options) (*Answer, error) {
	f := &finder{ctx: ctx, in: in, method: method, limit: o.Work, value: math.MaxInt64}
	f.full = newModel(in, method, in.every(in.eligible()), in.Need)
	f.tied, f.exact = tied(in, method)
	if !f.exact {
		f.tied = primary(method)
	}
	if s := f.full.start(f.tied, &f.work); s != nil {
		f.offer("greedy", s.selected())
	}
	if f.best == nil {
		if a := f.reachable(); a != nil {
			return a, ctx.Err()
		}
	}
	f.core()
	if !f.proven {
		f.branch()
	}
	tie := f.proven && f.breakTies()
	a := &Answer{Worth: in.worth(method, f.best), Status: Feasible, LowerBound: int(f.lower), Tied: tie, Engine: f.engine, Nodes: f.nodes, Work: f.work, Best: -1}
	a.Best = a.Covered
	if f.proven {
		a.Status, a.LowerBound = Optimal, a.Objective
	}
	return a, nil
}

// offer keeps sel if it is better than the best.
func (f *finder) offer(engine string, sel []int) {
	if v := f.measure(f.tied, sel); v < f.value {
		f.best, f.value, f.engine = sel, v, engine
	}
}

// measure returns the value of a selection.
func (f *finder) measure(w weights, sel []int) int64 {
	s := newSet(f.full, w)
	for _, j := range sel {
		s.add(int(f.full.local[j]))
	}
	return s.value
}

// run searches a tree and adds up its work.
func (f *finder) run(t *tree) int64 {
	lower := t.run()
	f.nodes += t.nodes
	f.work += t.work()
	return lower
}

// reachable searches for any selection within the thresholds after the greedy start found
// none, and returns the answer if there is none.
func (f *finder) reachable() *Answer {
	m := newModel(f.in, Coverage, f.full.ids, 0)
	_, bad := f.in.Count()
	t := newTree(f.ctx, m, covering, f.work+(f.limit-f.work)/2)
	t.stop = int64(bad - f.in.Need)
	t.take(int64(bad), []int{})
	lower := f.run(t)
	if t.best <= t.stop {
		f.offer("branch and bound", t.sel)
		return nil
	}
	w := f.in.worth(f.method, []int{})
	a := &Answer{Worth: w, Status: Infeasible, Best: bad - int(t.best), BestProven: lower == t.best, Engine: "branch and bound", Nodes: f.nodes, Work: f.work}
	if lower <= t.stop {
		a.Status = Unknown
	}
	return a
}

// core searches among the candidates that imply others, without the coverage threshold. That
// relaxation is much smaller than the full one, and its answer can often be completed at no
// cost.
func (f *finder) core() {
	if f.method != Subsumption {
		return
	}
	implies := make([]bool, len(f.in.Fails))
	for _, p := range f.in.Implies {
		implies[p[0]] = implies[p[0]] || p[0] != p[1]
	}
	ids := slices.DeleteFunc(slices.Clone(f.full.ids), func(j int) bool { return !implies[j] })
	m := newModel(f.in, f.method, ids, 0)
	w := primary(f.method)
	t := newTree(f.ctx, m, w, f.limit)
	if s := m.start(w, &f.work); s != nil {
		t.take(s.value, s.selected())
		f.complete(t.sel)
	}
	t.found = f.complete
	f.lower = f.run(t)
	f.conclude()
}

// complete extends a selection of the core to the full model.
func (f *finder) complete(sel []int) {
	s := newSet(f.full, f.tied)
	var free []int
	for k, j := range f.full.ids {
		if _, ok := slices.BinarySearch(sel, j); ok {
			s.add(k)
		} else {
			free = append(free, k)
		}
	}
	if s.cover(free, 0.3) {
		s.fill(free)
		s.improve(free, 40*f.full.cells())
		f.offer("branch and bound", s.selected())
	}
	f.work += s.work
}

// conclude checks whether the best selection is proven.
func (f *finder) conclude() {
	if f.best != nil {
		f.proven = f.measure(primary(f.method), f.best) <= f.lower
	}
}

// branch searches the full model.
func (f *finder) branch() {
	w := primary(f.method)
	t := newTree(f.ctx, f.full, w, f.limit-f.work)
	t.take(f.measure(w, f.best), f.best)
	t.found = f.complete
	t.floor = float64(f.lower)
	f.lower = max(f.lower, f.run(t))
	f.offer("branch and bound", t.sel)
	f.conclude()
}

// combinations bounds the work of trying all sets of one cost.
const combinations = 4_000_000

// breakTies decides between equally good selections and reports whether it could.
func (f *finder) breakTies() bool {
	if !f.exact {
		return false
	}
	limit := 8*f.work + 200*f.full.cells() + 50_000_000
	if f.method == Coverage {
		w := f.in.worth(f.method, f.best)
		sel, work, ok := combine(f.in, f.full.ids, w.Objective, w, min(combinations, f.limit-f.work))
		f.work += work
		if ok {
			f.best = sel
			return true
		}
	}
	t := newTree(f.ctx, f.full, f.tied, min(limit, f.limit-f.work))
	t.take(f.value, f.best)
	lower := f.run(t)
	f.offer("branch and bound", t.sel)
	if lower < t.best {
		return false
	}
	return f.first(limit)
}

// first finds, among the selections of the best value, the one with the lowest indices: it
// tries to select each candidate in turn.
func (f *finder) first(limit int64) bool {
	t := newTree(f.ctx, f.full, f.tied, 0)
	for k, j := range f.full.ids {
		if _, ok := slices.BinarySearch(f.best, j); !ok {
			if !t.at.fits(k) {
				t.fix[k] = out
				continue
			}
			t.fix[k] = in
			t.at.add(k)
			t.best, t.sel, t.stop, t.limit = f.value+1, nil, f.value, min(t.work()+limit/8, f.limit-f.work)
			t.visit(int(min(1, t.nodes)), math.Inf(-1)) // prices continue from those of the first visit
			if t.spent {
				f.nodes, f.work = f.nodes+t.nodes, f.work+t.work()
				return false
			}
			if t.sel == nil {
				t.at.drop(k)
				t.fix[k] = out
				continue
			}
			f.best = t.sel
			continue
		}
		t.fix[k] = in
		t.at.add(k)
	}
	f.nodes, f.work = f.nodes+t.nodes, f.work+t.work()
	return true
}
