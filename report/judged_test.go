package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

const judgeID = "openai:gpt-5 4f1d22a09c3b"

// judgedRun is a run whose assertion set was decided by a model: two rows pass, one fails,
// one has no verdict, and nothing applied to one.
func judgedRun(t testing.TB) (*report.Meta, *report.Summary, []*proviso.Result) {
	m := &report.Meta{Types: types, RunID: "20261121-113015-k3f9", Version: "0.1.0", Suite: "support", Started: time.Date(2026, 11, 21, 11, 30, 15, 0, time.UTC), Config: value.ObjectOf("id", "support-agent"),
		Columns: []report.Column{report.NewColumn(&proviso.Prompt{ID: "p1", Label: "p", Raw: "p"}, &proviso.ProviderSpec{ID: "echo"})}}
	cites := &proviso.Assertion{ID: "cites", Type: "judge", Instruction: "Cite sources.", Pointer: "/assertions/0",
		Raw: value.ObjectOf("id", "cites", "instruction", "Cite sources.", "criteria", []any{"Every claim names its source."})}
	brief := &proviso.Assertion{ID: "brief", Type: "word-count", Pointer: "/assertions/1",
		Raw: value.ObjectOf("id", "brief", "check", value.ObjectOf("type", "word-count", "value", 20.0))}
	var rows []*proviso.Result
	for i, status := range []proviso.Status{proviso.Pass, proviso.Pass, proviso.Fail, proviso.Errored, proviso.Skip} {
		r := resultOf(caseOf(t, i, `{"vars":{"q":"What is tea?"}}`), "A drink [1].")
		first := proviso.Verdict{Assertion: cites, Status: status, Reason: "Every claim names its source.", Judge: judgeID,
			Usage: proviso.Usage{Prompt: 1000, Cached: 800, Completion: 50, Total: 1050, Requests: 1}, Cost: 0.002, Cached: i == 1,
			Evidence: []proviso.Evidence{{Quote: "[1]", Start: 8}},
			Criteria: []proviso.CriterionVerdict{{Criterion: proviso.Criterion{Text: "Every claim names its source."}, Status: status,
				Reasoning: "It does.", Votes: proviso.Votes{Met: 2, Unmet: 1}, Note: "one quote does not occur in the output"}}}
		if status == proviso.Errored {
			first.Criteria[0].CannotTell, first.Criteria[0].Votes = true, proviso.Votes{Met: 1, CannotTell: 2}
		}
		second := proviso.Verdict{Assertion: brief, Status: proviso.Pass, Score: 1}
		e := proviso.Evaluation{Passed: 2, Total: 2, Threshold: 1, PassedThreshold: true}
		share := 1.0
		switch status {
		case proviso.Pass:
			first.Score = 1
		case proviso.Fail:
			share, e.Passed, e.Failed, e.PassedThreshold = 0.5, 1, 1, false
			first.Reason = "No source is named."
		case proviso.Errored:
			e.Passed, e.Errors, e.PassedThreshold = 1, 1, false
			first.Reason = "the judge gave no verdict"
		case proviso.Skip:
			first.Judge, first.Usage, first.Cost, second.Status = "", proviso.Usage{}, 0, proviso.Skip
			e = proviso.Evaluation{Skipped: 2, Threshold: 1, PassedThreshold: true}
		}
		if status != proviso.Errored && status != proviso.Skip {
			e.Score = &share
		}
		e.Status = status
		r.SetVerdict = []proviso.Verdict{first, second}
		r.Aggregate = proviso.Aggregate{Status: status, Score: share, Reason: first.Reason, Evaluation: &e}
		if status == proviso.Errored {
			r.Error = first.Reason
		}
		rows = append(rows, r)
	}
	return m, report.NewSummary(1), rows
}

func TestJudgedGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"batch", "json", "markdown", "terminal"} {
		m, sum, results := judgedRun(t)
		rows := keep(t, m, sum, results)
		text := shown(t, name, m, sum, rows)
		golden(t, "judged."+name, []byte(text))
		m2, sum2, err := report.FromRun(rows)
		if err != nil {
			t.Fatal(err)
		}
		m2.Types, m2.RunID, m2.RunFile = types, m.RunID, ""
		if again := shown(t, name, m2, sum2, rows); again != text {
			t.Errorf("%s of the kept run differs:\n%s\n%s", name, text, again)
		}
	}
}

