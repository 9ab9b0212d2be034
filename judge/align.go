package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// Confidence is the confidence level of all intervals of an alignment.
const Confidence = 0.95

// Agreements holds how well the verdicts of judges agree with human labels.
type Agreements struct {
	Assertions []Agreement

	Unlabelled int // rows of the file without a human label
	Stale      int // labels for an output that the run does not have
	Skipped    int // labels of assertions that did not apply
}

// Agreement is the agreement of one judge with human labels on one assertion. A
// positive is an output that people pass: TPR is the share of good outputs that
// the judge passes, TNR the share of bad outputs that it fails. Errors of the judge
// are counted and left out of everything else.
//
// TPR and TNR are shares of the labels with Wilson's interval. If the outputs to
// label were sampled separately from what the judge passed and what it failed
// ([SheetOptions]), all rates are estimates for the outputs that the labels stand
// for, not for the labels: see [stats.PartlyVerified].
type Agreement struct {
	Assertion string
	Judge     string // identity, "" if the labels have none
	N         int    // labels with a verdict of the judge
	Errors    int    // labels whose output the judge could not decide
	stats.Confusion

	Agreement *float64        // share of equal verdicts; like all fields below, nil without labels
	Kappa     *stats.Estimate // nil if all verdicts are the same
	TPR       *stats.Estimate // nil without an output that people pass
	TNR       *stats.Estimate // nil without an output that people fail
	BaseRate  *float64        // share that people pass

	// JudgePassRate is the share that the judge passed of all outputs that it
	// decided, labelled or not.
	JudgePassRate *float64
	// Corrected estimates the pass rate that people would have given.
	Corrected   *stats.Estimate
	Method      Method          // of Corrected
	RoganGladen *stats.Estimate // the same from the judge's error rates alone; nil if they were not measured on a random sample
	Halve       int             // how many more labels would halve the interval of Corrected; 0 if no number can

	Judged        stats.Count // all outputs that the judge decided, labelled or not
	Weighted      bool        // the labels were sampled separately from passes and fails
	Hashes        []string    // of the assertion's texts ([AssertionHash]); empty without a run
	Disagreements []Disagreement
}

// Method is how a pass rate was corrected.
type Method string

// The methods.
const (
	MethodCounted           Method = "counted"            // every output is labelled, so the rate of the labels is exact
	MethodPredictionPowered Method = "prediction-powered" // some of the judged outputs are labelled
	MethodRoganGladen       Method = "rogan-gladen"       // the labels are of other outputs
)

// Disagreement is an output on which the judge and the human label differ.
type Disagreement struct {
	Case     string
	Row      int // index in the run, -1 without one
	Human    proviso.Status
	Judge    proviso.Status
	Reason   string   // the judge's, "" without a run
	Evidence []string // quotes of the output
	Note     string   // the person's
}

// Align compares labels with the verdicts of judges. A label without a verdict of a
// judge in the file uses the verdict of the run on its assertion, in the row of its
// case; run may be nil. If labels do not match the run, the error is
// [proviso.Mistakes] with all of them. Assertions are in the order of their first
// label.
func Align(labels *Labels, run KeptRun) (*Agreements, error) {
	m := newMatcher(labels)
	if run != nil {
		if err := m.read(run); err != nil {
			return nil, err
		}
	}
	if run == nil && !slices.ContainsFunc(labels.Rows, func(l Label) bool { return l.Judged }) {
		m.mistake(position{line: 1}, "", "no label has a verdict of a judge; add a column judge, or name the run that has the verdicts with --run")
		return nil, m.mistakes
	}
	a := aligner{matcher: m, withRun: run != nil, tallies: map[group]*tally{}, used: map[labelled]int{}}
	for i := range labels.Rows {
		a.add(i)
	}
	if len(m.mistakes) > 0 {
		return nil, m.mistakes
	}
	if len(a.order) == 0 {
		return nil, a.nothing()
	}
	out := &Agreements{Unlabelled: a.unlabelled, Stale: a.stale, Skipped: a.skipped}
	for _, g := range a.order {
		out.Assertions = append(out.Assertions, a.tallies[g].agreement(g, m.groups[g]))
	}
	return out, nil
}

