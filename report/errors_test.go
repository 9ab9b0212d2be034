package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

// stopped is a run of 500 rows with a model that does not exist. One row failed and
// one has a different error.
func stopped(t testing.TB) (*report.Meta, *report.Summary, report.Rows) {
	t.Helper()
	m, sum := meta(), report.NewSummary(1)
	var kept memoryRows
	for i := range 500 {
		c := caseOf(t, i, `{"vars":{"n":"x"},"assert":[{"type":"contains","value":"a"}]}`)
		r := &proviso.Result{Case: c, Prompt: &proviso.Prompt{Label: "p"}, Provider: &proviso.ProviderSpec{ID: "openai:x"}, Vars: c.Vars, Rendered: "x",
			Aggregate: proviso.Aggregate{Status: proviso.Errored}, Error: "openai:x: HTTP 404: no such model"}
		switch i {
		case 7:
			r = resultOf(c, "out", proviso.Fail)
		case 9:
			r.Error = "openai:x: the answer was cut off"
		}
		kept = append(kept, report.AppendRow(nil, i, r, m))
	}
	for i := range kept { // rows finish in any order
		if err := sum.AddRow(kept[len(kept)-1-i]); err != nil {
			t.Fatal(err)
		}
	}
	return m, sum, kept
}

// TestOneErrorIsShownOnce: an error of many rows is shown once, with their number,
// and a missing answer is not shown as null.
func TestOneErrorIsShownOnce(t *testing.T) {
	t.Parallel()
	m, sum, rows := stopped(t)
	texts := map[string]string{}
	for _, format := range []string{"terminal", "markdown", "github"} {
		texts[format] = shown(t, format, m, sum, rows)
	}
	var short bytes.Buffer
	if err := report.Terminal(&short, report.TerminalOptions{Summary: true}, m, sum, rows); err != nil {
		t.Fatal(err)
	}
	texts["annotations"] = annotations(t, report.AnnotationOptions{}, sum, rows)
	for format, text := range texts {
		if strings.Count(text, "no such model") != 1 || strings.Count(text, "497 more rows with this error") != 1 {
			t.Errorf("%s shows an error of 498 rows as\n%s", format, text)
		}
		if strings.Count(text, "was cut off") != 1 || !strings.Contains(text, "case 8") {
			t.Errorf("%s lacks what is rare:\n%s", format, text)
		}
		if strings.Contains(text, "null") || strings.Contains(text, "more errors") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
	if text := short.String(); strings.Count(text, "498 rows  openai:x: HTTP 404: no such model") != 1 || strings.Contains(text, "case ") {
		t.Errorf("the summary alone:\n%s", text)
	}
}

// TestJUnitDescribesAnErrorOnce: the report has every row, and only the first one has the
// details.
func TestJUnitDescribesAnErrorOnce(t *testing.T) {
	t.Parallel()
	m, sum, rows := stopped(t)
	text := shown(t, "junit", m, sum, rows)
	if n := strings.Count(text, "<error "); n != 499 {
		t.Errorf("%d errors", n)
	}
	if n := strings.Count(text, `message="as case 1: openai:x: HTTP 404: no such model"`); n != 497 {
		t.Errorf("%d rows refer to the first", n)
	}
	if n := len(regexp.MustCompile(`(?s)<error [^>]*[^/]>`).FindAllString(text, -1)); n != 2 {
		t.Errorf("%d errors are described", n)
	}
	if strings.Contains(text, "output: null") {
		t.Error("an answer that is not there is null")
	}
}

// TestAnnotationPlace: the place is that of the first assertion that did not pass.
func TestAnnotationPlace(t *testing.T) {
	t.Parallel()
	m, sum := meta(), report.NewSummary(1)
	c := caseOf(t, 0, `{"vars":{},"assert":[{"type":"contains","value":"a"},{"type":"equals","value":"b","severity":"info"},{"type":"regex","value":"c"}]}`)
	c.Assert[1].Severity = proviso.Info
	r := resultOf(c, "out", proviso.Pass, proviso.Fail, proviso.Fail)
	broken := &proviso.Result{Case: caseOf(t, 1, `{"vars":{}}`), Prompt: &proviso.Prompt{Label: "p"}, Provider: &proviso.ProviderSpec{ID: "openai:x"}, Aggregate: proviso.Aggregate{Status: proviso.Errored}, Error: "down"}
	rows := memoryRows{report.AppendRow(nil, 0, r, m), report.AppendRow(nil, 1, broken, m)}
	sum.Add(0, r)
	sum.Add(1, broken)
	got := map[int]string{}
	annotations(t, report.AnnotationOptions{Place: func(test int, assertion []byte) (string, int) {
		got[test] = string(assertion)
		return "", 0
	}}, sum, rows)
	if want := string(report.AssertionJSON(c.Assert[2])); got[0] != want || got[1] != "" || len(got) != 2 {
		t.Errorf("asked for the places of %v, want %s and none", got, want)
	}
}