// TestBatchNamesAndOrder fixes the names that other programs rely on.
func TestBatchNamesAndOrder(t *testing.T) {
	t.Parallel()
	m, sum, results := judgedRun(t)
	rows := keep(t, m, sum, results)
	text := shown(t, "batch", m, sum, rows)
	at := 0
	for _, name := range []string{"agent_id", "test_suite", "results", "total_cases", "passed_cases", "failed_cases", "average_score", "assertion_breakdown", "pass_rate"} {
		next := strings.Index(text[at:], `"`+name+`"`)
		if next < 0 {
			t.Fatalf("%s is missing, or not in its place:\n%s", name, text)
		}
		at += next
	}
	var b report.Batch
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	r := b.Results
	if b.AgentID != "support-agent" || b.TestSuite != "support" || r.TotalCases != 5 || r.PassedCases != 2 || r.FailedCases != 1 || r.ErrorCases != 1 || r.SkippedCases != 1 {
		t.Errorf("%+v", b)
	}
	if want := (1 + 1 + 0.5) / 3; r.AverageScore == nil || *r.AverageScore != want {
		t.Errorf("average score %v, want %v", r.AverageScore, want)
	}
	cites := r.AssertionBreakdown["cites"]
	if cites.PassRate == nil || *cites.PassRate != 2.0/3 || cites.Interval == nil || cites.Errors != 1 || cites.Agreement == nil || cites.Agreement.Validated {
		t.Errorf("%+v", cites)
	}
	if brief := r.AssertionBreakdown["brief"]; brief.Passed != 4 || brief.Skipped != 1 || brief.Agreement != nil {
		t.Errorf("%+v", brief)
	}
}

func TestBatchOfNothing(t *testing.T) {
	t.Parallel()
	b := report.NewBatch(&report.Meta{}, report.NewSummary(0))
	if b.Results.AverageScore != nil || b.Results.PassRate != nil || b.Results.Interval != nil || b.Results.AssertionBreakdown == nil {
		t.Errorf("%+v", b)
	}
	m := &report.Meta{Types: types, Columns: []report.Column{{ProviderID: "a"}, {ProviderID: "b"}}}
	if b := report.NewBatch(m, report.NewSummary(2)); b.AgentID != "" {
		t.Errorf("two providers are one agent: %q", b.AgentID)
	}
}

// TestCannotTell: every format shows the share of outputs for which the judge cannot
// tell, from the run and from its file.
func TestCannotTell(t *testing.T) {
	t.Parallel()
	m, sum, results := judgedRun(t)
	for _, i := range []int{2, 3} { // one failed for another reason, one is undecided
		c := &results[i].SetVerdict[0].Criteria
		*c = append(*c, proviso.CriterionVerdict{Criterion: proviso.Criterion{Text: "The hours are those of the handbook."}, CannotTell: true, Reasoning: "The handbook is not shown."})
	}
	rows := keep(t, m, sum, results)
	m2, sum2, err := report.FromRun(rows)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"terminal": {"judge cannot tell in 2 of 4 (50 %)", "unclear criteria in 1 assertion: the judge often cannot tell"},
		"markdown": {"(judge cannot tell in 2 of 4 (50 %))", "**unclear criteria in 1 assertion**: the judge often cannot tell"},
		"html":     {"<small>judge cannot tell in 2 of 4 (50 %)</small>", "<b>unclear criteria in 1 assertion</b>"},
		"json":     {`"cannotTell":2,"cannotTellShare":0.5`, `"status":"error","cannot_tell":true`},
		"batch":    {`"cannot_tell": 2, "cannot_tell_share": 0.5`},
	} {
		for _, text := range []string{shown(t, name, m, sum, rows), shown(t, name, m2, sum2, rows)} {
			text = strings.Join(strings.Fields(text), " ")
			for _, part := range want {
				if !strings.Contains(text, part) {
					t.Errorf("%s lacks %q:\n%.4000s", name, part, text)
				}
			}
		}
	}
}

