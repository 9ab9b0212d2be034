package stats

import (
	"cmp"
	"math"
	"slices"
)

// OddsRatio returns how many times the odds of one yes-or-no property are higher where
// another one is yes. The counts are the items where both are yes, only the first, only the
// second, and neither. The ratio does not change if the chance of seeing an item depends on
// one of the two properties, such as when dissatisfied users vote more often. If it depends
// on both together, the ratio cannot be identified.
//
// Half a count is added to each cell, and the logarithm has Woolf's variance: J. B. S.
// Haldane, "The estimation and significance of the logarithm of a ratio of frequencies",
// Annals of Human Genetics 20 (1956) 309-311. TestCoverageOfAssociation checks the
// coverage.
func OddsRatio(both, onlyFirst, onlySecond, neither int, confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	if err != nil {
		return Estimate{}, err
	}
	if min(both, onlyFirst, onlySecond, neither) < 0 {
		return Estimate{}, inputError("counts %d, %d, %d, %d", both, onlyFirst, onlySecond, neither)
	}
	if both+onlyFirst+onlySecond+neither == 0 {
		return Estimate{}, inputError("nothing is counted")
	}
	log, variance := 0.0, 0.0
	for i, n := range [...]int{both, neither, onlyFirst, onlySecond} {
		c := float64(n) + 0.5
		variance += 1 / c
		if i < 2 {
			log += math.Log(c)
		} else {
			log -= math.Log(c)
		}
	}
	half := z * math.Sqrt(variance)
	return Estimate{math.Exp(log), Interval{math.Exp(log - half), math.Exp(log + half)}}, nil
}

// AUC returns the probability that a random item of the first group has a higher score
// than one of the second; equal scores count half (Mann and Whitney). It is NaN if a group
// is empty. For an interval, use [Bootstrap.Interval] over clusters.
func AUC(first, second []float64) float64 {
	type item struct {
		score float64
		first bool
	}
	all := make([]item, 0, len(first)+len(second))
	for _, s := range first {
		all = append(all, item{s, true})
	}
	for _, s := range second {
		all = append(all, item{s, false})
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Compare(a.score, b.score) })
	ranks := 0.0 // sum of the ranks in the first group
	for i := 0; i < len(all); {
		end, of := i, 0
		for ; end < len(all) && all[end].score == all[i].score; end++ {
			if all[end].first {
				of++
			}
		}
		ranks += float64(of) * float64(i+end+1) / 2
		i = end
	}
	n, m := float64(len(first)), float64(len(second))
	return (ranks - n*(n+1)/2) / (n * m)
}

// AUCOfVerdicts is [AUC] for yes-or-no scores: the mean of the share of yes in the first
// group and the share of no in the second. Its variance is that of the shares after one
// count of each kind is added; TestCoverageOfAssociation checks the coverage.
func AUCOfVerdicts(first, second Count, confidence float64) (Estimate, error) {
	z, err := quantile(confidence)
	if err != nil {
		return Estimate{}, err
	}
	value, variance := 0.5, 0.0
	for i, c := range [...]Count{first, second} {
		if c.N < 1 || c.Pass < 0 || c.Pass > c.N {
			return Estimate{}, inputError("%d of %d", c.Pass, c.N)
		}
		share, more := float64(c.Pass)/float64(c.N), float64(c.Pass+1)/float64(c.N+2)
		if i == 0 {
			value += share / 2
		} else {
			value -= share / 2
		}
		variance += more * (1 - more) / float64(c.N+2)
	}
	half := z * math.Sqrt(variance) / 2
	return Estimate{value, Interval{value - half, value + half}.clamp(0, 1, value)}, nil
}
