package align

import (
	"fmt"
	"math"
)

// Trust is what the labels show about a judge on an assertion.
type Trust struct {
	Validated bool   // labels show that it agrees with people well enough
	Weak      bool   // labels show that it does not
	TooFew    bool   // there are labels, but fewer than [MinLabels] of good or of bad outputs
	Lapsed    bool   // it was measured, but the judge or the assertion has changed since
	Entry     *Entry // nil unless there are labels for the current judge and assertion
	Text      string // for reports, such as "judge validated (measured on 60 labels: kappa 0.81, misses 5 % of bad outputs)"
}

// Trust returns what the labels show about a judge on an assertion, given the judge's
// identity, the assertion's id and its hash. A nil Alignment has no labels.
func (a *Alignment) Trust(judge, assertion, hash string) Trust {
	if a == nil {
		return Trust{Text: "judge unvalidated"}
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
		return Trust{Text: "judge unvalidated"}
	case changed.Hash == hash:
		return Trust{Lapsed: true, Text: "judge unvalidated: its prompt, model or mode has changed since it was aligned"}
	}
	return Trust{Lapsed: true, Text: "judge unvalidated: the assertion has changed since it was aligned"}
}

// minKappa is the minimum agreement of a validated judge, which is often called
// substantial agreement. Source: J. R. Landis, G. G. Koch, "The measurement of
// observer agreement for categorical data", Biometrics 33 (1977) 159-174.
const minKappa = 0.6

func (e Entry) trust() Trust {
	t := Trust{Entry: &e}
	if few := e.NotMeasured(); few != "" {
		t.TooFew = true
		t.Text = "judge unvalidated (" + few + ")"
		return t
	}
	measured := "measured on " + labels(e.N)
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

func labels(n int) string {
	if n == 1 {
		return "1 label"
	}
	return fmt.Sprintf("%d labels", n)
}
