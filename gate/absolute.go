package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/usd"
)

// tallyOf counts the run's verdicts on an assertion, and names the first failed case. A
// waived failure counts as a failure: a rule names the assertion explicitly.
func (j *judgement) tallyOf(assertion string) (t tally, failed string) {
	for i := range j.run.Rows {
		row := &j.run.Rows[i]
		if row.Status == proviso.Errored && len(row.Verdicts) == 0 {
			t.undecided++
		}
		for k := range row.Verdicts {
			if row.Verdicts[k].Assertion != assertion {
				continue
			}
			status := row.Verdicts[k].Status
			if row.Verdicts[k].Waived {
				status = proviso.Fail
			}
			t.add(status)
			if status == proviso.Fail && failed == "" {
				failed = row.Case.Label()
			}
		}
	}
	return t, failed
}

func (j *judgement) mustPass() Outcome {
	outcome := Outcome("")
	for _, name := range j.rules.MustPass {
		t, failed := j.tallyOf(name)
		switch n := int(t.decided - t.passed); {
		case n > 0:
			outcome = Fail
			j.because("must-pass", name, "Assertion %s must pass and failed %s, first in case %s.", named(name), times(n), named(failed))
		case t.decided == 0:
			j.hold("must-pass", name, "Assertion %s must pass and has no verdict.", named(name))
		case t.undecided > 0:
			j.hold("must-pass", name, "Assertion %s must pass and has an error %s.", named(name), times(t.undecided))
		}
	}
	return outcome
}

func (j *judgement) assertionMin() Outcome {
	outcome := Outcome("")
	for _, name := range slices.Sorted(maps.Keys(j.rules.Assertions)) {
		least := j.rules.Assertions[name].Min
		if least == nil {
			continue
		}
		t, _ := j.tallyOf(name)
		switch {
		case t.decided == 0:
			j.hold("assertion-min", name, "Assertion %s has no verdict, so its pass rate is unknown.", named(name))
		case below(t.passed/t.decided, *least):
			outcome = Fail
			j.because("assertion-min", name, "Assertion %s passes in %s, less than %s.", named(name), percent(t.passed/t.decided), percent(*least))
		case below(t.passed/(t.decided+float64(t.undecided)), *least):
			j.hold("assertion-min", name, "Assertion %s has an error %s: if those were failures, fewer than %s would pass.", named(name), times(t.undecided), percent(*least))
		}
	}
	return outcome
}

// below compares a share with a limit that may have been rounded.
func below(share, least float64) bool { return share < least-1e-9 }

func (j *judgement) minScore() Outcome {
	least := j.rules.MinScore
	if least == nil {
		return ""
	}
	sum, n := 0.0, 0.0
	for i := range j.run.Rows {
		if score := scoreOf(&j.run.Rows[i]); !math.IsNaN(score) {
			sum, n = sum+score, n+1
		}
	}
	switch {
	case n == 0:
		j.hold("min-score", "", "No row is decided, so the score is unknown.")
	case below(sum/n, *least):
		j.because("min-score", "", "The score is %s, less than %s.", percent(sum/n), percent(*least))
		return Fail
	}
	return ""
}

// scoreOf returns the share of passed verdicts in a row, or the row's score if it has no
// verdicts; NaN if the row has an error or nothing applied.
func scoreOf(r *Row) float64 {
	if r.Status == proviso.Errored {
		return math.NaN()
	}
	var t tally
	for i := range r.Verdicts {
		t.add(r.Verdicts[i].Status)
	}
	if len(r.Verdicts) == 0 && r.Status != proviso.Skip {
		return min(1, max(0, r.Score))
	}
	return t.mean()
}

func (j *judgement) costMax() Outcome {
	most := j.rules.Cost.Max
	if most == nil || len(j.run.Rows) == 0 {
		return ""
	}
	sum := 0.0
	for i := range j.run.Rows {
		sum += j.run.Rows[i].Cost
	}
	mean := sum / float64(len(j.run.Rows))
	if mean <= *most*(1+1e-9) {
		return ""
	}
	j.because("cost", "", "A row costs %s on average, more than %s.", usd.Text(mean), usd.Text(*most))
	return Fail
}

func (j *judgement) latencyP95() Outcome {
	most := j.rules.Latency.P95
	if most == nil {
		return ""
	}
	var list []float64
	for i := range j.run.Rows {
		if ms := j.run.Rows[i].LatencyMS; !math.IsNaN(ms) {
			list = append(list, ms)
		}
	}
	if len(list) == 0 {
		j.hold("latency", "", "No row has a latency, so its rule cannot decide.")
		return ""
	}
	slices.Sort(list)
	p95 := list[max(0, int(math.Ceil(0.95*float64(len(list))-1e-9))-1)]
	if p95 <= *most {
		return ""
	}
	j.because("latency", "", "95 %% of the rows take up to %.0f ms, more than %.0f ms.", p95, *most)
	return Fail
}

func (j *judgement) costMargin() Outcome {
	return j.rise("cost", j.rules.Cost.Margin, j.c.Cost, &j.c.cost)
}

func (j *judgement) latencyMargin() Outcome {
	return j.rise("latency", j.rules.Latency.Margin, j.c.Latency, &j.c.latency)
}

// rise fails if the median rose by more than the margin, as a share of the base median,
// one-sided at alpha. A rise that is visible but not significant prevents a pass.
func (j *judgement) rise(rule string, margin *float64, known *Effect, values *series) Outcome {
	if margin == nil {
		return ""
	}
	if known == nil {
		j.hold(rule, "", "The %s is unknown in a run, so its rule cannot decide.", rule)
		return ""
	}
	e, err := values.medians(1 - 2*j.alpha)
	if err != nil {
		return ""
	}
	limit := *margin * e.Base.Value
	text := fmt.Sprintf("The median %s rose from %.4g to %.4g", rule, e.Base.Value, e.Head.Value)
	switch {
	case e.Difference.Low > limit:
		j.because(rule, "", "%s, more than %s.", text, percent(*margin))
		return Fail
	case e.Difference.Value > limit:
		j.hold(rule, "", "%s, more than %s, but the difference is uncertain: %.4g to %.4g.", text, percent(*margin), e.Difference.Low, e.Difference.High)
	}
	return ""
}

// undecidedRows is the left-out rule for a run without a baseline.
func (j *judgement) undecidedRows() Outcome {
	n := 0
	for i := range j.run.Rows {
		if j.run.Rows[i].Status == proviso.Errored {
			n++
		}
	}
	if len(j.run.Rows) > 0 && float64(n) <= maxLeftOut*float64(len(j.run.Rows)) {
		return ""
	}
	j.because("left-out", "", "%s of %s with errors, more than %s: see the errors and run the rows again.", count(n, "row"), count(len(j.run.Rows), "row"), percent(maxLeftOut))
	return Inconclusive
}

// absolutePass passes a run that no absolute rule failed.
func (j *judgement) absolutePass() Outcome {
	r := j.rules
	if len(r.MustPass) == 0 && r.MinScore == nil && r.Cost.Max == nil && r.Latency.P95 == nil && !hasMin(r.Assertions) {
		j.because("min-score", "", "Without a baseline only absolute rules decide, and the suite has none: set mustPass, minScore or the min of an assertion, or give a baseline.")
		return Inconclusive
	}
	j.because("min-score", "", "All absolute rules are met. There is no baseline to compare with.")
	return Pass
}

func hasMin(rules map[string]proviso.AssertionRule) bool {
	for _, r := range rules {
		if r.Min != nil {
			return true
		}
	}
	return false
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
