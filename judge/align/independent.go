package align

import (
	"math"

	"github.com/proviso-eval/proviso/stats"
)

// IndependentLabels returns the measured errors of the judge as counts of independent labels. It
// returns false if there are too few labels of good or of bad outputs.
//
// Labels that were sampled separately from what the judge passed and what it failed do
// not have its error rates as shares of their counts. For them the counts are those that
// give the same rates with Wilson intervals of the same width, as [stats.WilsonEffective]
// describes it.
func (e Entry) IndependentLabels() (stats.Confusion, bool) {
	good, bad := e.TP+e.FN, e.TN+e.FP
	if !e.measured() || e.TPR == nil || e.TNR == nil {
		return stats.Confusion{}, false
	}
	if same(e.TPR.Value, e.TP, good) && same(e.TNR.Value, e.TN, bad) {
		return e.Agreement.Confusion, true
	}
	var c stats.Confusion
	c.TP, c.FN = split(e.TPR, good)
	c.TN, c.FP = split(e.TNR, bad)
	return c, true
}

func same(rate float64, pass, n int) bool { return math.Abs(rate-float64(pass)/float64(n)) < 1e-9 }

// split returns the counts, of at most the given sum, whose share and interval are
// nearest to an estimate.
func split(e *stats.Estimate, most int) (yes, no int) {
	n := 1
	for n < most {
		i, err := stats.WilsonEffective(e.Value, float64(n), confidence)
		if err != nil || i.Width() <= e.Width() {
			break
		}
		n++
	}
	yes = int(math.Round(e.Value * float64(n)))
	return yes, n - yes
}
