package solve

import "math"

// relaxation is the Lagrangian dual of a model. Three kinds of constraints are
// priced: a selected candidate fails its good rows (lam, one price a cell), a
// caught bad row has a selected candidate (mu, one a row), and an implied
// candidate has a selected one that implies it (nu). For any prices of 0 or more
// the minimum over what is left is a lower bound, and it falls apart into
// fractional knapsacks over rows and single choices over candidates.
type relaxation struct {
	m *model
	w weights

	lam []float64 // by cell of m.good
	mu  []float64 // by row of m.bad
	nu  []float64 // by candidate of the instance

	live           // what the fixed candidates leave open
	x, z, u, s     []float64
	red            []float64 // by position: what selecting it adds to the bound
	mean           []float64 // by position: x averaged over the steps
	dlam, dmu, dnu []float64 // directions, by live cell, row and implied
	keepL, keepM   []float64
	keepN, keepRed []float64
	ratio, size    []float64
	order          []int32
	sumL           []float64
	work           int64
}

// live is the part of a model that is open once some candidates are fixed.
type live struct {
	base     float64   // value of what is decided
	free     []int32   // positions that are not fixed
	price    []float64 // by position: of selecting it
	budget   float64   // good examples that may still fail
	required float64   // bad examples still to be caught

	goodStart []int32 // by live good row, into cell and cand
	cell      []int32 // into lam
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

func newRelaxation(m *model, w weights) *relaxation {
	n := len(m.ids)
	r := &relaxation{
		m: m, w: w, lam: make([]float64, len(m.good.cand)), mu: make([]float64, m.bad.len()), nu: make([]float64, len(m.in.Fails)),
		x: make([]float64, n), red: make([]float64, n), mean: make([]float64, n), keepRed: make([]float64, n),
	}
	for j := range r.nu {
		r.nu[j] = float64(w.left) / 2
	}
	r.price, r.node = make([]float64, n), make([]int32, n)
	return r
}

// The states of a candidate in the search.
const (
	open int8 = iota - 1
	out
	in
)

// open collects what the fixed candidates leave to decide. at is the set of
// those that are fixed in.
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

// openImplied finds the candidates that are left over as long as nothing selected
// implies them, and takes off what only depends on the candidate itself.
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

// bound solves the relaxed problem at the present prices and returns its value.
func (r *relaxation) bound() float64 {
	l := &r.live
	for _, k := range l.free {
		r.red[k] = l.price[k]
	}
	v := l.base + r.goodRows() + r.badRows()
	for i := range l.implied {
		nu := r.nu[l.implied[i]]
		for _, k := range l.impCand[l.impStart[i]:l.impStart[i+1]] {
			r.red[k] -= nu
		}
		r.s[i] = 0
		if d := nu - float64(r.w.left); d < 0 {
			r.s[i] = 1
			v += d
		}
	}
	for _, k := range l.free {
		if i := l.node[k]; i >= 0 && r.s[i] == 1 { // selecting it forgoes its being implied
			r.red[k] -= r.nu[l.implied[i]] - float64(r.w.left)
		}
		r.x[k] = 0
		if r.red[k] < 0 {
			r.x[k] = 1
			v += r.red[k]
			if i := l.node[k]; i >= 0 {
				r.s[i] = 0
			}
		}
	}
	r.work += int64(len(l.cell) + len(l.badCand) + len(l.impCand))
	return v
}

// goodRows lets the rows with the highest prices fail, within the budget.
func (r *relaxation) goodRows() (v float64) {
	l := &r.live
	order := r.order[:0]
	for g := range l.goodSize {
		sum := 0.0
		for c := l.goodStart[g]; c < l.goodStart[g+1]; c++ {
			lam := r.lam[l.cell[c]]
			sum += lam
			r.red[l.cand[c]] += lam
		}
		sum -= float64(r.w.good) * l.goodSize[g]
		r.sumL[g], r.z[g] = sum, 0
		if sum > 0 {
			r.ratio[g], r.size[g] = sum/l.goodSize[g], l.goodSize[g]
			order = append(order, int32(g))
		}
	}
	cut, part := split(order, r.ratio, r.size, l.budget)
	for _, g := range order[:cut] {
		r.z[g] = 1
		v -= r.sumL[g]
	}
	if cut < len(order) && part > 0 {
		g := order[cut]
		r.z[g] = part
		v -= part * r.sumL[g]
	}
	return v
}

// badRows catches the rows with the lowest prices, as many as are required.
func (r *relaxation) badRows() (v float64) {
	l := &r.live
	order, left := r.order[:0], l.required
	for i, b := range l.badRow {
		mu := r.mu[b]
		for _, k := range l.badCand[l.badStart[i]:l.badStart[i+1]] {
			r.red[k] -= mu
		}
		net := mu - float64(r.w.bad)*l.badSize[i]
		if net < 0 || net == 0 && r.w.bad > 0 {
			r.u[i] = 1
			v += net
			left -= l.badSize[i]
			continue
		}
		r.u[i] = 0
		r.ratio[i], r.size[i] = -net/l.badSize[i], l.badSize[i]
		order = append(order, int32(i))
	}
	if left <= 0 {
		return v
	}
	cut, part := split(order, r.ratio, r.size, left)
	for _, i := range order[:cut] {
		r.u[i] = 1
		v -= r.ratio[i] * r.size[i]
	}
	if cut < len(order) && part > 0 {
		i := order[cut]
		r.u[i] = part
		v -= part * r.ratio[i] * r.size[i]
	}
	return v
}

// step moves the prices along the subgradient, smoothed over the last steps.
func (r *relaxation) step(target, v, theta float64) {
	const fresh = 0.3
	l := &r.live
	norm := 0.0
	direct := func(d *float64, g, price float64) {
		if price <= 0 && g < 0 && *d <= 0 {
			*d = 0
			return
		}
		*d = fresh*g + (1-fresh)**d
		norm += *d * *d
	}
	for g := range l.goodSize {
		z := r.z[g]
		for c := l.goodStart[g]; c < l.goodStart[g+1]; c++ {
			direct(&r.dlam[c], r.x[l.cand[c]]-z, r.lam[l.cell[c]])
		}
	}
	for i, b := range l.badRow {
		g := r.u[i]
		for _, k := range l.badCand[l.badStart[i]:l.badStart[i+1]] {
			g -= r.x[k]
		}
		direct(&r.dmu[i], g, r.mu[b])
	}
	for i, j := range l.implied {
		g := r.s[i]
		for _, k := range l.impCand[l.impStart[i]:l.impStart[i+1]] {
			g -= r.x[k]
		}
		direct(&r.dnu[i], g, r.nu[j])
	}
	r.work += int64(len(l.cell) + len(l.badCand) + len(l.impCand))
	if norm < 1e-12 {
		return
	}
	r.move(theta * math.Max(target-v, 1e-3) / norm)
}

func (r *relaxation) move(t float64) {
	l := &r.live
	for c, d := range r.dlam {
		if d != 0 {
			p := &r.lam[l.cell[c]]
			*p = math.Max(0, *p+t*d)
		}
	}
	for i, d := range r.dmu {
		if d != 0 {
			p := &r.mu[l.badRow[i]]
			*p = math.Max(0, *p+t*d)
		}
	}
	most := float64(r.w.left)
	for i, d := range r.dnu {
		if d != 0 {
			p := &r.nu[l.implied[i]]
			*p = math.Min(most, math.Max(0, *p+t*d))
		}
	}
	r.work += int64(len(r.dlam))
}

// ascend raises the bound by at most steps steps, or until it reaches enough, and
// returns the best one. Prices and red are those of the best.
func (r *relaxation) ascend(steps int, theta, aim, enough float64) float64 {
	const patience = 12
	best, stall := math.Inf(-1), 0
	for range steps {
		v := r.bound()
		if v > best+1e-9*math.Abs(best) || math.IsInf(best, -1) {
			best, stall = v, 0
			r.keep()
			if v >= enough {
				break
			}
		} else if stall++; stall >= patience {
			if theta *= 0.7; theta < 1e-3 {
				break
			}
			stall = 0
			r.restore()
			r.bound()
			v = best
			clear(r.dlam)
			clear(r.dmu)
			clear(r.dnu)
		}
		for _, k := range r.free {
			r.mean[k] = 0.93*r.mean[k] + 0.07*r.x[k]
		}
		r.step(aim, v, theta)
	}
	r.restore()
	return best
}

func (r *relaxation) keep() {
	l := &r.live
	for c, at := range l.cell {
		r.keepL[c] = r.lam[at]
	}
	for i, b := range l.badRow {
		r.keepM[i] = r.mu[b]
	}
	for i, j := range l.implied {
		r.keepN[i] = r.nu[j]
	}
	copy(r.keepRed, r.red)
}

func (r *relaxation) restore() {
	l := &r.live
	for c, at := range l.cell {
		r.lam[at] = r.keepL[c]
	}
	for i, b := range l.badRow {
		r.mu[b] = r.keepM[i]
	}
	for i, j := range l.implied {
		r.nu[j] = r.keepN[i]
	}
	copy(r.red, r.keepRed)
}

// split reorders order so that the first cut have the highest ratios and fit into
// capacity together, and tells which part of the next one still does.
func split(order []int32, ratio, size []float64, capacity float64) (cut int, part float64) {
	lo, hi := 0, len(order)
	if capacity <= 0 {
		return 0, 0
	}
	for hi-lo > 1 {
		at := partition(order[lo:hi], ratio) + lo
		sum := 0.0
		for _, i := range order[lo:at] {
			sum += size[i]
		}
		if sum > capacity {
			hi = at
			continue
		}
		capacity -= sum
		lo = at
	}
	if lo < hi {
		if s := size[order[lo]]; s <= capacity {
			lo++
			capacity -= s
		} else {
			return lo, capacity / s
		}
	}
	return lo, 0
}

// partition puts the higher ratios of order, which has two members or more, first
// and returns how many there are: at least one, and not all.
func partition(order []int32, ratio []float64) int {
	a, b, c := ratio[order[0]], ratio[order[len(order)/2]], ratio[order[len(order)-1]]
	pivot := math.Max(math.Min(a, b), math.Min(math.Max(a, b), c))
	i, j := 0, len(order)-1
	for {
		for ratio[order[i]] > pivot {
			i++
		}
		for ratio[order[j]] < pivot {
			j--
		}
		if i >= j {
			break
		}
		order[i], order[j] = order[j], order[i]
		i++
		j--
	}
	if i == 0 {
		return 1
	}
	return min(i, len(order)-1)
}
