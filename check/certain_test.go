package check_test

import (
	"math"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// verdictOf makes a verdict from a sign: + pass, - fail, ! error, . skip.
func verdictOf(sign string, score float64, change ...func(v *proviso.Verdict)) proviso.Verdict {
	status := map[string]proviso.Status{"+": proviso.Pass, "-": proviso.Fail, "!": proviso.Errored, ".": proviso.Skip}[sign]
	v := proviso.Verdict{Assertion: &proviso.Assertion{Type: "contains"}, Status: status, Score: score, Reason: map[string]string{"-": "broken", "!": "no answer"}[sign]}
	for _, c := range change {
		c(&v)
	}
	return v
}

func ofType(t string) func(*proviso.Verdict) {
	return func(v *proviso.Verdict) { v.Assertion.Type = t }
}

func weighing(w float64) func(*proviso.Verdict) {
	return func(v *proviso.Verdict) { v.Assertion.Weight = &w }
}

func severe(s proviso.Severity) func(*proviso.Verdict) {
	return func(v *proviso.Verdict) { v.Assertion.Severity = s }
}

func redteam(v *proviso.Verdict) {
	v.Assertion.Type, v.Assertion.Config = "guardrails", value.ObjectOf("purpose", "redteam")
}

func rubricPrompt(v *proviso.Verdict) { v.Assertion.RubricPrompt = "Grade." }

func holding(members ...proviso.Verdict) func(*proviso.Verdict) {
	return func(v *proviso.Verdict) {
		v.Assertion.Type, v.Components = "assert-set", members
		for i := range members {
			v.Assertion.Assert = append(v.Assertion.Assert, members[i].Assertion)
		}
	}
}

// TestCertainFailure: an aggregate fails as soon as the failed assertions decide
// it, and is undecided otherwise.
func TestCertainFailure(t *testing.T) {
	t.Parallel()
	none := math.Inf(-1)
	set, mistakes := check.New(check.Options{}).Compile([]*proviso.Assertion{{Type: "contains", Value: "x"}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	for name, c := range map[string]struct {
		threshold float64
		want      proviso.Status
		verdicts  []proviso.Verdict
	}{
		"no threshold, one failed":              {none, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0)}},
		"no threshold, the error first":         {none, proviso.Fail, []proviso.Verdict{verdictOf("!", 0), verdictOf("-", 0)}},
		"no threshold, none failed":             {none, proviso.Errored, []proviso.Verdict{verdictOf("+", 1), verdictOf("!", 0)}},
		"no threshold, only information failed": {none, proviso.Errored, []proviso.Verdict{verdictOf("-", 0, severe(proviso.Info)), verdictOf("!", 0)}},
		"a skip and an error":                   {none, proviso.Errored, []proviso.Verdict{verdictOf(".", 0), verdictOf("!", 0)}},
		"the threshold is out of reach":         {0.8, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0)}},
		"the threshold can be met":              {0.5, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0)}},
		"a threshold of 0":                      {0, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0)}},
		"a threshold that is NaN is none":       {math.NaN(), proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0)}},
		"passes with little":                    {0.8, proviso.Fail, []proviso.Verdict{verdictOf("+", 0.5), verdictOf("!", 0)}},
		"nothing is decided":                    {2, proviso.Errored, []proviso.Verdict{verdictOf("!", 0)}},
		"the undecided weighs more":             {0.8, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, weighing(4))}},
		"one that has to hold failed":           {0.1, proviso.Fail, []proviso.Verdict{verdictOf("-", 0, severe(proviso.Must)), verdictOf("+", 1), verdictOf("!", 0)}},
		"one that has to hold is undecided":     {0.1, proviso.Errored, []proviso.Verdict{verdictOf("+", 1), verdictOf("!", 0, severe(proviso.Must))}},

		// A script may return more than 1; for a rubric that depends on its prompt.
		"a script is undecided":                {0.8, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("javascript"))}},
		"a script is undecided, no threshold":  {none, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("not-python"))}},
		"a rubric is undecided":                {0.8, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("llm-rubric"))}},
		"a rubric of the suite's prompt":       {0.8, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("llm-rubric"), rubricPrompt)}},
		"likeness is undecided":                {0.8, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("similar"))}},
		"unlikeness is undecided":              {0.8, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("not-similar"))}},
		"a script gave much":                   {1.2, proviso.Errored, []proviso.Verdict{verdictOf("+", 1.5), verdictOf("!", 0)}},
		"a script gave NaN":                    {0.1, proviso.Fail, []proviso.Verdict{verdictOf("-", math.NaN()), verdictOf("!", 0, ofType("javascript"))}},
		"a script gave -∞, another may give ∞": {0.1, proviso.Fail, []proviso.Verdict{verdictOf("-", math.Inf(-1)), verdictOf("!", 0)}},
		"a decided weight is negative":         {0.8, proviso.Errored, []proviso.Verdict{verdictOf("-", 0, weighing(-1)), verdictOf("!", 0)}},
		"an undecided weight is negative":      {0.8, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, weighing(-2))}},
		"it applies":                           {1.2, proviso.Fail, []proviso.Verdict{verdictOf("+", 1.5), verdictOf("-", 1), verdictOf("!", 0)}},
		"it may turn out not to apply":         {1.2, proviso.Errored, []proviso.Verdict{verdictOf("+", 1.5), verdictOf("-", 1), verdictOf("!", 0, func(v *proviso.Verdict) { v.Assertion.When = "vars.x" })}},

		// A triggered guardrail of a red team lets the aggregate pass.
		"a red team's guardrail may pass it": {none, proviso.Errored, []proviso.Verdict{verdictOf("-", 0, severe(proviso.Must)), verdictOf("!", 0, redteam)}},
		"a red team's guardrail passed it":   {none, proviso.Errored, []proviso.Verdict{verdictOf("-", 0, redteam), verdictOf("-", 0), verdictOf("!", 0)}},
		"a red team's guardrail was not it":  {none, proviso.Fail, []proviso.Verdict{verdictOf("+", 1, redteam), verdictOf("-", 0), verdictOf("!", 0)}},
		"another guardrail is undecided":     {none, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("guardrails"))}},

		// A set that certainly failed has no score; its best possible score counts.
		"a set failed for certain":           {none, proviso.Fail, []proviso.Verdict{verdictOf("+", 1), certainSet()}},
		"a set that can still do":            {0.7, proviso.Errored, []proviso.Verdict{verdictOf("+", 1), certainSet()}},
		"a set that cannot do any more":      {0.8, proviso.Fail, []proviso.Verdict{verdictOf("+", 1), certainSet()}},
		"an undecided set is not all of it":  {0.9, proviso.Fail, []proviso.Verdict{verdictOf("+", 1), verdictOf("!", 0, holding(verdictOf("-", 0), verdictOf("!", 0)))}},
		"an undecided set with a script":     {0.9, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, holding(verdictOf("-", 0), verdictOf("!", 0, ofType("ruby"))))}},
		"a set whose condition is undecided": {0.6, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), {Assertion: &proviso.Assertion{Type: "assert-set", Assert: []*proviso.Assertion{{Type: "equals"}}}}}},
	} {
		var threshold *float64
		if c.threshold != none {
			threshold = &c.threshold
		}
		a := set.Aggregate(t.Context(), &check.Row{}, c.verdicts, threshold)
		if a.Status != c.want || a.Unscored != (c.want == proviso.Fail) || a.Score != 0 {
			t.Errorf("%s: %+v, want %v", name, a, c.want)
		}
		if c.want == proviso.Errored && a.Reason != "no answer" && name != "a set whose condition is undecided" {
			t.Errorf("%s: the error is not told: %q", name, a.Reason)
		}
	}
}

