package solve

import "math"

// relaxation is the Lagrangian dual of a model. It prices these constraints: a selected
// candidate fails its good rows (lam, one price per cell), a caught bad row has a selected
// candidate (mu, one per row), an implied candidate has a selected candidate that implies it
// (nu), and the limits hold (limits). For any prices of at least 0, the minimum of the rest is
// a lower bound. It decomposes into fractional knapsacks over rows and single choices over
// candidates.
//
// Products are converted before they are added: otherwise Go may fuse multiplication and
// addition on some machines, and the search would depend on the machine.
type relaxation struct {
	m *model
	w weights

	lam []float64 // by cell of m.good
	mu  []float64 // by row of m.bad
	nu  []float64 // by candidate of the instance

	limits         rates
	live           // what the fixed candidates leave open
	x, z, u, s     []float64
	red            []float64 // by position: what selecting it adds to the bound
	mean           []float64 // by position: moving average of x over the steps
	dlam, dmu, dnu []float64 // directions, by live cell, row and implied
	keepL, keepM   []float64
	keepN, keepRed []float64
	ratio, size    []float64
	order          []int32
	sumL           []float64
	work           int64
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
	r.limits = newRates(m)
	r.price, r.node = make([]float64, n), make([]int32, n)
	return r
}

// bound solves the relaxed problem at the current prices and returns its value.
func (r *relaxation) bound() float64 {
	l := &r.live
	for _, k := range l.free {
		r.red[k] = l.price[k]
	}
	v := l.base + r.goodRows() + r.badRows() + r.limits.charge(l.free, r.red)
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
		if i := l.node[k]; i >= 0 && r.s[i] == 1 { // a selected candidate cannot count as implied
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
		sum -= float64(float64(r.w.good) * l.goodSize[g])
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
		v -= float64(part * r.sumL[g])
	}
	return v
}

// badRows catches the rows with the lowest prices, as many as required.
func (r *relaxation) badRows() (v float64) {
	l := &r.live
	order, left := r.order[:0], l.required
	for i, b := range l.badRow {
		mu := r.mu[b]
		for _, k := range l.badCand[l.badStart[i]:l.badStart[i+1]] {
			r.red[k] -= mu
		}
		net := mu - float64(float64(r.w.bad)*l.badSize[i])
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
		v -= float64(r.ratio[i] * r.size[i])
	}
	if cut < len(order) && part > 0 {
		i := order[cut]
		r.u[i] = part
		v -= float64(part * r.ratio[i] * r.size[i])
	}
	return v
}

// step moves the prices along the subgradient, smoothed over the last steps.
func (r *relaxation) step(target, v, theta float64) {
	l := &r.live
	norm := 0.0
	for g := range l.goodSize {
		z := r.z[g]
		for c := l.goodStart[g]; c < l.goodStart[g+1]; c++ {
			d := direction(r.dlam[c], r.x[l.cand[c]]-z, r.lam[l.cell[c]])
			r.dlam[c] = d
			norm += float64(d * d)
		}
	}
	for i, b := range l.badRow {
		g := r.u[i]
		for _, k := range l.badCand[l.badStart[i]:l.badStart[i+1]] {
			g -= r.x[k]
		}
		d := direction(r.dmu[i], g, r.mu[b])
		r.dmu[i] = d
		norm += float64(d * d)
	}
	for i, j := range l.implied {
		g := r.s[i]
		for _, k := range l.impCand[l.impStart[i]:l.impStart[i+1]] {
			g -= r.x[k]
		}
		d := direction(r.dnu[i], g, r.nu[j])
		r.dnu[i] = d
		norm += float64(d * d)
	}
	r.work += int64(len(l.cell) + len(l.badCand) + len(l.impCand))
	norm += r.limits.directions(l.free, r.x)
	if norm < 1e-12 {
		return
	}
	r.move(theta * math.Max(target-v, 1e-3) / norm)
}

// direction returns d moved towards the subgradient g; it does not lower a price of 0.
func direction(d, g, price float64) float64 {
	const fresh = 0.3
	if price <= 0 && g < 0 && d <= 0 {
		return 0
	}
	return float64(fresh*g) + float64((1-fresh)*d)
}

func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return 0
}

func (r *relaxation) move(t float64) {
	l := &r.live
	for c, d := range r.dlam {
		if d != 0 {
			p := &r.lam[l.cell[c]]
			*p = positive(*p + float64(t*d))
		}
	}
	for i, d := range r.dmu {
		if d != 0 {
			p := &r.mu[l.badRow[i]]
			*p = positive(*p + float64(t*d))
		}
	}
	most := float64(r.w.left)
	for i, d := range r.dnu {
		if d != 0 {
			p := &r.nu[l.implied[i]]
			*p = math.Min(most, positive(*p+float64(t*d)))
		}
	}
	r.limits.move(t)
	r.work += int64(len(r.dlam))
}

// ascend takes up to steps steps to raise the bound, or stops when it reaches enough, and
// returns the best bound. The prices and red correspond to that bound.
func (r *relaxation) ascend(steps int, theta, aim, enough float64) float64 {
	const patience = 12
	best, stall := math.Inf(-1), 0
	for range steps {
		v := r.bound()
		if v > best+float64(1e-9*math.Abs(best)) || math.IsInf(best, -1) {
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
			clear(r.limits.d)
		}
		for _, k := range r.free {
			r.mean[k] = float64(0.93*r.mean[k]) + float64(0.07*r.x[k])
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
	copy(r.limits.keep, r.limits.rho)
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
	copy(r.limits.rho, r.limits.keep)
	copy(r.red, r.keepRed)
}

// split reorders order so that its first cut members have the highest ratios and fit into
// capacity together, and returns which part of the next one still fits.
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

// partition moves the higher ratios of order, which has at least two members, to the front and
// returns how many they are: at least one, but not all.
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
