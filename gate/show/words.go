package show

import (
	"fmt"
	"math"
	"strings"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/stats"
)

// headline summarizes a comparison or the gate's decision in a few words.
func headline(c *gate.Comparison, d *gate.Decision) (sign, text string) {
	if d != nil {
		switch d.Outcome {
		case gate.Pass:
			return "✓", "pass"
		case gate.Fail:
			return "✗", "fail"
		}
		if d.Outcome == "" {
			return "?", "nothing to compare"
		}
		return "?", "inconclusive"
	}
	if c == nil {
		return "?", "nothing to compare"
	}
	switch e := c.Suite.Difference; {
	case c.Suite.Pairs == 0:
		return "?", "nothing to compare"
	case e.High < 0:
		return "✗", "worse" + assertionsChanged(c)
	case e.Low > 0:
		return "✓", "better" + assertionsChanged(c)
	case e.Value == 0 && len(c.Cases.Broke)+len(c.Cases.Fixed) == 0:
		return "=", "no case changed"
	}
	return "?", "no clear difference in the score" + assertionsChanged(c)
}

// surely is the largest adjusted p-value at which an assertion counts as changed in the
// headline.
const surely = 0.05

// assertionsChanged counts the assertions that changed significantly.
func assertionsChanged(c *gate.Comparison) string {
	var worse, better int
	for i := range c.Assertions {
		switch a := &c.Assertions[i]; {
		case !(a.PAdjusted <= surely):
		case a.Difference.Value < 0:
			worse++
		case a.Difference.Value > 0:
			better++
		}
	}
	text := ""
	if worse > 0 {
		text += fmt.Sprintf(", %s worse", plural.Of(worse, "assertion"))
	}
	if better > 0 {
		text += fmt.Sprintf(", %s better", plural.Of(better, "assertion"))
	}
	return text
}

// fewPairs is the number of pairs below which an assertion without flips is shown only if
// there is room: a suite may have an assertion for each case.
const fewPairs = 5

// shown returns the assertions for the table, at most the given number, and the number of
// omitted ones.
func shown(c *gate.Comparison, most int) (list []*gate.AssertionEffect, more int) {
	for i := range c.Assertions {
		a := &c.Assertions[i]
		idle := a.Pairs < fewPairs && a.Broke+a.Fixed == 0 && len(c.Assertions) > most
		if len(list) < most && !idle {
			list = append(list, a)
		}
	}
	return list, len(c.Assertions) - len(list)
}

// suiteSentence describes the suite's figures in one sentence.
func suiteSentence(c *gate.Comparison) string {
	if c.Suite.Pairs == 0 {
		return "No case was decided in both runs."
	}
	text := fmt.Sprintf("Score %s → %s, difference %s over %s.", report.Percent(c.Suite.Base.Value), report.Percent(c.Suite.Head.Value),
		points(c.Suite.Difference), plural.Of(c.Suite.Pairs, "pair"))
	if c.LeftOut > 0 {
		text += fmt.Sprintf(" %s left out, because a side has an error.", pairsAre(c.LeftOut))
	}
	return text
}

func pairsAre(n int) string {
	if n == 1 {
		return "1 pair is"
	}
	return fmt.Sprintf("%d pairs are", n)
}

// interval formats an interval of shares.
func interval(i stats.Interval) string {
	if math.IsNaN(i.Low) || math.IsNaN(i.High) {
		return ""
	}
	return fmt.Sprintf("[%.0f, %.0f]", 100*i.Low, 100*i.High)
}

// figure formats a share with its interval.
func figure(f gate.Figure) string {
	if math.IsNaN(f.Value) || f.N == 0 {
		return "–"
	}
	return strings.TrimSuffix(report.Percent(f.Value)+" "+interval(f.Interval), " ")
}

// signed formats a difference of shares in percentage points. The minus sign is always
// the same character, and zero has no sign.
func signed(share float64) string {
	text := fmt.Sprintf("%+.1f", 100*share)
	if text == "+0.0" || text == "-0.0" {
		return "0.0"
	}
	return text
}

// points formats a difference with its interval, in percentage points.
func points(e stats.Estimate) string {
	if math.IsNaN(e.Value) {
		return "–"
	}
	if math.IsNaN(e.Low) || math.IsNaN(e.High) {
		return signed(e.Value) + " pp"
	}
	return fmt.Sprintf("%s pp [%s, %s]", signed(e.Value), signed(e.Low), signed(e.High))
}

// pValue formats a probability; small values are not rounded to 0.
func pValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < 0.001:
		return "< .001"
	case p > 0.9995:
		return "1"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0")
}

// flips describes how many cases changed sides.
func flips(a *gate.AssertionEffect) string {
	switch {
	case a.Broke > 0 && a.Fixed > 0:
		return fmt.Sprintf("%d broke, %d fixed", a.Broke, a.Fixed)
	case a.Broke > 0:
		return fmt.Sprintf("%d broke", a.Broke)
	case a.Fixed > 0:
		return fmt.Sprintf("%d fixed", a.Fixed)
	}
	return ""
}

