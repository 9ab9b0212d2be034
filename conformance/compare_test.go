package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// verdict is proviso's result for a record, in the terms of the corpus.
type verdict struct {
	pass       bool
	score      any // a number, or the value that a webhook returned instead
	reason     string
	err        string // why it is undecided; "" if it is decided
	unscored   bool   // it certainly failed while an assertion is undecided
	named      []proviso.NamedScore
	components []proviso.Verdict
}

// tolerances are the accepted differences of scores, by group.
var tolerances = map[string]float64{
	"rouge-n": 1e-6, "bleu": 1e-6, "gleu": 1e-6, "meteor": 1e-6, "perplexity": 1e-6, "perplexity-score": 1e-6,
	"derived-metrics": 1e-6, "f-score": 1e-6,
}

func tolerance(group string) float64 {
	if t, ok := tolerances[group]; ok {
		return t
	}
	return 1e-9
}

// undecidedReasons are prefixes of the reasons of failures that proviso reports as
// errors, because nothing could be decided.
var undecidedReasons = []string{
	"Invalid regex pattern", "Webhook error",
	"Custom function threw error: Unexpected", "Custom function threw error: Invariant failed", // it did not run
	"Error running Python script: AttributeError: module", // nor did this
}

// compare compares got with the recorded verdict.
func (r record) compare(got verdict) error {
	want := r.object("expect")
	if want.Has("error") {
		// In promptfoo, one assertion with an error makes the row an error,
		// regardless of the others. In proviso, a certain failure is a failure.
		if got.err == "" && !got.unscored {
			return fmt.Errorf("got pass=%v (%s), want the error %q", got.pass, got.reason, want.At("error"))
		}
		return nil
	}
	if got.err != "" {
		reason, _ := want.At("reason").(string)
		if want.At("pass") == false && slices.ContainsFunc(undecidedReasons, func(p string) bool { return strings.HasPrefix(reason, p) }) {
			return nil
		}
		return fmt.Errorf("got the error %q, want pass=%v (%v)", got.err, want.At("pass"), want.At("reason"))
	}
	if got.pass != want.At("pass") {
		return fmt.Errorf("got pass=%v (%s), want %v (%v)", got.pass, got.reason, want.At("pass"), want.At("reason"))
	}
	if !sameScore(got.score, want.At("score"), tolerance(r.text("group"))) {
		return fmt.Errorf("got score %v (%s), want %v", got.score, got.reason, want.At("score"))
	}
	return r.compareNamed(got.named)
}

// sameScore compares scores. Values that promptfoo passes through unchanged, such as
// a text or null, are compared as JavaScript converts them to numbers.
func sameScore(got, want any, tolerance float64) bool {
	g, ok := got.(float64)
	if !ok {
		return value.Stringify(got) == value.Stringify(want)
	}
	w := value.ToNumber(want)
	return g == w || math.IsNaN(g) && math.IsNaN(w) || math.Abs(g-w) <= tolerance
}

func (r record) compareNamed(named []proviso.NamedScore) error {
	want, _ := r.object("expect").At("namedScores").(*value.Object)
	if want == nil {
		return nil
	}
	got := value.NewObject(len(named))
	for _, n := range named {
		got.Set(n.Name, n.Value)
	}
	return sameNumbers(got, want, tolerance(r.text("group")), "named score")
}

func sameNumbers(got, want *value.Object, tolerance float64, what string) error {
	for name, w := range want.All() {
		if g, ok := got.Get(name); !ok || !sameScore(g, w, tolerance) {
			return fmt.Errorf("%s %s is %v, want %v", what, name, g, w)
		}
	}
	for name := range got.All() {
		if !want.Has(name) {
			return fmt.Errorf("%s %s is %v, want none", what, name, got.At(name))
		}
	}
	return nil
}
