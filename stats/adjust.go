package stats

import (
	"cmp"
	"slices"
)

// Holm returns p-values adjusted for multiple tests, in the order given. If every test with
// an adjusted value at or below a level counts as a finding, the probability of even one
// false finding is at most that level. Use it for gates.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian Journal of Statistics 6 (1979) 65-70.
func Holm(p []float64) ([]float64, error) {
	order, err := ascending(p)
	if err != nil {
		return nil, err
	}
	adjusted, highest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = highest
	}
	return adjusted, nil
}

// Testable returns the positions of the tests that may enter [Holm] at a level. least holds
// the smallest p-value that each discrete test can have. A test that cannot reject at the
// level left for it is excluded and needs no correction. least must not depend on the
// direction of the result; [SignFlipLeast] does not.
//
// Sources: R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46
// (1990) 515-522; with Holm's method G. Hommel and F. Krummenauer, "Improvements and
// modifications of Tarone's multiple test procedure for discrete data", Biometrics 54
// (1998) 673-681.
func Testable(least []float64, level float64) []int {
	for tests := 1; ; tests++ {
		var able []int
		for i, p := range least {
			if p <= level/float64(tests) {
				able = append(able, i)
			}
		}
		if len(able) <= tests {
			return able
		}
	}
}

// ascending returns the positions of p-values in ascending order.
func ascending(p []float64) ([]int, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, inputError("p-value %v is not between 0 and 1", v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order, nil
}
