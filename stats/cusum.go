package stats

import "math"

// BernoulliCUSUM is the cumulative sum chart of passes and failures with whole steps:
// s ← s + Step − 1 on a failure, max(0, s − 1) on a pass, and an alarm at s ≥ Limit.
//
// Source: M. R. Reynolds and Z. G. Stoumbos, "A CUSUM chart for monitoring a proportion
// when inspecting continuously", Journal of Quality Technology 31 (1999) 87-108.
type BernoulliCUSUM struct {
	Step, Limit int
}

// MaxCUSUM bounds Limit of a [BernoulliCUSUM] that is computed.
const MaxCUSUM = 4_000

// DesignCUSUM returns the chart for a rise from inControl to changed whose mean number of
// items to a false alarm is the smallest at or above arl.
func DesignCUSUM(inControl, changed, arl float64) (BernoulliCUSUM, error) {
	if !(inControl > 0 && changed > inControl && changed < 1) {
		return BernoulliCUSUM{}, inputError("shares %v and %v", inControl, changed)
	}
	r1 := -math.Log((1 - changed) / (1 - inControl))
	r2 := math.Log(changed * (1 - inControl) / (inControl * (1 - changed)))
	c := BernoulliCUSUM{Step: max(2, int(math.Round(r2/r1)))}
	reaches := func(limit int) bool {
		got, err := BernoulliCUSUM{c.Step, limit}.RunLength(inControl)
		return err == nil && got >= arl
	}
	low, high := 0, 8
	for !reaches(high) {
		if low, high = high, 2*high; high > MaxCUSUM {
			return c, inputError("a run length of %v needs a limit over %d", arl, MaxCUSUM)
		}
	}
	for high-low > 1 {
		if middle := (low + high) / 2; reaches(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	c.Limit = high
	return c, nil
}

// RunLength is the exact mean number of items to an alarm, from s = 0, when items fail
// independently with probability p. It solves L(s) = 1 + (1−p)·L(max(0, s−1)) +
// p·L(s+Step−1) by elimination from s = 0 up, in which every coefficient is positive.
func (c BernoulliCUSUM) RunLength(p float64) (float64, error) {
	if !(p > 0 && p < 1) || c.Step < 2 || c.Limit < 1 || c.Limit > MaxCUSUM {
		return 0, inputError("share %v, step %d, limit %d", p, c.Step, c.Limit)
	}
	reach := c.Step - 1
	constant := make([]float64, c.Limit)
	// weights[s][j] is the coefficient of L(s+1+j) in L(s) = constant + Σ.
	weights := make([][]float64, c.Limit)
	flat := make([]float64, c.Limit*reach)
	for s := range weights {
		weights[s], flat = flat[:reach], flat[reach:]
		if s == 0 {
			constant[0], weights[0][reach-1] = 1/p, 1
			continue
		}
		before := weights[s-1]
		scale := 1 / (1 - (1-p)*before[0])
		constant[s] = scale * (1 + (1-p)*constant[s-1])
		for j := 1; j < reach; j++ {
			weights[s][j-1] = scale * (1 - p) * before[j]
		}
		weights[s][reach-1] += scale * p
	}
	length := make([]float64, c.Limit)
	for s := c.Limit - 1; s >= 0; s-- {
		length[s] = constant[s]
		for j := range min(reach, c.Limit-1-s) {
			length[s] += weights[s][j] * length[s+1+j]
		}
	}
	return length[0], nil
}
