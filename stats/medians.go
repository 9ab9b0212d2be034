package stats

import (
	"math"
	"slices"
)

// PairedMedians returns the medians of two runs of the same cases and their difference,
// first − second. Values may have any unit. effect is the factor by which clusters inflate
// the variance, at least 1; it is 1 for independent cases. The intervals are approximate
// below about 10 cases.
//
// Sources: D. G. Bonett and R. M. Price, "Interval estimation for linear functions of
// medians in within-subjects and mixed designs", British Journal of Mathematical and
// Statistical Psychology 73 (2020) 333-346; R. M. Price and D. G. Bonett, "Estimating the
// variance of the sample median", Journal of Statistical Computation and Simulation 68
// (2001) 295-305.
func PairedMedians(first, second []float64, effect, confidence float64) (a, b, difference Estimate, err error) {
	z, err := quantile(confidence)
	n := len(first)
	switch {
	case err != nil:
		return a, b, difference, err
	case n == 0 || len(second) != n:
		return a, b, difference, inputError("%d and %d values of the same cases", n, len(second))
	case !(effect >= 1) || math.IsInf(effect, 1):
		return a, b, difference, inputError("an effect of clusters of %v", effect)
	}
	for i := range first {
		if !isFinite(first[i]) || !isFinite(second[i]) {
			return a, b, difference, inputError("values %v and %v", first[i], second[i])
		}
	}
	one, errorOne := median(first)
	two, errorTwo := median(second)
	errorOne, errorTwo = errorOne*math.Sqrt(effect), errorTwo*math.Sqrt(effect)
	below := 0.25
	for i := range first {
		if first[i] < one && second[i] < two {
			below++
		}
	}
	below /= float64(n + 1 - n%2)
	variance := square(errorOne) + square(errorTwo) - 2*(4*below-1)*errorOne*errorTwo
	around := func(value, deviation float64) Estimate {
		return Estimate{value, Interval{value - z*deviation, value + z*deviation}}
	}
	return around(one, errorOne), around(two, errorTwo), around(one-two, math.Sqrt(max(0, variance))), nil
}

// median returns the median with its standard error from two order statistics.
func median(values []float64) (value, deviation float64) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := len(sorted)
	value = quantileOf(sorted, 0.5)
	if n < 2 {
		return value, 0
	}
	rank := max(1, int(math.Round(float64(n)/2-math.Sqrt(float64(n)))))
	outside := 1 - atLeast(rank, n) // fewer than rank values lie below the median
	return value, (sorted[n-rank] - sorted[rank-1]) / (2 * normalQuantile(1-outside))
}