// aligner sorts labels into groups.
type aligner struct {
	*matcher
	withRun                    bool
	tallies                    map[group]*tally
	used                       map[labelled]int // line of the label, by verdict
	order                      []group
	unlabelled, stale, skipped int
}

// labelled is a verdict of a run that has a label.
type labelled struct {
	row       int
	assertion string
}

// tally counts the labels of a group.
type tally struct {
	stats.Confusion
	weights    [cells]float64 // sums over the labels of each cell
	squares    [cells]float64 // of their weights, squared
	listed     bool           // in the order of groups
	weighted   bool           // some labels stand for more outputs than their own
	errors     int
	outside    bool        // labels of outputs that are not in the run
	unlabelled stats.Count // verdicts of the file without a human label
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

func (a *aligner) add(i int) {
	l := &a.labels.Rows[i]
	switch {
	case !l.Labelled && !l.Judged:
		a.unlabelled++
		return
	case !a.withRun && !l.Judged:
		a.mistake(l.at[colJudge], "", "no verdict of a judge for this label; fill in the column judge, or name the run that has it with --run")
		return
	}
	if !a.withRun {
		a.take(l, group{l.Assertion, l.JudgeID}, l.Judge, Disagreement{Row: l.Row})
		return
	}
	c, what := a.find(i, a.used)
	switch what {
	case foundStale:
		a.stale++
	case foundNothing:
		t := a.take(l, group{l.Assertion, l.JudgeID}, l.Judge, Disagreement{Row: l.Row})
		t.outside = t.outside || l.Labelled
	case foundVerdict:
		if line, twice := a.used[labelled{c.row, l.Assertion}]; twice {
			a.mistake(l.at[colCase], "", "a second label for row %d of the run and assertion %q; the first is on line %d", c.row, clipped(l.Assertion), line)
			return
		}
		a.used[labelled{c.row, l.Assertion}] = l.at[colCase].line
		d := Disagreement{Row: c.row, Reason: c.reason, Evidence: c.quotes}
		a.take(l, group{l.Assertion, c.judge}, c.status, d)
	}
}

// take counts one verdict, and its label if it has one.
func (a *aligner) take(l *Label, g group, verdict proviso.Status, d Disagreement) *tally {
	t := a.tallies[g]
	if t == nil {
		t = &tally{}
		a.tallies[g] = t
	}
	if l.Labelled && !t.listed && verdict != proviso.Skip {
		t.listed = true
		a.order = append(a.order, g)
	}
	switch {
	case verdict == proviso.Skip:
		a.skipped++
	case !l.Labelled:
		a.unlabelled++
		if verdict == proviso.Pass {
			t.unlabelled.Pass++
		}
		if verdict != proviso.Errored {
			t.unlabelled.N++
		}
	case verdict == proviso.Errored:
		t.errors++
	default:
		t.count(l.Human, verdict, l.Weight)
	}
	if l.Labelled && verdict != l.Human && (verdict == proviso.Pass || verdict == proviso.Fail) {
		d.Case, d.Human, d.Judge, d.Note = l.Case, l.Human, verdict, l.Note
		t.differ = append(t.differ, d)
	}
	return t
}

// count adds a label with the judge's verdict.
func (t *tally) count(human, verdict proviso.Status, weight float64) {
	t.weighted = t.weighted || weight != 1
	cell := trueFail
	switch {
	case human == proviso.Pass && verdict == proviso.Pass:
		cell = truePass
		t.TP++
	case human == proviso.Pass:
		cell = falseFail
		t.FN++
	case verdict == proviso.Pass:
		cell = falsePass
		t.FP++
	default:
		t.TN++
	}
	t.weights[cell] += weight
	t.squares[cell] += weight * weight
}

// share returns the weighted share of one of two cells, with the effective number
// of labels (Kish: (Σw)² / Σw²).
func (t *tally) share(of, other int) stats.Stratum {
	sum, squares := t.weights[of]+t.weights[other], t.squares[of]+t.squares[other]
	if squares == 0 {
		return stats.Stratum{}
	}
	return stats.Stratum{Share: t.weights[of] / sum, Size: sum * sum / squares}
}

// nothing explains why no label could be used.
func (a *aligner) nothing() error {
	first := a.labels.Rows[0]
	switch {
	case a.stale > 0:
		a.mistake(position{line: first.at[colCase].line}, "", "all %d labels are of other outputs than this run has; align them with the run that was labelled, or label this one", a.stale)
	default:
		a.mistake(first.at[colCase], "", "no label could be compared with a verdict of a judge")
	}
	return a.mistakes
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
		share := a.Judged.Share()
		a.JudgePassRate = &share
	}
	if a.N == 0 {
		return a
	}
	passed, failed := t.share(truePass, falsePass), t.share(falseFail, trueFail)
	if a.Weighted = t.weighted; a.Weighted {
		if p == nil { // without a run, the weights are all that is known of the other outputs
			a.Judged = t.standsFor()
			share := a.Judged.Share()
			a.JudgePassRate = &share
		}
		if r, err := stats.PartlyVerified(a.Judged, passed, failed, Confidence); err == nil {
			a.TPR, a.TNR, a.Kappa, a.Agreement, a.BaseRate = r.TPR, r.TNR, r.Kappa, &r.Agreement, &r.BaseRate
		}
	} else {
		a.rates()
	}
	a.correct(passed, failed, t.outside && p != nil)
	return a
}

