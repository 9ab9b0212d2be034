package solve

import "errors"

// Limit is a bound on a sum over the selected candidates, such as the cost of a selection per
// output. Unlike false failures, the prices of two candidates add up.
type Limit struct {
	Price []int64 // price of selecting each candidate, from 0 to [MaxPrice]
	Most  int64   // maximum total price of a selection, at least 0
}

// MaxPrice is the highest price of one candidate in a [Limit].
const MaxPrice = 1 << 44

// Taken returns the total price of selected candidates.
func (l *Limit) Taken(selected []int) int64 {
	sum := int64(0)
	for _, j := range selected {
		sum += l.Price[j]
	}
	return sum
}

func (in *Instance) checkLimits() error {
	for _, l := range in.Limits {
		if len(l.Price) != len(in.Fails) || l.Most < 0 {
			return errors.New("a limit needs a price for each candidate, and is at least 0")
		}
		for _, p := range l.Price {
			if p < 0 || p > MaxPrice {
				return errors.New("a price is out of range")
			}
		}
	}
	return nil
}

// affordable reports whether a selection is within all limits.
func (in *Instance) affordable(selected []int) bool {
	for i := range in.Limits {
		if in.Limits[i].Taken(selected) > in.Limits[i].Most {
			return false
		}
	}
	return true
}

// affords reports whether adding k stays within the limits.
func (s *set) affords(k int) bool {
	for i := range s.spent {
		l := &s.m.in.Limits[i]
		if s.spent[i]+l.Price[s.m.ids[k]] > l.Most {
			return false
		}
	}
	return true
}

// spend adds k's prices, multiplied by times; -1 removes them.
func (s *set) spend(k int, times int64) {
	for i := range s.spent {
		s.spent[i] += times * s.m.in.Limits[i].Price[s.m.ids[k]]
	}
}

// rates are the prices of the limits in the relaxation: one multiplier per limit, for its sum
// as a share of the limit. A limit of 0 needs none, because [set.affords] decides it
// completely.
type rates struct {
	rho, keep, d []float64
	left         []float64 // share of each limit that the fixed candidates leave
	share        [][]float64
}

func newRates(m *model) rates {
	n := len(m.in.Limits)
	r := rates{rho: make([]float64, n), keep: make([]float64, n), d: make([]float64, n), left: make([]float64, n)}
	for _, l := range m.in.Limits {
		share := make([]float64, len(m.ids))
		if l.Most > 0 {
			for k, j := range m.ids {
				share[k] = float64(l.Price[j]) / float64(l.Most)
			}
		}
		r.share = append(r.share, share)
	}
	return r
}

// open computes what the fixed candidates leave of the limits.
func (r *rates) open(at *set) {
	clear(r.d)
	for i := range r.left {
		r.left[i] = 0
		if l := &at.m.in.Limits[i]; l.Most > 0 {
			r.left[i] = float64(l.Most-at.spent[i]) / float64(l.Most)
		}
	}
}

// charge adds the rates to the reduced costs of the free candidates, and returns what the
// rates add to the bound itself.
func (r *rates) charge(free []int32, red []float64) (v float64) {
	for i, rho := range r.rho {
		if rho == 0 {
			continue
		}
		v -= float64(rho * r.left[i])
		for _, k := range free {
			red[k] += float64(rho * r.share[i][k])
		}
	}
	return v
}

// directions updates the directions of the rates and returns their squared norm.
func (r *rates) directions(free []int32, x []float64) (norm float64) {
	for i := range r.rho {
		g := -r.left[i]
		for _, k := range free {
			g += float64(r.share[i][k] * x[k])
		}
		r.d[i] = direction(r.d[i], g, r.rho[i])
		norm += float64(r.d[i] * r.d[i])
	}
	return norm
}

func (r *rates) move(t float64) {
	for i, d := range r.d {
		r.rho[i] = positive(r.rho[i] + float64(t*d))
	}
}
