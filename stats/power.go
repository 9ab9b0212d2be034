package stats

import "math"

// MaxPairs bounds the number of pairs that power is computed for.
const MaxPairs = 1_000_000

// PairedDesign is a planned comparison of two runs of the same cases by the
// exact test of [McNemar].
type PairedDesign struct {
	Worse  float64 // share of cases expected to pass at the first run only
	Better float64 // share of cases expected to pass at the second run only
	Alpha  float64 // level of the test, such as 0.05
	Side   Side
}

// Power returns the probability that the test finds a difference with this number of
// pairs, computed exactly as a sum over the number of flips.
//
// Source: S. W. Duffy, "Asymptotic and exact power for the McNemar test and its
// analogue with R controls per case", Biometrics 40 (1984) 1005-1015.
func (d PairedDesign) Power(pairs int) (float64, error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	if pairs < 1 || pairs > MaxPairs {
		return 0, inputError("%d pairs are not between 1 and %d", pairs, MaxPairs)
	}
	flip := d.Worse + d.Better
	if flip == 0 {
		return 0, nil
	}
	// Further from the mean than this lies less than 1e-15 of the distribution.
	mean := flip * float64(pairs)
	spread := 9*math.Sqrt(mean*(1-flip)) + 60
	from, to := max(0, int(mean-spread)), min(pairs, int(mean+spread))
	power, before := 0.0, atLeast(from, pairs, flip)
	critical := 0
	for n := from; n <= to; n++ {
		after := atLeast(n+1, pairs, flip)
		critical = d.critical(n, critical)
		power += (before - after) * d.rejects(n, critical, d.Worse/flip)
		before = after
	}
	return min(1, max(0, power)), nil
}

// Pairs returns the smallest number of pairs whose power reaches the given one. Exact
// power is not quite monotone; with one pair less than the result, it is too low.
func (d PairedDesign) Pairs(power float64) (int, error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	if !(power > 0 && power < 1) {
		return 0, inputError("power %v is not between 0 and 1", power)
	}
	reaches := func(n int) bool {
		p, _ := d.Power(n) // checked above, and n is in range
		return p >= power
	}
	low, high := 0, 8
	for !reaches(high) {
		if low, high = high, 2*high; high > MaxPairs {
			return 0, inputError("more than %d pairs are needed", MaxPairs)
		}
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; reaches(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}

func (d PairedDesign) check() error {
	switch {
	case !(d.Worse >= 0 && d.Better >= 0 && d.Worse+d.Better <= 1):
		return inputError("shares %v and %v of flips", d.Worse, d.Better)
	case !(d.Alpha > 0 && d.Alpha < 1):
		return inputError("level %v is not between 0 and 1", d.Alpha)
	case d.Side < TwoSided || d.Side > SecondMore:
		return inputError("side %d of a test", d.Side)
	}
	return nil
}

// critical returns the smallest number of flips one way, of n flips, at which
// the test rejects. It is no smaller than for fewer flips, so that the search
// begins there.
func (d PairedDesign) critical(n, from int) int {
	level := d.Alpha
	if d.Side == TwoSided {
		level /= 2
	}
	rejected := func(k int) bool { return atLeast(k, n, 0.5) <= level }
	if rejected(from) {
		return from
	}
	low, high := from, from+1
	for step := 1; !rejected(high) && high <= n; step *= 2 {
		low, high = high, high+step
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; rejected(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// rejects returns the probability that the test rejects, of n flips each of
// which is for the worse with the given probability.
func (d PairedDesign) rejects(n, critical int, worse float64) float64 {
	if critical > n {
		return 0
	}
	first, second := atLeast(critical, n, worse), atLeast(critical, n, 1-worse)
	switch d.Side {
	case FirstMore:
		return first
	case SecondMore:
		return second
	}
	return min(1, first+second)
}