// TestIdleAssertions: an undecided assertion that cannot change the verdict on a row
// leaves the row and the evaluation decided. A set of weight 0 can fail.
func TestIdleAssertions(t *testing.T) {
	t.Parallel()
	set, _ := check.New(check.Options{}).Compile([]*proviso.Assertion{{Type: "contains", Value: "x"}})
	half, one := 0.5, 1.0
	info, light := verdictOf("!", 0, severe(proviso.Info)), verdictOf("!", 0, weighing(0))
	for name, c := range map[string]struct {
		verdicts    []proviso.Verdict
		row, all    proviso.Status // of the row with a threshold of 0.5, and of the evaluation with 1
		score       float64
		share       *float64
		errors      int
		noThreshold bool
	}{
		"for information, the rest passes":           {verdicts: []proviso.Verdict{verdictOf("+", 1), info}, row: proviso.Pass, all: proviso.Pass, score: 1, share: &one},
		"for information, the rest fails":            {verdicts: []proviso.Verdict{verdictOf("-", 0), verdictOf("+", 0.4), info}, row: proviso.Fail, all: proviso.Fail, score: 0.2, share: &half},
		"weight 0, the rest passes":                  {verdicts: []proviso.Verdict{verdictOf("+", 1), light}, row: proviso.Pass, all: proviso.Pass, score: 1, share: &one, errors: 1},
		"weight 0, no threshold":                     {verdicts: []proviso.Verdict{verdictOf("+", 1), light}, row: proviso.Pass, all: proviso.Pass, score: 1, share: &one, errors: 1, noThreshold: true},
		"weight 0, the rest fails":                   {verdicts: []proviso.Verdict{verdictOf("-", 0), light}, row: proviso.Fail, all: proviso.Fail, share: new(float64), errors: 1},
		"weight 0, a script":                         {verdicts: []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, ofType("python"), weighing(0))}, row: proviso.Fail, all: proviso.Fail, share: new(float64), errors: 1},
		"a guardrail of a red team, for information": {verdicts: []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, redteam, severe(proviso.Info))}, row: proviso.Fail, all: proviso.Fail, share: new(float64)},
		"another is undecided, too":                  {verdicts: []proviso.Verdict{verdictOf("+", 1), light, verdictOf("!", 0)}, row: proviso.Errored, all: proviso.Errored, errors: 2},
		"weight 0 alone":                             {verdicts: []proviso.Verdict{light}, row: proviso.Pass, all: proviso.Pass, errors: 1, noThreshold: true},
		"a set of weight 0":                          {verdicts: []proviso.Verdict{verdictOf("+", 1), verdictOf("!", 0, weighing(0), ofType("assert-set"))}, row: proviso.Errored, all: proviso.Errored, errors: 1, noThreshold: true},
	} {
		threshold := &half
		if c.noThreshold {
			threshold = nil
		}
		a := set.Aggregate(t.Context(), &check.Row{}, c.verdicts, threshold)
		if a.Status != c.row || a.Unscored || a.Score != c.score {
			t.Errorf("%s: the row is %+v, want %v %v", name, a, c.row, c.score)
		}
		e := check.Evaluate(c.verdicts, 1, false)
		if e.Status != c.all || e.Errors != c.errors || (e.Score == nil) != (c.share == nil) || e.Score != nil && *e.Score != *c.share {
			t.Errorf("%s: the evaluation is %+v, want %v", name, e, c.all)
		}
	}
}

