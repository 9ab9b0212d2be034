package gate

import (
	"fmt"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// Size is the size of a comparison before it runs.
type Size struct {
	Cases      int // independent cases: clusters, if cases have them
	Repeats    int // 0 counts as 1
	Assertions int // distinct assertions; 0 counts as 1

	// Rate and Flips describe the baseline, if it is known: its pass rate, and how often
	// a case flips without a change, as in [Flake].
	Rate, Flips *float64
}

// Plan is what a comparison of a given size can decide.
type Plan struct {
	PassCases int // minimum number of cases for a pass, if nothing changes
	// LikelyCases is the number of cases that pass with a probability of 80 % if nothing
	// changes, for the baseline's pass rate and flips; 0 if these are unknown.
	LikelyCases int
	FailCases   int // number of cases that must break in one assertion to fail it, if none is fixed
	Warnings    []Reason
}

// NewPlan reports what the rules can decide with a given number of cases, before any
// money is spent. Rules that cannot decide are in Warnings, with a sufficient number of
// cases.
func NewPlan(r *proviso.GateRules, size Size) (Plan, error) {
	s, mistakes := settingsOf(r)
	if err := mistakes.Err(); err != nil {
		return Plan{}, err
	}
	size.Repeats, size.Assertions = max(1, size.Repeats), max(1, size.Assertions)
	p := Plan{PassCases: max(s.minCases, fewest(func(n float64) bool { return unseen(n, s.alpha) < s.margin }))}
	p.FailCases = minUnits
	for math.Ldexp(1, -p.FailCases-1) > s.alpha/2/float64(size.Assertions) {
		p.FailCases++
	}
	if size.Rate != nil && size.Flips != nil {
		// Without a change, the variance of a case's difference is the variance of its
		// flips.
		deviation := neededPower * math.Sqrt(max(0, *size.Flips)/float64(size.Repeats))
		one := size.summary()
		p.LikelyCases = max(s.minCases, fewest(func(n float64) bool {
			d, err := one.Times(n).Difference(1 - 2*s.alpha)
			return err == nil && max(d.Value-d.Low, unseen(n, s.alpha))+deviation/math.Sqrt(n) < s.margin
		}))
	}
	warn := func(rule, format string, args ...any) {
		p.Warnings = append(p.Warnings, Reason{Rule: rule, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case size.Cases < s.minCases:
		warn("min-cases", "Only fail or inconclusive is possible: a pass needs %s, and there are %d.", count(s.minCases, "independent case"), size.Cases)
	case size.Cases < p.PassCases:
		warn("margin", "No pass is possible without an improvement: %s are too few to exclude a drop of %s, even if nothing changes; %d would do.", count(size.Cases, "case"), points(s.margin), p.PassCases)
	case size.Cases < p.LikelyCases:
		warn("margin", "A pass is unlikely even if nothing changes: with a pass rate of %s, %s of flips and %s, %s would pass in 8 of 10 runs; there are %d.", percent(*size.Rate), percent(*size.Flips), count(size.Repeats, "repeat"), count(p.LikelyCases, "case"), size.Cases)
	}
	if size.Cases < p.FailCases {
		warn("assertions", "No assertion can fail the statistical test: %s must break in the same one; there are %d.", count(p.FailCases, "case"), size.Cases)
	}
	return p, nil
}

// summary returns the contribution of one case, if nothing changes. The variance of a
// case's mean is the variance between cases plus that of flips, which repeats reduce.
func (s Size) summary() stats.PairedSummary {
	rate := min(1, max(0, *s.Rate))
	bernoulli := rate * (1 - rate)
	one := stats.PairedSummary{First: rate, Second: rate, FirstSize: 1, SecondSize: 1}
	if bernoulli == 0 {
		return one
	}
	within := min(bernoulli, max(0, *s.Flips)/2)
	between, k := bernoulli-within, float64(s.Repeats)
	mean := between + within/k
	one.FirstSize = min(k, bernoulli/mean)
	one.SecondSize = one.FirstSize
	one.Correlation = between / mean
	one.Correction = 1 / (2 * mean)
	return one
}

// maxCases bounds the search for a number of cases.
const maxCases = 1_000_000

// fewest returns the smallest sufficient number of cases, at most maxCases.
func fewest(enough func(n float64) bool) int {
	low, high := 0, 1
	for !enough(float64(high)) {
		if low, high = high, 2*high; high > maxCases {
			return maxCases
		}
	}
	for high-low > 1 {
		if middle := (low + high) / 2; enough(float64(middle)) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
