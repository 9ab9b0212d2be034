package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// decisionRun is 60 rows of which only the first passes. The decision concerns a row that
// would not be among the worst 50.
func decisionRun(t testing.TB, d *report.Decision) (*report.Meta, *report.Summary, report.Rows) {
	t.Helper()
	m, sum := plain()
	m.Decision = d
	var results []*proviso.Result
	for i := range 60 {
		status := proviso.Fail
		if i == 0 {
			status = proviso.Pass
		}
		c := caseOf(t, i, `{"vars":{"q":"a"},"assert":[{"type":"contains","value":"x","id":"tone"}]}`)
		c.ID = "a b&c/" + string(rune('A'+i))
		results = append(results, resultOf(c, "y", status))
	}
	return m, sum, keep(t, m, sum, results)
}

// TestReportBeginsWithTheDecision: the report begins with the decision, the reasons, and
// links to the cases, which the page contains without a script.
func TestReportBeginsWithTheDecision(t *testing.T) {
	t.Parallel()
	m, sum, rows := decisionRun(t, &report.Decision{Outcome: "fail", Base: "main", Needed: &report.Needed{Cases: 90}, Reasons: []report.Reason{
		{Rule: "must-pass", Assertion: "tone", Text: `Assertion "tone" must pass and failed 59 times.`, Rows: []int{59, 0}, More: 57},
		{Rule: "assertions", Assertion: "brief", Text: "It got worse by less than the margin.", Met: true, Note: true},
	}})
	page := shown(t, "html", m, sum, rows)
	before, after, _ := strings.Cut(page, `<div id="static">`)
	for _, want := range []string{
		`<h2 id="h-gate">Gate: <span class="status fail"><span aria-hidden="true">✕ </span>Fail: blocked</span></h2>`,
		"Compared with <code>main</code>.",
		`<span class="hidden">Not met:</span></span> <b><bdi>must-pass tone</bdi></b> <bdi>Assertion &#34;tone&#34; must pass and failed 59 times.</bdi> <a href="#case=a+b%26c%2F%7C&amp;p=0">case 60: q=a</a> <span class="note">and 58 more</span>`,
		`<li><span class="note">Note:</span> <b><bdi>assertions brief</bdi></b>`,
		"<li>About 90 cases would be enough to decide.</li>",
	} {
		if !strings.Contains(before, want) {
			t.Errorf("the head of the page lacks %s:\n%s", want, before[strings.LastIndex(before, "<main"):])
		}
	}
	if strings.Count(after, ` id="case=a+b%26c%2F%7C&amp;p=0"`) != 1 || !strings.Contains(after, "These are the worst 50 of 59 results") {
		t.Error("the page without a script lacks the row that the decision is about")
	}
	text := shown(t, "markdown", m, sum, rows)
	for _, want := range []string{"**Gate: ✗ Fail: blocked**, compared with `main`\n\n- ✗ `must-pass tone`: Assertion \"tone\" must pass and failed 59 times.\n- Note: `assertions brief`: It got worse", "- About 90 cases would be enough to decide.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("Markdown lacks %s:\n%.1500s", want, text)
		}
	}
	decision := parse(t, shown(t, "json", m, sum, rows)).At("proviso").(*value.Object).Object("decision")
	if got := value.Stringify(decision); got != `{"decision":"fail","reasons":[{"rule":"must-pass","assertion":"tone","met":false,"text":"Assertion \"tone\" must pass and failed 59 times.","rows":[59,0],"more_rows":57},`+
		`{"rule":"assertions","assertion":"brief","met":true,"text":"It got worse by less than the margin."}],"needed":{"cases":90,"repeats":0},"base":"main"}` {
		t.Errorf("JSON: %s", got)
	}
	m.Decision = nil
	for format, not := range map[string]string{"html": `id="h-gate"`, "markdown": "Gate:", "json": `"decision":`} {
		if strings.Contains(shown(t, format, m, sum, rows), not) {
			t.Errorf("%s has a decision that nobody made", format)
		}
	}
}

// TestOutcomesHaveWords: an outcome is never shown by a colour alone.
func TestOutcomesHaveWords(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[string]string{"pass": "✓ Pass", "fail": "✕ Fail: blocked", "inconclusive": "? Inconclusive: undecided", "": "? Undecided: nothing to compare"} {
		m, sum, rows := decisionRun(t, &report.Decision{Outcome: outcome, Reasons: []report.Reason{{Rule: "margin", Text: "Why.", Met: outcome == "pass"}}})
		head := regexp.MustCompile(`(?s)<h2 id="h-gate">(.*?)</h2>`).FindString(shown(t, "html", m, sum, rows))
		if got := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(head, ""); got != "Gate: "+want {
			t.Errorf("%q: %s", outcome, got)
		}
	}
}

// TestDecisionIsHarmless: names of rules and assertions, and texts, come from a suite.
func TestDecisionIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, "x")
		m.Decision = &report.Decision{Outcome: "fail", Base: text, Reasons: []report.Reason{{Rule: text, Assertion: text, Text: text, Rows: []int{0}}}}
		page := shown(t, "html", m, sum, rows)
		_, strip, _ := strings.Cut(page, `<section class="gate `)
		strip, _, _ = strings.Cut(strip, "</section>")
		if strings.ContainsAny(regexp.MustCompile(`</?(h2|span|p|code|ul|li|b|bdi|a)( [a-z-]+="[^"<>]*")*>`).ReplaceAllString(strip[strings.Index(strip, ">")+1:], ""), "<>") {
			t.Errorf("markup in %s", strip)
		}
		parse(t, shown(t, "json", m, sum, rows))
		for line := range strings.Lines(outside(t, shown(t, "markdown", m, sum, rows))) {
			if strings.HasPrefix(line, "::") || regexp.MustCompile(`[^\\](<|\]\(|!\[|@[a-z])`).MatchString(line) && strings.HasPrefix(line, "- ✗ ") {
				t.Errorf("markup in %q", line)
			}
		}
	})
}

// TestPassRateDecision: an error is not a pass, and a result that depends on errors is
// undecided.
func TestPassRateDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []proviso.Status
		missed   bool
		outcome  string
		text     string
	}{
		"met":    {[]proviso.Status{proviso.Pass, proviso.Pass}, false, "pass", "2 of 2 passed, 100 %; at least 90 % must pass."},
		"missed": {[]proviso.Status{proviso.Pass, proviso.Fail}, true, "fail", "1 of 2 passed, 50 %; at least 90 % must pass."},
		"open":   {[]proviso.Status{proviso.Pass, proviso.Errored}, false, "inconclusive", "1 of 2 passed, 1 error, 50 %; at least 90 % must pass."},
	} {
		_, sum := plain()
		for i, s := range c.statuses {
			sum.Add(i, resultOf(caseOf(t, i, `{"vars":{},"assert":[{"type":"contains","value":"x"}]}`), "y", s))
		}
		d := report.PassRateDecision(sum, 0.9, c.missed)
		if r := d.Reasons[0]; d.Outcome != c.outcome || r.Text != c.text || (len(r.Rows) == 1) == (c.outcome == "pass") {
			t.Errorf("%s: %s %+v", name, d.Outcome, r)
		}
	}
}