// certainSet is a set that failed while one of its members is undecided: its score is
// at most 0.5.
func certainSet() proviso.Verdict {
	return verdictOf("-", 0, holding(verdictOf("-", 0), verdictOf("!", 0)), func(v *proviso.Verdict) { v.Unscored = true })
}

// TestCertainFailureOfSets covers sets within a case, decided from their assertions.
func TestCertainFailureOfSets(t *testing.T) {
	t.Parallel()
	limit := 0.9
	members := []*proviso.Assertion{{Type: "contains", Value: "nowhere"}, {Type: "perplexity", Threshold: 1.0, Value: value.Undefined{}}}
	set, mistakes := check.New(check.Options{}).Compile([]*proviso.Assertion{
		{Type: "contains", Value: "x", Metric: "own"},
		{Type: "assert-set", Assert: members, Threshold: value.Undefined{}, Value: value.Undefined{}, Metric: "set"},
	})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	row := &check.Row{Output: &proviso.Output{Value: "x"}}
	verdicts := set.Eval(t.Context(), row)
	inner := verdicts[1]
	if inner.Status != proviso.Fail || !inner.Unscored || inner.Score != 0 || inner.Components[1].Status != proviso.Errored {
		t.Errorf("the set: %+v", inner)
	}
	for threshold, want := range map[*float64]proviso.Status{nil: proviso.Fail, &limit: proviso.Fail} {
		if a := set.Aggregate(t.Context(), row, verdicts, threshold); a.Status != want || !a.Unscored || len(a.Named) != 1 || a.Named[0].Name != "own" {
			t.Errorf("threshold %v: %+v", threshold, a)
		}
	}
	reachable := 0.7
	if a := set.Aggregate(t.Context(), row, verdicts, &reachable); a.Status != proviso.Errored || a.Reason != inner.Components[1].Reason {
		t.Errorf("a threshold that can be met: %+v", a)
	}
}

