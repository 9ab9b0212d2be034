package gate

import "github.com/proviso-eval/proviso/stats"

// Rates of flips without a change from which an assertion needs repeats, or is unfit for
// gating. Both are choices; repeats pay off above the first.
const (
	flakyRate = 0.02
	unfitRate = 0.20

	proposedRepeats = 3
)

// Flake is how often an assertion flips without a change.
type Flake struct {
	Assertion string
	Rate      stats.Estimate // chance that two runs of a case disagree, at 95 %
	Pairs     int
	Repeats   int  // that are proposed; 0 if one run of each case is enough
	Unfit     bool // flips too often to gate on
}

// Flakiness returns the flip rate of each assertion from an A/A comparison: two runs of
// the same prompts, models and cases.
func Flakiness(aa *Comparison) []Flake {
	var list []Flake
	for i := range aa.Assertions {
		a := &aa.Assertions[i]
		if a.Pairs == 0 {
			continue
		}
		f := Flake{Assertion: a.Assertion, Pairs: a.Pairs, Rate: stats.Estimate{Value: min(1, a.Flips)}}
		f.Rate.Interval = stats.Interval{Low: 0, High: 1}
		if i, err := stats.WilsonEffective(f.Rate.Value, a.Units, confidence); err == nil {
			f.Rate.Interval = i
		}
		if f.Rate.Value > flakyRate {
			f.Repeats = proposedRepeats
		}
		f.Unfit = f.Rate.Value > unfitRate
		list = append(list, f)
	}
	return list
}
