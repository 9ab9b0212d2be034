package solve

import (
	"cmp"
	"slices"
)

// prices of failing a good example, relative to catching a bad one, that the greedy start
// tries in turn.
var prices = []float64{0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10}

// cover adds candidates until enough bad examples are caught, each time the one that catches
// most relative to what it fails and costs. It reports whether that succeeded.
func (s *set) cover(free []int, price float64) bool {
	for s.caught < s.m.need {
		best, value := -1, 0.0
		for _, k := range free {
			if s.in[k] {
				continue
			}
			gain := s.gain(k)
			if float64(gain) <= value { // the divisor is at least 1
				continue
			}
			more := s.more(k)
			if s.failed+more > s.m.allow || !s.affords(k) {
				continue
			}
			burden := 1 + float64(price*float64(more))
			if s.w.cost > 0 {
				if p := float64(s.price(k)) / float64(s.w.cost); p > 0 {
					burden *= 1 + p
				}
			}
			if v := float64(gain) / burden; v > value {
				best, value = k, v
			}
		}
		if best < 0 {
			return false
		}
		s.add(best)
	}
	return true
}

// fill adds, in the given order, candidates that lower the value and fit.
func (s *set) fill(order []int) {
	for _, k := range order {
		if !s.in[k] && s.delta(k) < 0 && s.fits(k) {
			s.add(k)
		}
	}
}

// improve changes one candidate at a time, or swaps two, as long as that lowers the value and
// keeps both thresholds. free are the candidates that it may change; limit bounds the work.
func (s *set) improve(free []int, limit int64) {
	end := s.work + limit
	for improved := true; improved; {
		improved = false
		for _, k := range free {
			if s.work > end {
				return
			}
			if !s.in[k] {
				if s.delta(k) < 0 && s.fits(k) {
					s.add(k)
					improved = true
				}
				continue
			}
			if s.exchange(k, free, end) {
				improved = true
			}
		}
	}
}

// exchange drops k, or replaces it with another candidate, if that is better.
func (s *set) exchange(k int, free []int, end int64) bool {
	before := s.value
	s.drop(k)
	if s.value < before && s.caught >= s.m.need {
		return true
	}
	for _, other := range free {
		if s.work > end {
			break
		}
		if other == k || s.in[other] || s.value+s.delta(other) >= before {
			continue
		}
		if s.caught+s.gain(other) >= s.m.need && s.fits(other) {
			s.add(other)
			return true
		}
	}
	s.add(k)
	return false
}

// start searches greedily for a first selection within the thresholds; nil if it finds none.
func (m *model) start(w weights, work *int64) *set {
	all := make([]int, len(m.ids))
	for k := range all {
		all[k] = k
	}
	var found []*set
	for _, price := range prices {
		s := m.greedy(w, all, price)
		*work += s.work
		if s.caught >= m.need {
			s.work = 0
			found = append(found, s)
		}
		if m.need == 0 {
			break
		}
	}
	if len(found) == 0 {
		return nil
	}
	byValue := func(a, b *set) int { return cmp.Compare(a.value, b.value) }
	slices.SortStableFunc(found, byValue)
	found = found[:min(len(found), improved)]
	for _, s := range found {
		s.improve(all, 20*m.cells())
		*work += s.work
	}
	return slices.MinFunc(found, byValue)
}

// improved is how many of the greedy selections are improved.
const improved = 3

// greedy adds candidates that improve the value, and then candidates that coverage needs. The
// result may catch too little.
func (m *model) greedy(w weights, all []int, price float64) *set {
	s := newSet(m, w)
	if m.method == Subsumption {
		s.dearest(all)
	}
	if !s.cover(all, price) && m.method == Subsumption { // the first step used up what coverage needs
		work := s.work
		s = newSet(m, w)
		s.work = work
		s.cover(all, price)
	}
	if s.caught >= m.need {
		s.fill(all)
	}
	return s
}

// dearest adds the candidates that imply most relative to the good examples that they fail.
func (s *set) dearest(free []int) {
	type offer struct {
		k    int
		rate float64
	}
	for {
		var offers []offer
		for _, k := range free {
			if s.in[k] {
				continue
			}
			if p := s.price(k); p < 0 && len(s.m.succ[k]) > 0 {
				if more := s.more(k); s.failed+more <= s.m.allow && s.affords(k) {
					offers = append(offers, offer{k, float64(-p) / float64(1+more)})
				}
			}
		}
		if len(offers) == 0 {
			return
		}
		slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(b.rate, a.rate) })
		added := 0
		for _, o := range offers[:1+len(offers)/8] { // a few at a time: rates change slowly
			if s.price(o.k) < 0 && s.fits(o.k) {
				s.add(o.k)
				added++
			}
		}
		if added == 0 {
			return
		}
	}
}
