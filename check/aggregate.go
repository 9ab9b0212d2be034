package check

import (
	"context"
	"fmt"
	"math"

	"github.com/proviso-eval/proviso"
)

// Aggregate makes one verdict of the verdicts that Eval gave for row. threshold
// is the case's own; nil if it has none.
func (s *Set) Aggregate(ctx context.Context, row *Row, verdicts []proviso.Verdict, threshold *float64) proviso.Aggregate {
	if len(s.members) == 0 {
		return proviso.Aggregate{Status: proviso.Pass, Score: 1, Reason: "No assertions"}
	}
	var c *Compiler
	if len(s.members) > 0 {
		c = s.members[0].c
	}
	a := c.aggregate(ctx, row, verdicts, threshold)
	if s.scoring != nil && a.Status != proviso.Errored {
		return s.scoring.apply(ctx, row, verdicts, a, threshold)
	}
	return a
}

// tally sums up verdicts.
type tally struct {
	score, weight  float64
	counted        int
	skipped        int
	failure, fatal string // reasons of the last failing and of an undecided verdict
	failed, errors bool
	must           bool
	settled        *proviso.Verdict // decides the whole, whatever the others say
}

// aggregate is the weighted mean of the verdicts (promptfoo's rule): all must
// hold, or the mean must reach the threshold. A verdict that is an error leaves
// the whole undecided.
func (c *Compiler) aggregate(ctx context.Context, row *Row, verdicts []proviso.Verdict, threshold *float64) proviso.Aggregate {
	var t tally
	for _, sets := range []bool{false, true} { // the reason of a failing set wins over plain ones
		for i := range verdicts {
			if v := &verdicts[i]; (v.Assertion.Type == "assert-set") == sets {
				t.add(v)
			}
		}
	}
	a := proviso.Aggregate{Status: proviso.Pass, Reason: "All assertions passed", Named: c.named(ctx, row, verdicts)}
	if t.weight > 0 {
		a.Score = t.score / t.weight
	}
	switch {
	case t.errors:
		a.Status, a.Score, a.Reason = proviso.Errored, 0, t.fatal
	case t.settled != nil:
		a.Reason = "Content failed guardrail safety checks"
	case t.counted == 0 && t.skipped > 0:
		a.Status, a.Reason = proviso.Skip, "No assertion applied"
	case t.must:
		a.Status, a.Reason = proviso.Fail, t.failure
	case threshold != nil && !math.IsNaN(*threshold):
		a.Status, a.Reason = meets(a.Score, *threshold)
	case t.failed:
		a.Status, a.Reason = proviso.Fail, t.failure
	}
	return a
}

func meets(score, threshold float64) (proviso.Status, string) {
	if score >= threshold {
		return proviso.Pass, fmt.Sprintf("Aggregate score %s ≥ %s threshold", toFixed(score, 2), proviso.FormatNumber(threshold))
	}
	return proviso.Fail, fmt.Sprintf("Aggregate score %s < %s threshold", toFixed(score, 2), proviso.FormatNumber(threshold))
}

func (t *tally) add(v *proviso.Verdict) {
	switch {
	case v.Status == proviso.Errored:
		t.errors, t.fatal = true, v.Reason
		return
	case v.Status == proviso.Skip:
		t.skipped++
		return
	case v.Assertion.Severity == proviso.Info:
		return
	}
	w := weightOf(v.Assertion)
	t.counted++
	t.score += v.Score * w
	t.weight += w
	if v.Status != proviso.Fail {
		return
	}
	if allowsFlagged(v.Assertion) {
		t.settled = v
	}
	t.failed, t.failure = true, v.Reason
	t.must = t.must || v.Assertion.Severity == proviso.Must
}

// allowsFlagged reports whether a guardrail that was triggered is what the test
// wants, which then passes as a whole.
func allowsFlagged(a *proviso.Assertion) bool {
	return a.Type == "guardrails" && a.Config.At("purpose") == "redteam"
}

// named collects the named scores: the weighted mean of the assertions with the
// metric, and of what assertions report under that name themselves.
func (c *Compiler) named(ctx context.Context, row *Row, verdicts []proviso.Verdict) []proviso.NamedScore {
	var named []proviso.NamedScore
	add := func(name string, score, weight float64) {
		for i := range named {
			if n := &named[i]; n.Name == name {
				n.Value += score * weight
				n.Weight += weight
				return
			}
		}
		named = append(named, proviso.NamedScore{Name: name, Value: score * weight, Weight: weight})
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Status != proviso.Pass && v.Status != proviso.Fail {
			continue
		}
		w := weightOf(v.Assertion)
		if w == 0 {
			w = 1 // a metric alone, not part of the row's score
		}
		metric := c.metric(ctx, row, v.Assertion.Metric)
		if metric != "" {
			add(metric, v.Score, w)
		}
		for _, n := range v.Named {
			if n.Name != metric {
				add(n.Name, n.Value, w*n.Weight)
			}
		}
	}
	for i := range named {
		if named[i].Weight != 0 {
			named[i].Value /= named[i].Weight
		}
	}
	return named
}

// metric renders the name of a metric; a broken template is the name itself.
func (c *Compiler) metric(ctx context.Context, row *Row, name string) string {
	if !hasTemplate(name) || c.Templates == nil {
		return name
	}
	rendered, err := c.Templates.Render(ctx, name, row.Vars)
	if err != nil {
		return name
	}
	return rendered
}