// notes returns caveats about an assertion's figures.
func notes(a *gate.AssertionEffect) []string {
	var list []string
	if a.Pairs > 0 && a.Broke+a.Fixed > 0 {
		list = append(list, "adjusted p "+pValue(a.PAdjusted))
	}
	switch {
	case a.Corrected != nil:
		list = append(list, "corrected for the judge's errors: "+change(a.Corrected))
	case a.Judged:
		list = append(list, "judge not measured")
	}
	if a.LeftOut > 0 {
		list = append(list, fmt.Sprintf("%s with an error", plural.Of(a.LeftOut, "pair")))
	}
	if a.OnlyBase > 0 {
		list = append(list, fmt.Sprintf("%s only in the base", plural.Of(a.OnlyBase, "verdict")))
	}
	if a.OnlyHead > 0 {
		list = append(list, fmt.Sprintf("%s only in the head", plural.Of(a.OnlyHead, "verdict")))
	}
	return list
}

// suiteNotes returns caveats about the suite's figures.
func suiteNotes(c *gate.Comparison) []string {
	if c.SuiteCorrected == nil {
		return nil
	}
	return []string{"corrected for the judges' errors: " + change(c.SuiteCorrected)}
}

func change(e *gate.Effect) string {
	return fmt.Sprintf("%s → %s, %s", figure(e.Base), figure(e.Head), points(e.Difference))
}

// measure is a figure that is not a share: its name, both medians and the difference.
type measure struct{ Name, Base, Head, Difference string }

// measures returns the known figures for cost, tokens and latency, as medians over cases.
func measures(c *gate.Comparison) []measure {
	var list []measure
	for _, m := range [...]struct {
		name   string
		effect *gate.Effect
		format func(float64) string
	}{{"Cost", c.Cost, usd.Text}, {"Tokens", c.Tokens, count}, {"Latency", c.Latency, milliseconds}} {
		if m.effect == nil || math.IsNaN(m.effect.Difference.Value) {
			continue
		}
		e := m.effect
		difference := m.format(e.Difference.Value)
		if e.Difference.Value > 0 {
			difference = "+" + difference
		}
		if !math.IsNaN(e.Difference.Low) {
			difference += fmt.Sprintf(" [%s, %s]", m.format(e.Difference.Low), m.format(e.Difference.High))
		}
		list = append(list, measure{m.name, m.format(e.Base.Value), m.format(e.Head.Value), difference})
	}
	return list
}

func count(v float64) string { return fmt.Sprintf("%.0f", v) }

func milliseconds(v float64) string {
	switch size := math.Abs(v); {
	case size >= 10_000:
		return fmt.Sprintf("%.1f s", v/1000)
	case size < 10:
		return fmt.Sprintf("%.2g ms", v)
	}
	return fmt.Sprintf("%.0f ms", v)
}

// kind is one group of cases, in the order of the report.
type kind struct {
	title string // printed after the number of cases
	sign  string
	pairs []gate.CasePair
}

// kinds returns the groups of cases that are shown individually, the worst first.
func kinds(c *gate.Comparison) []kind {
	return []kind{
		{"broke", "✗", c.Cases.Broke},
		{"fixed", "✓", c.Cases.Fixed},
		{"flaky", "~", c.Cases.Flaky},
		{"still failing", "✗", c.Cases.StillFailing},
	}
}

// rest counts the cases that are not shown individually, by their change.
func rest(c *gate.Comparison) []string {
	var list []string
	if c.Cases.Same > 0 {
		list = append(list, fmt.Sprintf("%d the same", c.Cases.Same))
	}
	for _, k := range [...]struct {
		pairs []gate.CasePair
		text  string
	}{{c.Cases.Undecided, "with an error"}, {c.Cases.OnlyBase, "only in the base"}, {c.Cases.OnlyHead, "only in the head"}} {
		if n := len(k.pairs); n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, k.text))
		}
	}
	return list
}

// columnName names a pair of columns by what distinguishes it from the others; "" if
// there is only one.
func columnName(c *gate.Comparison, index int) string {
	if len(c.Columns) < 2 || index < 0 || index >= len(c.Columns) {
		return ""
	}
	prompts, providers := false, false
	for _, p := range c.Columns[1:] {
		first := c.Columns[0]
		prompts = prompts || p.Base.Prompt != first.Base.Prompt || p.Head.Prompt != first.Head.Prompt
		providers = providers || p.Base.Provider != first.Base.Provider || p.Head.Provider != first.Head.Provider
	}
	p := c.Columns[index]
	var parts []string
	if prompts {
		parts = append(parts, both(p.Base.Prompt, p.Head.Prompt))
	}
	if providers {
		parts = append(parts, both(p.Base.Provider, p.Head.Provider))
	}
	return strings.Join(parts, " · ")
}

// both formats the two sides' names for something.
func both(base, head string) string {
	if base == head || base == "" {
		return head
	}
	return base + " → " + head
}
