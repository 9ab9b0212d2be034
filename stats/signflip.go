package stats

import (
	"math"
	"slices"
)

// Limits of the exact distribution of [SignFlip].
const (
	signFlipWork = 30_000_000 // additions that the distribution may cost
	signFlipTail = 10         // standard deviations; less than 1e-21 of the distribution lies beyond them
)

// SignFlip returns the p-value of the exact sign-flip test on paired differences, first −
// second, one for each independent unit: a case, or the sum over a cluster of cases.
// FirstMore detects that the first run is better. The null hypothesis is that each
// difference is as likely to have the opposite sign. With midP the probability of the
// observed sum counts half. Without differences the p-value is 1. If all differences
// have the same size, the result equals that of [McNemar].
//
// The distribution of the sum is computed by convolution on a grid. If the differences
// have no common divisor that is coarse enough, they are rounded to a fine grid, which
// keeps the test exact for the rounded differences, because rounding treats both signs
// alike. If that costs too much, as for thousands of different sizes, the result is the
// saddlepoint approximation. A sum so extreme that its probability is below 1e-21 gets
// Hoeffding's upper bound.
//
// Sources: R. A. Fisher, "The Design of Experiments" (1935) section 21; M. Pagano and
// D. Tritchler, "On Obtaining Permutation Distributions in Polynomial Time", JASA 78
// (1983) 435-440; J. Robinson, "Saddlepoint Approximations for Permutation Tests and
// Confidence Intervals", JRSS B 44 (1982) 91-101; W. Hoeffding, "Probability Inequalities
// for Sums of Bounded Random Variables", JASA 58 (1963) 13-30.
func SignFlip(differences []float64, side Side, midP bool) (float64, error) {
	if side < TwoSided || side > SecondMore {
		return 0, inputError("side %d of a test", side)
	}
	for _, d := range differences {
		if !isFinite(d) {
			return 0, inputError("a difference of %v", d)
		}
	}
	sizes := signSizes(differences)
	if len(sizes) == 0 {
		return 1, nil
	}
	direction := func(sum float64) float64 {
		switch side {
		case SecondMore:
			return -sum
		case TwoSided:
			return math.Abs(sum)
		}
		return sum
	}
	sides := 1.0
	if side == TwoSided {
		sides = 2
	}
	step, groups := signGrid(sizes)
	if groups == nil {
		sum := 0.0
		for _, d := range differences {
			sum += d
		}
		return min(1, sides*saddlepoint(sizes, direction(sum))), nil
	}
	sum := 0.0
	for _, d := range differences {
		sum += math.Round(d / step)
	}
	tail, point := signTail(groups, int(direction(sum)))
	if midP {
		tail -= point / 2
	}
	return min(1, sides*tail), nil
}

// SignFlipLeast returns the smallest one-sided p-value that [SignFlip] could return for
// differences of these sizes, if all had the same sign. A test whose smallest p-value is
// above its level cannot reject.
func SignFlipLeast(differences []float64, midP bool) float64 {
	n := 0
	for _, d := range differences {
		if d != 0 {
			n++
		}
	}
	if n == 0 {
		return 1
	}
	if midP {
		n++
	}
	return math.Ldexp(1, -n)
}

// signGroup counts the differences of one size on the grid.
type signGroup struct{ size, count int }

// signSizes returns the sorted sizes of the differences that are not 0.
func signSizes(differences []float64) []float64 {
	sizes := make([]float64, 0, len(differences))
	for _, d := range differences {
		if d != 0 {
			sizes = append(sizes, math.Abs(d))
		}
	}
	slices.Sort(sizes)
	return sizes
}

// signGrid returns the coarsest step that all sizes are multiples of, or else a step so
// fine that rounding moves the sum by less than 1 % of its standard deviation. groups
// counts each multiple; it is nil if no such step is cheap enough.
func signGrid(sizes []float64) (step float64, groups []signGroup) {
	step = divisor(sizes)
	groups = onGrid(sizes, step)
	if signWork(groups) <= signFlipWork {
		return step, groups
	}
	squares := 0.0
	for _, v := range sizes {
		squares += v * v
	}
	step = math.Sqrt(squares/float64(len(sizes))) / 30
	groups = onGrid(sizes, step)
	if signWork(groups) > signFlipWork {
		return 0, nil
	}
	return step, groups
}

// divisor returns the greatest common divisor of sorted positive numbers, up to rounding.
func divisor(sizes []float64) float64 {
	largest := sizes[len(sizes)-1]
	tolerance := largest * 1e-9
	step, last := largest, 0.0
	for _, v := range sizes {
		if v == last {
			continue
		}
		last = v
		a, b := v, step
		for b > tolerance {
			r := math.Mod(a, b)
			if b-r <= tolerance {
				r = 0
			}
			a, b = b, r
		}
		if step = a; step <= largest*1e-6 {
			return largest * 1e-6 // no useful divisor
		}
	}
	return step
}

