package align

import (
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/stats"
)

// confidence is the confidence level of all intervals of an alignment.
const confidence = 0.95

// Agreements holds how well the verdicts of judges agree with human labels.
type Agreements struct {
	Assertions []Agreement

	Unlabelled int // rows of the file that have no human label
	Stale      int // labels for an output that the run does not have
	Skipped    int // labels of assertions that did not apply
}

// Agreement is the agreement of one judge with human labels on one assertion. A positive
// is an output that people pass: TPR is the share of good outputs that the judge passes,
// TNR the share of bad outputs that it fails. Errors of the judge are counted and left
// out of everything else.
//
// TPR and TNR are shares of the labels with Wilson's interval. If the outputs to label
// were sampled separately from passes and from fails of the judge ([SheetOptions]), all
// rates are estimates for the outputs that the labels represent, not for the labels: see
// [stats.PartlyVerified].
type Agreement struct {
	Assertion string
	Judge     string // identity, "" if the labels have none
	N         int    // labels with a verdict of the judge
	Errors    int    // labels whose output the judge could not decide
	stats.Confusion

	Agreement *float64        // share of equal verdicts; like all fields below, nil without labels
	Kappa     *stats.Estimate // nil if it is undefined, such as when all verdicts are the same
	TPR       *stats.Estimate // nil without an output that people pass
	TNR       *stats.Estimate // nil without an output that people fail
	BaseRate  *float64        // share that people pass

	// JudgePassRate is the judge's pass rate on all outputs that it decided, labelled or
	// not.
	JudgePassRate *float64
	// Corrected estimates the pass rate that people would have given.
	Corrected   *stats.Estimate
	Method      Method          // how Corrected was computed
	RoganGladen *stats.Estimate // the same from the judge's error rates alone; nil if these were not measured on a random sample
	Halve       int             // number of further labels that would halve the interval of Corrected; 0 if no number can

	Judged        stats.Count // all outputs that the judge decided, labelled or not
	Weighted      bool        // the labels were sampled separately from passes and fails
	Hashes        []string    // hashes of the assertion's texts ([record.AssertionHash]); empty without a run
	Disagreements []Disagreement
}

// Method is a way to correct a pass rate.
type Method string

// The methods.
const (
	MethodCounted           Method = "counted"            // every output is labelled, so the labels' rate is exact
	MethodPredictionPowered Method = "prediction-powered" // some of the judged outputs are labelled
	MethodRoganGladen       Method = "rogan-gladen"       // the labels are of other outputs
)

// Disagreement is an output on which the judge and the human label disagree.
type Disagreement struct {
	Case     string
	Row      int // index in the run, -1 without one
	Human    proviso.Status
	Judge    proviso.Status
	Reason   string   // the judge's reason, "" without a run
	Evidence []string // quotes from the output
	Note     string   // the person's note
}

// rates computes the rates as unweighted shares of the labels.
func (a *Agreement) rates() {
	n := float64(a.N)
	agreement, base := float64(a.TP+a.TN)/n, float64(a.TP+a.FN)/n
	a.Agreement, a.BaseRate = &agreement, &base
	a.TPR, a.TNR = wilsonOf(a.TP, a.TP+a.FN), wilsonOf(a.TN, a.TN+a.FP)
	if k, err := stats.Kappa(float64(a.TP), float64(a.FN), float64(a.FP), float64(a.TN), confidence); err == nil {
		a.Kappa = &k
	}
}

// wilsonOf returns a share with Wilson's interval, or nil if n is 0.
func wilsonOf(pass, n int) *stats.Estimate {
	if n == 0 {
		return nil
	}
	return &stats.Estimate{Value: float64(pass) / float64(n), Interval: stats.Wilson(pass, n, confidence)}
}

// correct estimates the pass rate that people would have given to all outputs that the
// judge decided. The labels cover some of these outputs, or other outputs if outside is
// set.
func (a *Agreement) correct(passed, failed stats.Stratum, outside bool) {
	if !a.Weighted {
		if e, err := stats.RoganGladen(a.Judged, a.Confusion, confidence); err == nil {
			a.RoganGladen = &e
		}
	}
	if outside {
		a.Corrected, a.Method = a.RoganGladen, MethodRoganGladen
		return
	}
	e, err := stats.PostStratified(a.Judged, passed, failed, confidence)
	if err != nil {
		return
	}
	a.Corrected, a.Method = &e, MethodPredictionPowered
	if a.N == a.Judged.N {
		a.Method = MethodCounted
	}
	if more, err := stats.LabelsToHalve(a.Judged, passed, failed, confidence); err == nil {
		a.Halve = more
	}
}

// minLabels is the number of labels of good outputs, and of bad outputs, that are needed
// to count a judge as measured. With fewer, the interval of a rate is too wide to be
// useful: even 10 of 10 is compatible with a true rate of 72 %.
const minLabels = 10

// missing returns how many more labels of good and of bad outputs are needed to count the
// judge as measured on the assertion.
func (a *Agreement) missing() (good, bad int) {
	return max(0, minLabels-(a.TP+a.FN)), max(0, minLabels-(a.TN+a.FP))
}

// measured reports whether there are enough labels of both kinds.
func (a *Agreement) measured() bool {
	good, bad := a.missing()
	return good+bad == 0
}

// NotMeasured returns a text with the number of missing labels, such as "40 labels, 2 of
// bad outputs: not measured yet, it takes 8 more of bad outputs". It returns "" if the
// judge is measured.
func (a *Agreement) NotMeasured() string {
	good, bad := a.missing()
	switch {
	case good+bad == 0:
		return ""
	case good == 0:
		return fmt.Sprintf("%s, %d of bad outputs: not measured yet, it takes %d more of bad outputs", plural.Of(a.N, "label"), a.TN+a.FP, bad)
	case bad == 0:
		return fmt.Sprintf("%s, %d of good outputs: not measured yet, it takes %d more of good outputs", plural.Of(a.N, "label"), a.TP+a.FN, good)
	}
	return fmt.Sprintf("%s, %d of bad outputs: not measured yet, it takes %d more of bad and %d more of good outputs", plural.Of(a.N, "label"), a.TN+a.FP, bad, good)
}

// Measure is an agreement measure that a gate can require.
type Measure string

// The measures.
const (
	Kappa Measure = "kappa"
	TNR   Measure = "TNR"
	TPR   Measure = "TPR"
)

// Of returns the measure for an assertion, or nil if the measure is undefined or has too
// few labels of the outputs that it covers.
func (m Measure) Of(a *Agreement) *stats.Estimate {
	good, bad := a.missing()
	switch {
	case m == Kappa && good+bad == 0:
		return a.Kappa
	case m == TNR && bad == 0:
		return a.TNR
	case m == TPR && good == 0:
		return a.TPR
	}
	return nil
}
