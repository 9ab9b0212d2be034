package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Mix is how much the shares of groups differ between two samples.
type Mix struct {
	ChiSquare float64
	Freedom   int     // degrees of freedom
	P         float64 // chance of a difference at least as large if the mixes are equal
	Distance  float64 // total variation: the share of the second sample that would have to move
}

// CompareMix compares the counts of groups in two samples by Pearson's test of homogeneity.
// overdispersion, at least 1, is how many times more the counts vary than those of
// independent items, such as when conversations have several items.
func CompareMix(first, second []int, overdispersion float64) (Mix, error) {
	if len(first) != len(second) {
		return Mix{}, inputError("%d and %d groups", len(first), len(second))
	}
	n, m := 0.0, 0.0
	for i := range first {
		if first[i] < 0 || second[i] < 0 {
			return Mix{}, inputError("a negative count")
		}
		n, m = n+float64(first[i]), m+float64(second[i])
	}
	if n == 0 || m == 0 {
		return Mix{}, inputError("nothing is counted")
	}
	out := Mix{P: 1, Freedom: -1}
	for i := range first {
		a, b := float64(first[i]), float64(second[i])
		if a+b == 0 {
			continue
		}
		out.Freedom++
		out.Distance += math.Abs(a/n-b/m) / 2
		pooled := (a + b) / (n + m)
		out.ChiSquare += square(a-n*pooled)/(n*pooled) + square(b-m*pooled)/(m*pooled)
	}
	out.ChiSquare /= max(1, overdispersion)
	if out.Freedom < 1 {
		return Mix{P: 1}, nil
	}
	out.P = mathext.GammaIncRegComp(float64(out.Freedom)/2, out.ChiSquare/2)
	return out, nil
}