func onGrid(sorted []float64, step float64) []signGroup {
	var groups []signGroup
	for _, v := range sorted {
		size := int(math.Round(v / step))
		switch n := len(groups); {
		case size == 0:
		case n > 0 && groups[n-1].size == size:
			groups[n-1].count++
		default:
			groups = append(groups, signGroup{size, 1})
		}
	}
	return groups
}

// signReach returns how far from 0 the distribution of the sum is computed.
func signReach(groups []signGroup) int {
	total, squares := 0.0, 0.0
	for _, g := range groups {
		total += float64(g.size) * float64(g.count)
		squares += float64(g.size) * float64(g.size) * float64(g.count)
	}
	return int(min(total, signFlipTail*math.Sqrt(squares)+1, math.MaxInt32))
}

// signWork estimates the additions that the distribution costs.
func signWork(groups []signGroup) float64 {
	if len(groups) == 1 {
		return 0
	}
	work, reach := 0.0, 2*float64(signReach(groups))
	for _, g := range groups {
		work += reach * min(float64(g.count)+1, signFlipTail*math.Sqrt(float64(g.count))+1)
	}
	return work
}

// signTail returns the probability that the sum is at least a value, and that it equals the
// value.
func signTail(groups []signGroup, sum int) (tail, point float64) {
	if len(groups) == 1 {
		g := groups[0]
		k := (sum/g.size + g.count) / 2
		tail = atLeast(k, g.count)
		return tail, tail - atLeast(k+1, g.count)
	}
	reach := signReach(groups)
	if sum > reach {
		squares := 0.0
		for _, g := range groups {
			squares += float64(g.size) * float64(g.size) * float64(g.count)
		}
		return math.Exp(-float64(sum) * float64(sum) / (2 * squares)), 0
	}
	if sum < -reach {
		return 1, 0
	}
	now, next := make([]float64, 2*reach+1), make([]float64, 2*reach+1)
	now[reach] = 1
	used := 0 // larger sums are not reachable yet
	for _, g := range groups {
		from, weights := flips(g.count)
		clear(next)
		for i, w := range weights {
			shift := g.size * (2*(from+i) - g.count)
			low, high := max(reach-used, -shift), min(reach+used, 2*reach-shift)
			if low > high {
				continue
			}
			target := next[low+shift : high+shift+1]
			for j, v := range now[low : high+1] {
				target[j] += w * v
			}
		}
		now, next = next, now
		used = min(reach, used+g.size*g.count)
	}
	for _, v := range slices.Backward(now[reach+sum:]) { // the smallest first
		tail += v
	}
	return min(1, tail), now[reach+sum]
}

// flips returns the probabilities of from, from+1, … positive signs among n. It leaves out
// the negligible tails.
func flips(n int) (from int, weights []float64) {
	half := signFlipTail*math.Sqrt(float64(n))/2 + 1
	from = max(0, int(float64(n)/2-half))
	to := min(n, int(float64(n)/2+half))
	weights = make([]float64, to-from+1)
	all, _ := math.Lgamma(float64(n + 1))
	for i := range weights {
		k := from + i
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		weights[i] = math.Exp(all - a - b - float64(n)*math.Ln2)
	}
	return from, weights
}

// saddlepoint returns the probability that the sum reaches a value, by the formula of
// Lugannani and Rice with the cumulants of a randomly signed sum.
func saddlepoint(sizes []float64, sum float64) float64 {
	largest, total, squares := sizes[len(sizes)-1], 0.0, 0.0
	for _, v := range sizes {
		total += v / largest
		squares += square(v / largest)
	}
	sum /= largest
	switch {
	case sum < 0:
		return 1 - saddlepoint(sizes, -sum*largest)
	case sum > signFlipTail*math.Sqrt(squares) || sum > 0.999*total:
		return math.Exp(-sum * sum / (2 * squares))
	case sum < 1e-3*math.Sqrt(squares):
		return normalCDF(-sum / math.Sqrt(squares))
	}
	// The mean increases with the tilt, so bisection finds the saddlepoint.
	low, high := 0.0, 1.0
	mean := func(tilt float64) (m, cumulant, variance float64) {
		for _, v := range sizes {
			x := v / largest
			th := math.Tanh(tilt * x)
			m += x * th
			cumulant += tilt*x + math.Log1p(math.Exp(-2*tilt*x)) - math.Ln2
			variance += x * x * (1 - th*th)
		}
		return m, cumulant, variance
	}
	for m, _, _ := mean(high); m < sum && high < 1e6; m, _, _ = mean(high) {
		low, high = high, 2*high
	}
	for range 40 {
		middle := (low + high) / 2
		if m, _, _ := mean(middle); m < sum {
			low = middle
		} else {
			high = middle
		}
	}
	tilt := (low + high) / 2
	_, cumulant, variance := mean(tilt)
	w, u := math.Sqrt(max(0, 2*(tilt*sum-cumulant))), tilt*math.Sqrt(variance)
	density := math.Exp(-w*w/2) / math.Sqrt(2*math.Pi)
	return min(1, max(0, normalCDF(-w)+density*(1/u-1/w)))
}
