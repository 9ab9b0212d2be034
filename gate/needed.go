package gate

import (
	"math"

	"github.com/proviso-eval/proviso/stats"
)

const (
	neededPower  = 0.8416212335729143 // normal quantile for a power of 80 %
	neededFactor = 1000               // advice beyond this multiple of the cases is useless
)

// repeats estimates how much of a difference's variance repeats can remove.
type repeats struct {
	within float64 // sum over pairs of the variance of both means due to repeats
	rows   float64 // number of repeats in all pairs, on the side with fewer
	pairs  float64
	single bool // a pair has no repeats, so nothing can be estimated
}

func (r *repeats) add(base, head *tallies) {
	r.pairs++
	if base.shares.n < 2 || head.shares.n < 2 {
		r.single = true
		return
	}
	r.within += base.shares.variance()/base.shares.n + head.shares.variance()/head.shares.n
	r.rows += min(base.shares.n, head.shares.n)
}

// needed returns the number of cases, or of repeats, with which the gate would decide
// with a probability of 80 %, if the difference stays the same; nil if that is unknown.
func (j *judgement) needed() *Needed {
	if j.c.LeftOut*2 > j.c.Pairs {
		return nil
	}
	s, err := j.summary()
	if err != nil {
		return nil
	}
	factor := j.factor(s)
	if math.IsInf(factor, 1) {
		return nil
	}
	pairs := float64(j.c.Pairs)
	n := &Needed{Cases: int(math.Ceil(pairs * max(factor, float64(j.settings.minCases)/j.c.Suite.Units)))}
	if n.Cases <= j.c.Pairs {
		return nil
	}
	if j.c.Suite.Units >= float64(j.settings.minCases) {
		n.Repeats = j.repeatsFor(factor)
	}
	return n
}

// factor returns the factor by which the number of cases must grow.
func (j *judgement) factor(s stats.PairedSummary) float64 {
	scale := 1.0
	if j.c.SuiteCorrected != nil {
		scale = j.c.correction.scale
	}
	value := s.First - s.Second
	deviation := math.Sqrt(j.spread()) / float64(j.c.Pairs)
	passes := func(factor float64) bool {
		d, err := s.Times(factor).Difference(1 - 2*j.alpha)
		below := max(d.Value-d.Low, unseen(j.c.Suite.Units*factor, j.alpha))
		return err == nil && min(0, value)-below-neededPower*deviation/math.Sqrt(factor) > -j.settings.margin/scale
	}
	fails := func(factor float64) bool {
		return -value > (quantile(j.alpha/2)+neededPower)*deviation/math.Sqrt(factor)
	}
	return min(smallest(passes), smallest(fails))
}

// spread returns the sum of squared deviations of the units' differences.
func (j *judgement) spread() float64 {
	mean, sum := 0.0, 0.0
	differences := j.c.suite.worse()
	for _, d := range differences {
		mean += d / float64(len(differences))
	}
	for _, d := range differences {
		sum += (d - mean) * (d - mean)
	}
	return sum
}

// smallest returns the smallest factor of at least 1 for which a condition holds, or
// infinity.
func smallest(holds func(float64) bool) float64 {
	low, high := 1.0, 1.0
	for !holds(high) {
		if low, high = high, 2*high; high > neededFactor {
			return math.Inf(1)
		}
	}
	for high-low > 1e-3*high {
		if middle := (low + high) / 2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// repeatsFor returns the repeats that reduce the variance as much as multiplying the
// cases by factor; 0 if no number does, or if the runs have no repeats to estimate from.
func (j *judgement) repeatsFor(factor float64) int {
	r := &j.c.repeats
	if r.single || r.pairs < minUnits {
		return 0
	}
	total := j.spread()
	within := min(r.within, total)
	rest := total/factor - (total - within)
	if rest <= 0 {
		return 0
	}
	return int(math.Ceil(r.rows / r.pairs * within / rest))
}

// quantile returns the normal quantile for a one-sided level.
func quantile(alpha float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*alpha) }