// TestTooFewLabels has a judge with almost no labels of bad outputs: every format
// reports that, and shows no rates.
func TestTooFewLabels(t *testing.T) {
	t.Parallel()
	m, sum, results := judgedRun(t)
	rows := keep(t, m, sum, results)
	const text = "judge unvalidated (40 labels, 2 of bad outputs: not measured yet, it takes 8 more of bad outputs)"
	m.Trust = func(string, string, *value.Object) report.Trust {
		return report.Trust{TooFew: true, Text: text, Labels: 40, MissingBad: 8}
	}
	for name, want := range map[string]string{
		"terminal": "judge unvalidated: not measured yet, because there are too few labels",
		"markdown": "**judge unvalidated**: not measured yet, because there are too few labels",
		"html":     "<b>judge unvalidated</b>: not measured yet, because there are too few labels",
		"json":     `"labels":40,"measured":false,"missing":{"good":0,"bad":8}`,
		"batch":    `"missing": { "good": 0, "bad": 8 }`,
	} {
		got := strings.Join(strings.Fields(shown(t, name, m, sum, rows)), " ")
		if !strings.Contains(got, text) || !strings.Contains(got, want) {
			t.Errorf("%s does not say that the judge is not measured yet:\n%.3000s", name, got)
		}
	}
}

// TestAgreementIsShown compares a measured judge with an unmeasured one.
func TestAgreementIsShown(t *testing.T) {
	t.Parallel()
	m, sum, results := judgedRun(t)
	rows := keep(t, m, sum, results)
	kappa := 0.81
	asked := ""
	m.Trust = func(judge, assertion string, raw *value.Object) report.Trust {
		asked = judge + " " + assertion + " " + value.Stringify(raw)
		if judge != judgeID {
			return report.Trust{Text: "judge unvalidated"}
		}
		return report.Trust{Validated: true, Text: "judge validated: kappa 0.81, n 60", Labels: 60, Kappa: &kappa}
	}
	var b bytes.Buffer
	if err := report.Terminal(&b, report.TerminalOptions{}, m, sum, rows); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"markdown", "html", "json", "batch"} {
		if text := shown(t, name, m, sum, rows); strings.Contains(text, "judge unvalidated") || !strings.Contains(text, "0.81") {
			t.Errorf("%s does not show how far the judge agrees with people", name)
		}
	}
	words := strings.Join(strings.Fields(b.String()), " ") // lines are wrapped
	if strings.Contains(words, "unvalidated") || !strings.Contains(words, "judge validated: kappa 0.81, n 60") {
		t.Errorf("the terminal does not show how far the judge agrees with people:\n%s", b.String())
	}
	if want := judgeID + ` cites {"type":"judge","id":"cites","instruction":"Cite sources.","criteria":["Every claim names its source."]}`; asked != want {
		t.Errorf("asked about %s, want %s", asked, want)
	}
	if strings.Contains(b.String(), "have not been compared") {
		t.Errorf("the verdicts have been compared:\n%s", b.String())
	}
	m.Trust = func(string, string, *value.Object) report.Trust {
		return report.Trust{Weak: true, Text: "weak judge (measured on 50 labels: kappa 0.34, misses 28 % of bad outputs)", Labels: 50, Kappa: &kappa}
	}
	for _, name := range []string{"terminal", "markdown", "html", "json", "batch"} {
		text := strings.Join(strings.Fields(shown(t, name, m, sum, rows)), " ")
		if !strings.Contains(text, "weak judge (measured on 50 labels: kappa 0.34, misses 28 % of bad outputs)") ||
			strings.Contains(text, "have not been compared") || strings.Contains(text, `"validated":true`) || strings.Contains(text, `"validated": true`) {
			t.Errorf("%s of a weak judge:\n%.4000s", name, text)
		}
	}
	m.Trust = func(string, string, *value.Object) report.Trust {
		return report.Trust{Lapsed: true, Text: "judge unvalidated: the assertion has changed since it was aligned"}
	}
	for _, name := range []string{"terminal", "markdown", "html"} {
		if text := shown(t, name, m, sum, rows); !strings.Contains(text, "judge unvalidated") || strings.Contains(text, "have not been compared") {
			t.Errorf("%s trusts a judge that was compared on another assertion", name)
		}
	}
}
