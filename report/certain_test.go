package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

// certainRun is four rows in two columns: one passed and one certainly failed while
// one of its assertions had an error; one passed and one is an error.
func certainRun(t testing.TB) (*report.Meta, *report.Summary, []*proviso.Result) {
	t.Helper()
	m := &report.Meta{Types: types, RunID: "r", Columns: []report.Column{
		report.NewColumn(&proviso.Prompt{ID: "p1", Label: "first"}, &proviso.ProviderSpec{ID: "echo"}),
		report.NewColumn(&proviso.Prompt{ID: "p2", Label: "second"}, &proviso.ProviderSpec{ID: "echo"}),
	}}
	const text = `{"vars":{},"assert":[{"type":"latency","threshold":1},{"type":"contains","value":"x"}]}`
	var rows []*proviso.Result
	for i, statuses := range [][2]proviso.Status{{proviso.Pass, proviso.Pass}, {proviso.Pass, proviso.Pass}, {proviso.Errored, proviso.Fail}, {proviso.Errored, proviso.Pass}} {
		r := resultOf(caseOf(t, i/2, text), "y", statuses[0], statuses[1])
		r.PromptIdx = i % 2
		switch i {
		case 2:
			r.Error = ""
			r.Aggregate = proviso.Aggregate{Status: proviso.Fail, Unscored: true, Reason: r.Verdicts[1].Reason}
		case 3:
			r.Aggregate = proviso.Aggregate{Reason: r.Verdicts[0].Reason}
		}
		rows = append(rows, r)
	}
	return m, report.NewSummary(2), rows
}

// TestCertainFailureEverywhere: every format reports the row as a failure, and also
// shows the assertion that had an error. One pass and one error are 50 %.
func TestCertainFailureEverywhere(t *testing.T) {
	t.Parallel()
	m, sum, results := certainRun(t)
	rows := keep(t, m, sum, results)
	const broken, open = `Expected output to satisfy contains "x"`, "could not be decided"
	for format, want := range map[string][]string{
		"jsonl":    {`"success":false,"verdict":"fail","failureReason":1,"score":null,"namedScores":{},"error":"Expected`, `"gradingResult":{"pass":false,"score":null,`, `"score":0,"reason":"could not be decided","status":"error"`},
		"junit":    {`tests="4" failures="1" errors="1" skipped="0"`, `<failure message="contains: Expected output to satisfy contains "x"; latency, error: could not be decided" type="contains, latency">`},
		"csv":      {"FAIL,,", "ERROR,0,"},
		"markdown": {"**2 passed, 1 failed, 1 error** · pass rate 50 % (95 % interval 15–95 %, n = 4)", "x\"`\n- ! `latency`, error: `could not be decided`\n", "| `echo · first` | 50 % |", "| `echo · second` | 50 % | 9–100 % | 1 | 0 | 1 |"},
		"html":     {"Fail</span> <b>case 2</b>", "Error</span> <b>case 2</b>", "<b>50 %</b> pass rate, 95 % interval 15–95 %, n = 4", "<td>50 % <small>9–91 %</small>", "<td>50 % <small>9–100 %</small>", `<td class="n">1 of 2</td>`, `<rect class="ok" width="50.0" height="12"/><rect class="bad" x="75.0" width="25.0"`},
		"terminal": {"FAIL  case 2", "! latency, error: " + open, "✗ contains: " + broken, " 50%       1 of 2       first → echo", " 50%       1 of 2       second → echo, 1 error"},
	} {
		got := shown(t, format, m, sum, rows)
		for _, text := range want {
			if !strings.Contains(strings.ReplaceAll(got, "&quot;", `"`), text) {
				t.Errorf("%s lacks %s:\n%s", format, text, got)
			}
		}
	}
	var b strings.Builder
	place := func(test int, assertion []byte) (string, int) {
		return string(assertion), test
	}
	if err := report.Annotations(t.Context(), &b, report.AnnotationOptions{Place: place}, sum, rows); err != nil || !strings.Contains(b.String(), `::error file={"type"%3A"contains"%2C"value"%3A"x"},line=1,title=case 2::✗ contains: `) || !strings.Contains(b.String(), "%0A! latency, error: could not be decided\n") || strings.Count(b.String(), "::warning ") != 1 {
		t.Errorf("annotations: %s, %v", b.String(), err)
	}
}

