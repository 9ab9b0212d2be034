package check

import (
	"context"
	"fmt"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Aggregate combines the verdicts that Eval returned for row. threshold is the case's
// own; nil if it has none.
func (s *Set) Aggregate(ctx context.Context, row *Row, verdicts []proviso.Verdict, threshold *float64) proviso.Aggregate {
	if len(s.members) == 0 {
		return proviso.Aggregate{Status: proviso.Pass, Score: 1, Reason: "No assertions"}
	}
	var c *Compiler
	if len(s.members) > 0 {
		c = s.members[0].c
	}
	a := c.aggregate(ctx, row, verdicts, threshold)
	switch {
	case s.scoring == nil || a.Status == proviso.Errored:
	case a.Unscored: // the result of the script would be unknown
		a = proviso.Aggregate{Reason: lastUndecided(verdicts).Reason, Named: a.Named}
	default:
		return s.scoring.apply(ctx, verdicts, a, threshold)
	}
	return a
}

// tally sums up verdicts.
type tally struct {
	score, weight  float64
	counted        int
	skipped        int
	failure, fatal string // reasons of the last failed and of the last undecided verdict
	failed         bool
	must           bool
	settled        bool // the aggregate passes, regardless of the other verdicts
	ignored        bool // an undecided verdict that cannot change the aggregate was left out

	undecided             bool
	settles               bool    // an undecided verdict may still make the aggregate pass
	openScore, openWeight float64 // sums over the undecided verdicts at their best
	optional              bool    // an undecided assertion may turn out not to apply
	negative              bool    // a weight is negative, so a lower score may be better
}

// aggregate is the weighted mean of the verdicts (promptfoo's rule): all must pass,
// or the mean must reach the threshold. A verdict that is an error leaves the
// aggregate undecided, unless the aggregate fails regardless of that verdict.
func (c *Compiler) aggregate(ctx context.Context, row *Row, verdicts []proviso.Verdict, threshold *float64) proviso.Aggregate {
	var t tally
	for _, sets := range []bool{false, true} { // the reason of a failed set takes precedence over plain ones
		for i := range verdicts {
			if v := &verdicts[i]; isSet(v) == sets {
				t.add(v, row)
			}
		}
	}
	a := proviso.Aggregate{Status: proviso.Pass, Reason: "All assertions passed", Named: c.named(ctx, row, verdicts)}
	if t.weight > 0 {
		a.Score = t.score / t.weight
	}
	switch {
	case t.undecided:
		a.Status, a.Score, a.Reason = proviso.Errored, 0, t.fatal
		if reason, failed := t.certain(threshold); failed {
			a.Status, a.Unscored, a.Reason = proviso.Fail, true, reason
		}
	case t.settled:
		a.Reason = "Content failed guardrail safety checks"
	case t.counted == 0 && t.skipped > 0:
		a.Status, a.Reason = proviso.Skip, "Nothing was checked: every assertion was skipped"
	case t.must:
		a.Status, a.Reason = proviso.Fail, t.failure
	case threshold != nil && !math.IsNaN(*threshold):
		a.Status, a.Reason = meets(a.Score, *threshold)
	case t.failed:
		a.Status, a.Reason = proviso.Fail, t.failure
	case t.ignored:
		a.Reason = "All assertions that count passed"
	}
	return a
}

func meets(score, threshold float64) (proviso.Status, string) {
	if score >= threshold {
		return proviso.Pass, fmt.Sprintf("Aggregate score %s ≥ %s threshold", toFixed(score, 2), value.FormatNumber(threshold))
	}
	return proviso.Fail, fmt.Sprintf("Aggregate score %s < %s threshold", toFixed(score, 2), value.FormatNumber(threshold))
}

func (t *tally) add(v *proviso.Verdict, row *Row) {
	switch {
	case v.Status == proviso.Errored && idle(v.Assertion):
		t.ignored = true
		if v.Assertion.Severity != proviso.Info {
			t.counted++
		}
		return
	case v.Status == proviso.Errored:
		t.open(v, row)
		return
	case v.Status == proviso.Skip:
		t.skipped++
		return
	case v.Assertion.Severity == proviso.Info:
		return
	}
	t.counted++
	if v.Unscored {
		t.open(v, row)
	} else {
		w := weightOf(v.Assertion)
		t.score += v.Score * w
		t.weight += w
		t.negative = t.negative || w < 0
	}
	if v.Status != proviso.Fail {
		return
	}
	t.settled = t.settled || allowsFlagged(v.Assertion)
	t.failed, t.failure = true, v.Reason
	t.must = t.must || v.Assertion.Severity == proviso.Must
}

// allowsFlagged reports whether the test expects a triggered guardrail, which then
// makes the aggregate pass.
func allowsFlagged(a *proviso.Assertion) bool {
	return a.Type == "guardrails" && a.Config.At("purpose") == "redteam"
}

// named collects the named scores: the weighted mean of the assertions with the
// metric, and of scores that assertions report under that name.
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
		if metric != "" && !v.Unscored {
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

// metric renders the name of a metric. A broken template is returned unchanged.
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
