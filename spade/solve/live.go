package solve

// live is the open part of a model after some candidates are fixed.
type live struct {
	base     float64   // value of the fixed part
	free     []int32   // positions that are not fixed
	price    []float64 // price of selecting, by position
	budget   float64   // good examples that may still fail
	required float64   // bad examples that must still be caught

	goodStart []int32 // by live good row, into cell and cand
	cell      []int32 // indices into lam
	cand      []int32
	goodSize  []float64
	badRow    []int32 // rows of m.bad
	badStart  []int32
	badCand   []int32
	badSize   []float64
	implied   []int32 // candidates of the instance that may be implied
	impStart  []int32
	impCand   []int32
	node      []int32 // by position: index into implied, -1 if it has none
}

// The states of a candidate in the search.
const (
	open int8 = iota - 1
	out
	in
)

// open collects what the fixed candidates leave open. at is the set of candidates that are
// fixed in.
func (r *relaxation) open(fix []int8, at *set) {
	m, l := r.m, &r.live
	*l = live{
		free: l.free[:0], price: l.price, node: l.node,
		goodStart: l.goodStart[:0], cell: l.cell[:0], cand: l.cand[:0], goodSize: l.goodSize[:0],
		badRow: l.badRow[:0], badStart: l.badStart[:0], badCand: l.badCand[:0], badSize: l.badSize[:0],
		implied: l.implied[:0], impStart: l.impStart[:0], impCand: l.impCand[:0],
		budget: float64(m.allow - at.failed), required: float64(m.need - at.caught),
	}
	l.base = float64(at.value)
	for k, f := range fix {
		if f != open {
			continue
		}
		l.free = append(l.free, int32(k))
		l.price[k] = float64(r.w.cost * int64(m.in.cost(m.ids[k])))
		l.node[k] = -1
	}
	r.limits.open(at)
	r.openRows(fix, at)
	if m.method == Subsumption {
		r.openImplied(fix, at)
	}
	r.resize()
	r.work += m.cells()
}

func (r *relaxation) openRows(fix []int8, at *set) {
	m, l := r.m, &r.live
	for g := range m.good.len() {
		if at.good[g] > 0 {
			continue
		}
		first := len(l.cell)
		for c := m.good.start[g]; c < m.good.start[g+1]; c++ {
			if k := m.good.cand[c]; fix[k] == open {
				l.cell, l.cand = append(l.cell, c), append(l.cand, k)
			}
		}
		if len(l.cell) > first {
			l.goodStart = append(l.goodStart, int32(first))
			l.goodSize = append(l.goodSize, float64(m.good.weight[g]))
		}
	}
	l.goodStart = append(l.goodStart, int32(len(l.cell)))
	if m.need == 0 && r.w.bad == 0 {
		l.badStart = append(l.badStart, 0)
		return
	}
	for b := range m.bad.len() {
		if at.bad[b] > 0 {
			continue
		}
		first := len(l.badCand)
		for _, k := range m.bad.row(b) {
			if fix[k] == open {
				l.badCand = append(l.badCand, k)
			}
		}
		if len(l.badCand) > first {
			l.badRow = append(l.badRow, int32(b))
			l.badStart = append(l.badStart, int32(first))
			l.badSize = append(l.badSize, float64(m.bad.weight[b]))
		}
	}
	l.badStart = append(l.badStart, int32(len(l.badCand)))
}

// openImplied finds the candidates that are left over unless a selected candidate implies
// them, and settles the terms that depend only on the candidate itself.
func (r *relaxation) openImplied(fix []int8, at *set) {
	m, l := r.m, &r.live
	for j := range m.in.Fails {
		k := m.local[j]
		if at.implied[j] > 0 || at.has(j) {
			continue
		}
		first := len(l.impCand)
		for _, p := range m.pred[j] {
			if fix[p] == open {
				l.impCand = append(l.impCand, p)
			}
		}
		self := k >= 0 && fix[k] == open
		if self {
			l.price[k] -= float64(r.w.left)
		}
		if len(l.impCand) == first {
			continue
		}
		if self {
			l.node[k] = int32(len(l.implied))
		}
		l.implied = append(l.implied, int32(j))
		l.impStart = append(l.impStart, int32(first))
	}
	l.impStart = append(l.impStart, int32(len(l.impCand)))
}

func (r *relaxation) resize() {
	l := &r.live
	r.z, r.u, r.s = fit(r.z, len(l.goodSize)), fit(r.u, len(l.badRow)), fit(r.s, len(l.implied))
	r.dlam, r.dmu, r.dnu = zero(fit(r.dlam, len(l.cell))), zero(fit(r.dmu, len(l.badRow))), zero(fit(r.dnu, len(l.implied)))
	r.keepL, r.keepM, r.keepN = fit(r.keepL, len(l.cell)), fit(r.keepM, len(l.badRow)), fit(r.keepN, len(l.implied))
	most := max(len(l.goodSize), len(l.badRow))
	r.ratio, r.size, r.sumL = fit(r.ratio, most), fit(r.size, most), fit(r.sumL, len(l.goodSize))
	r.order = fit(r.order, most)
}

func fit[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

func zero(s []float64) []float64 {
	clear(s)
	return s
}