// standsFor returns how many outputs the labels were sampled from.
func (t *tally) standsFor() stats.Count {
	pass, fail := math.Round(t.weights[truePass]+t.weights[falsePass]), math.Round(t.weights[trueFail]+t.weights[falseFail])
	return stats.Count{Pass: int(min(pass, math.MaxInt32)), N: int(min(pass+fail, 2*math.MaxInt32))}
}

// rates computes the rates as plain shares of the labels.
func (a *Agreement) rates() {
	n := float64(a.N)
	agreement, base := float64(a.TP+a.TN)/n, float64(a.TP+a.FN)/n
	a.Agreement, a.BaseRate = &agreement, &base
	a.TPR, a.TNR = wilsonOf(a.TP, a.TP+a.FN), wilsonOf(a.TN, a.TN+a.FP)
	if k, err := stats.Kappa(float64(a.TP), float64(a.FN), float64(a.FP), float64(a.TN), Confidence); err == nil {
		a.Kappa = &k
	}
}

// wilsonOf returns a share with Wilson's interval, or nil if n is 0.
func wilsonOf(pass, n int) *stats.Estimate {
	if n == 0 {
		return nil
	}
	return &stats.Estimate{Value: float64(pass) / float64(n), Interval: stats.Wilson(pass, n, Confidence)}
}

// correct estimates the pass rate that people would have given to all outputs that
// the judge decided. The labels cover some of these outputs, or, if outside is set,
// other outputs.
func (a *Agreement) correct(passed, failed stats.Stratum, outside bool) {
	if !a.Weighted {
		if e, err := stats.RoganGladen(a.Judged, a.Confusion, Confidence); err == nil {
			a.RoganGladen = &e
		}
	}
	if outside {
		a.Corrected, a.Method = a.RoganGladen, MethodRoganGladen
		return
	}
	e, err := stats.PostStratified(a.Judged, passed, failed, Confidence)
	if err != nil {
		return
	}
	a.Corrected, a.Method = &e, MethodPredictionPowered
	if a.N == a.Judged.N {
		a.Method = MethodCounted
	}
	if more, err := stats.LabelsToHalve(a.Judged, passed, failed, Confidence); err == nil {
		a.Halve = more
	}
}
