package align

import (
	"cmp"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// tally counts the labels of a group.
type tally struct {
	stats.Confusion
	weights    [cells]float64 // sum of label weights per cell
	squares    [cells]float64 // sum of squared label weights per cell
	listed     bool           // whether the group is in the list of groups
	weighted   bool           // some labels represent more than one output
	errors     int
	outside    bool        // labels of outputs that are not in the run
	unlabelled stats.Count // the file's verdicts without a human label
	differ     []Disagreement
}

// The cells of a confusion matrix.
const (
	truePass = iota
	falsePass
	trueFail
	falseFail
	cells
)

// count adds a label and the judge's verdict.
func (t *tally) count(human, verdict proviso.Status, weight float64) {
	t.weighted = t.weighted || weight != 1
	cell := countIn(&t.Confusion, human, verdict)
	t.weights[cell] += weight
	t.squares[cell] += weight * weight
}

// countIn counts a judge's verdict on a labelled output, and returns its cell.
func countIn(c *stats.Confusion, human, verdict proviso.Status) int {
	switch {
	case human == proviso.Pass && verdict == proviso.Pass:
		c.TP++
		return truePass
	case human == proviso.Pass:
		c.FN++
		return falseFail
	case verdict == proviso.Pass:
		c.FP++
		return falsePass
	}
	c.TN++
	return trueFail
}

// share returns the weighted share of the cell of among two cells, with the effective
// number of labels (Kish: (Σw)² / Σw²).
func (t *tally) share(of, other int) stats.Stratum {
	sum, squares := t.weights[of]+t.weights[other], t.squares[of]+t.squares[other]
	if squares == 0 {
		return stats.Stratum{}
	}
	return stats.Stratum{Share: t.weights[of] / sum, Size: sum * sum / squares}
}

// agreement computes the rates of a group from its counts.
func (t *tally) agreement(g group, p *population) Agreement {
	a := Agreement{Assertion: g.assertion, Judge: g.judge, N: t.N(), Errors: t.errors, Confusion: t.Confusion,
		Judged: stats.Count{Pass: t.TP + t.FP + t.unlabelled.Pass, N: t.N() + t.unlabelled.N}, Disagreements: t.differ}
	if p != nil {
		a.Hashes = slices.Sorted(slices.Values(p.hashes))
		a.Judged = p.judged
	}
	// Outputs that the judge passed come first: a gate would miss them.
	slices.SortStableFunc(a.Disagreements, func(x, y Disagreement) int { return cmp.Compare(x.Judge, y.Judge) })
	if a.Judged.N > 0 {
		a.JudgePassRate = new(a.Judged.Share())
	}
	if a.N == 0 {
		return a
	}
	passed, failed := t.share(truePass, falsePass), t.share(falseFail, trueFail)
	if a.Weighted = t.weighted; a.Weighted {
		if p == nil { // without a run, only the weights tell about the other outputs
			a.Judged = t.standsFor()
			a.JudgePassRate = new(a.Judged.Share())
		}
		if r, err := stats.PartlyVerified(a.Judged, passed, failed, confidence); err == nil {
			a.TPR, a.TNR, a.Kappa, a.Agreement, a.BaseRate = r.TPR, r.TNR, r.Kappa, &r.Agreement, &r.BaseRate
		}
	} else {
		a.rates()
	}
	a.correct(passed, failed, t.outside && p != nil)
	return a
}

// standsFor returns the number of outputs that the labels were sampled from.
func (t *tally) standsFor() stats.Count {
	pass, fail := math.Round(t.weights[truePass]+t.weights[falsePass]), math.Round(t.weights[trueFail]+t.weights[falseFail])
	return stats.Count{Pass: int(min(pass, math.MaxInt32)), N: int(min(pass+fail, 2*math.MaxInt32))}
}

// IndependentLabels returns the judge's measured errors as counts of independent labels.
// It returns false if there are too few labels of good or of bad outputs.
//
// If the labels were sampled separately from the judge's passes and fails, its error
// rates are not the shares of the counts. The result then has counts with the same rates
// and with Wilson intervals of the same width, as in [stats.WilsonEffective].
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

// split returns the two counts, with a sum of at most most, whose share and interval are
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
