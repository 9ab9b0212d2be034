package align

import (
	"fmt"
	"math"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/stats"
)

// Trust returns what the labels show about a judge on an assertion, given the judge's
// identity, the assertion's id and its hash. A nil Alignment has no labels.
func (a *Alignment) Trust(judge, assertion, hash string) report.Trust {
	if a == nil {
		return report.Trust{Text: "judge unvalidated"}
	}
	if e, ok := a.Find(judge, hash); ok {
		return e.trust()
	}
	var changed *Entry
	for i := range a.entries {
		if e := &a.entries[i]; e.Hash == hash || e.Assertion == assertion && e.Judge == judge {
			changed = e
		}
	}
	switch {
	case changed == nil:
		return report.Trust{Text: "judge unvalidated"}
	case changed.Hash == hash:
		return report.Trust{Lapsed: true, Text: "judge unvalidated: its prompt, model or mode has changed since it was aligned"}
	}
	return report.Trust{Lapsed: true, Text: "judge unvalidated: the assertion has changed since it was aligned"}
}

// minKappa is the minimum kappa of a validated judge: agreement above it is called
// substantial. Source: J. R. Landis, G. G. Koch, "The measurement of observer agreement
// for categorical data", Biometrics 33 (1977) 159-174.
const minKappa = 0.6

func (e Entry) trust() report.Trust {
	t := report.Trust{Labels: e.N}
	if few := e.NotMeasured(); few != "" {
		t.TooFew = true
		t.MissingGood, t.MissingBad = e.missing()
		t.Text = "judge unvalidated (" + few + ")"
		return t
	}
	t.Kappa, t.TPR, t.TNR = valueOf(e.Kappa), valueOf(e.TPR), valueOf(e.TNR)
	measured := "measured on " + plural.Of(e.N, "label")
	k := e.Kappa
	if k == nil {
		t.Text = "judge unvalidated (" + measured + ": kappa is undefined)"
		return t
	}
	figures := fmt.Sprintf("%s: kappa %.2f", measured, math.Floor(100*k.Value+1e-9)/100)
	if e.TNR != nil {
		figures += fmt.Sprintf(", misses %.0f %% of bad outputs", 100*(1-e.TNR.Value))
	}
	switch {
	case k.Low <= 0:
		t.Weak = true
		t.Text = "weak judge (" + figures + "; not clearly above chance)"
	case k.Value < minKappa:
		t.Weak = true
		t.Text = "weak judge (" + figures + ")"
	default:
		t.Validated = true
		t.Text = "judge validated (" + figures + ")"
	}
	return t
}

func valueOf(e *stats.Estimate) *float64 {
	if e == nil {
		return nil
	}
	return &e.Value
}