// TestBatchIsNotBiased: while cases are undecided their pass rate is a range, and a
// case without a score is not in any mean.
func TestBatchIsNotBiased(t *testing.T) {
	t.Parallel()
	m, sum, results := certainRun(t)
	rows := keep(t, m, sum, results)
	_, again, err := report.FromRun(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*report.Summary{sum, again} {
		r := report.NewBatch(m, s).Results
		if r.PassRate != nil || r.Range == nil || *r.Range != (report.Interval{Low: 0.5, High: 0.75}) || r.Interval.Low > 0.16 || r.Interval.High < 0.95 {
			data, err := json.Marshal(r)
			t.Errorf("%s, %v", data, err)
		}
		if r.AverageScore == nil || *r.AverageScore != 1 {
			t.Errorf("average score %v", r.AverageScore)
		}
	}
	whole := report.NewSummary(2)
	for i, r := range results[:2] {
		whole.Add(i, r)
	}
	if r := report.NewBatch(m, whole).Results; r.PassRate == nil || *r.PassRate != 1 || *r.Range != (report.Interval{Low: 1, High: 1}) {
		t.Errorf("%+v", r)
	}
}

// TestRepeatsThatAreOpen: the range includes what undecided repeats can still change.
func TestRepeatsThatAreOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []proviso.Status
		low      float64
		high     float64
	}{
		"passed often enough":      {[]proviso.Status{proviso.Pass, proviso.Pass, proviso.Errored}, 1, 1},
		"may pass often enough":    {[]proviso.Status{proviso.Pass, proviso.Fail, proviso.Errored}, 1.0 / 3, 1},
		"cannot pass often enough": {[]proviso.Status{proviso.Fail, proviso.Fail, proviso.Errored}, 0, 1.0 / 3},
	} {
		sum := report.NewSummary(1)
		for i, s := range c.statuses {
			kase := caseOf(t, i, `{"vars":{},"assert":[{"type":"contains","value":"x"}]}`)
			kase.ID, kase.Repeat, kase.Repeats, kase.RepeatPass = "same", i, 3, 2
			sum.Add(i, resultOf(kase, "y", s))
		}
		if r := report.NewBatch(&report.Meta{}, sum).Results; *r.Range != (report.Interval{Low: c.low, High: c.high}) {
			t.Errorf("%s: %+v", name, *r.Range)
		}
	}
}

// TestRatesOfErrors: an error is not a pass, so a rate with errors is never 100 %. If
// nothing was decided, there is no rate, but the errors are shown.
func TestRatesOfErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		passed, errors int
		want           map[string]string // by format
	}{
		"half": {1, 1, map[string]string{
			"terminal": "   50%       1 of 2         9–100%   contains \"x\", 1 error\n",
			"markdown": "| `contains \"x\"` | 50 % | 9–100 % | 1 | 0 | 1 | 0 |",
			"junit":    `"1 of 2 passed, 1 error"`,
			"html":     "<li class=\"rate\"><b>50 %</b> pass rate, 95 % interval 9–100 %, n = 2"}},
		"nearly all": {999, 1, map[string]string{
			"terminal": "  >99%     999 of 1000 ",
			"markdown": "| > 99 % | 99–100 % | 999 | 0 | 1 | 0 |",
			"junit":    `"999 of 1000 passed, 1 error"`,
			"html":     "<td>&gt; 99 % <small>99–100 %</small>"}},
		"none": {0, 60, map[string]string{
			"terminal": "     –       0 of 60                 contains \"x\", 60 errors\n",
			"markdown": "**0 passed, 0 failed, 60 errors** · 0 ms\n",
			"junit":    `"0 of 60 passed, 60 errors"`,
			"html":     "<li class=\"rate\"><b>60 errors</b> of 60 results, so there is no pass rate</li>"}},
	} {
		m, sum := plain()
		var results []*proviso.Result
		for i := range c.passed + c.errors {
			status := proviso.Pass
			if i >= c.passed {
				status = proviso.Errored
			}
			results = append(results, resultOf(caseOf(t, i, `{"vars":{},"assert":[{"type":"contains","value":"x"}]}`), "y", status))
		}
		rows := keep(t, m, sum, results)
		for format, want := range c.want {
			if got := shown(t, format, m, sum, rows); !strings.Contains(got, want) {
				t.Errorf("%s: %s lacks %q:\n%.3000s", name, format, want, got)
			}
		}
	}
}