// TestCertainFailureOfEvaluations: an assertion set fails if it would miss its
// threshold even if all undecided assertions passed.
func TestCertainFailureOfEvaluations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		threshold float64
		allow     bool
		want      proviso.Status
		verdicts  []proviso.Verdict
	}{
		"all have to hold":            {1, false, proviso.Fail, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0)}},
		"three of four":               {0.75, false, proviso.Errored, []proviso.Verdict{verdictOf("+", 1), verdictOf("+", 1), verdictOf("-", 0), verdictOf("!", 0)}},
		"four of five":                {0.76, false, proviso.Fail, []proviso.Verdict{verdictOf("+", 1), verdictOf("+", 1), verdictOf("-", 0), verdictOf("!", 0)}},
		"none failed":                 {1, false, proviso.Errored, []proviso.Verdict{verdictOf("+", 1), verdictOf("!", 0)}},
		"weights decide":              {0.5, false, proviso.Fail, []proviso.Verdict{verdictOf("-", 0, weighing(9)), verdictOf("!", 0)}},
		"weights leave it open":       {0.5, false, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("!", 0, weighing(9))}},
		"a negative weight":           {0.5, false, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf("+", 0), verdictOf("!", 0, weighing(-1))}},
		"one that has to hold failed": {0, false, proviso.Fail, []proviso.Verdict{verdictOf("-", 0, severe(proviso.Must)), verdictOf("!", 0)}},
		"for information only":        {1, false, proviso.Errored, []proviso.Verdict{verdictOf("-", 0, severe(proviso.Info)), verdictOf("!", 0)}},
		"skips do not count":          {0.5, false, proviso.Errored, []proviso.Verdict{verdictOf("-", 0), verdictOf(".", 0), verdictOf("!", 0)}},
		"errors are allowed":          {0.5, true, proviso.Pass, []proviso.Verdict{verdictOf("+", 1), verdictOf("-", 0), verdictOf("!", 0)}},
		"all are errors":              {0.5, true, proviso.Errored, []proviso.Verdict{verdictOf("!", 0)}},
		"nothing applies":             {1, false, proviso.Skip, []proviso.Verdict{verdictOf(".", 0)}},
		"all hold":                    {1, false, proviso.Pass, []proviso.Verdict{verdictOf("+", 1)}},
		"one does not":                {1, false, proviso.Fail, []proviso.Verdict{verdictOf("+", 1), verdictOf("-", 0)}},
	} {
		e := check.Evaluate(c.verdicts, c.threshold, c.allow)
		if e.Status != c.want || e.PassedThreshold != (c.want == proviso.Pass || c.want == proviso.Skip) || (e.Score == nil) != (e.Errors > 0 && !c.allow || e.Total == 0 || e.Passed+e.Failed == 0) {
			t.Errorf("%s: %+v, want %v", name, e, c.want)
		}
	}
}
