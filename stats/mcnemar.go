package stats

import "gonum.org/v1/gonum/mathext"

// Side is the direction of the differences that a test detects.
type Side int

// The sides of a paired test.
const (
	TwoSided   Side = iota // either direction
	FirstMore              // more pairs passed only in the first run: results got worse
	SecondMore             // more pairs passed only in the second run: results got better
)

// McNemar returns the p-value of McNemar's exact test from the numbers of pairs that
// passed in only one of two runs. The null hypothesis is that flips are equally likely in
// both directions. With midP the observed table counts half: the test is less
// conservative and still close to its level. Without flips the p-value is 1.
//
// Sources: Q. McNemar, "Note on the sampling error of the difference between
// correlated proportions or percentages", Psychometrika 12 (1947) 153-157; M. W.
// Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs
// data: mid-p and asymptotic are better than exact conditional", BMC Medical
// Research Methodology 13 (2013) 91.
func McNemar(onlyFirst, onlySecond int, side Side, midP bool) (float64, error) {
	if onlyFirst < 0 || onlySecond < 0 {
		return 0, inputError("a negative count: %d and %d flips", onlyFirst, onlySecond)
	}
	n, k, sides := onlyFirst+onlySecond, onlyFirst, 1.0
	switch side {
	case FirstMore:
	case SecondMore:
		k = onlySecond
	case TwoSided:
		k, sides = max(onlyFirst, onlySecond), 2
	default:
		return 0, inputError("side %d of a test", side)
	}
	if n == 0 {
		return 1, nil
	}
	p := atLeast(k, n)
	if midP {
		p = (p + atLeast(k+1, n)) / 2
	}
	return min(1, sides*p), nil
}

// atLeast returns the probability of k or more heads in n throws of a coin.
func atLeast(k, n int) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), 0.5)
}
