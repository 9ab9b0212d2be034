package gate

import "github.com/proviso-eval/proviso/stats"

// Flip rates without a change: from flakyRate on, an assertion needs repeats; from
// unfitRate on, it is unfit for gating. Both are choices; repeats pay off above the
// first.
const (
	flakyRate = 0.02
	unfitRate = 0.20

	proposedRepeats = 3
)

// Flake describes how often an assertion flips without a change.
type Flake struct {
	Assertion string
	Rate      stats.Estimate // probability that two runs of a case disagree, with a 95 % interval
	Pairs     int
	Repeats   int  // suggested repeats; 0 if one run of each case is enough
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
