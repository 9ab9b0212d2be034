package report_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// plain returns the start of a simple run: one prompt and one provider.
func plain() (*report.Meta, *report.Summary) {
	m := &report.Meta{Types: types, RunID: "r", Version: "0.1.0", Suite: "s",
		Columns: []report.Column{report.NewColumn(&proviso.Prompt{ID: "p1", Raw: "p"}, &proviso.ProviderSpec{ID: "echo"})}}
	return m, report.NewSummary(1)
}

// graded returns one row per case, with the given statuses of its assertions.
func graded(t testing.TB, cases []string, statuses ...[]proviso.Status) []*proviso.Result {
	var rows []*proviso.Result
	for i, c := range cases {
		rows = append(rows, resultOf(caseOf(t, i, c), "an output", statuses[i]...))
	}
	return rows
}

// TestOneLinePerAssertion: equal assertions of several cases share a line, different
// assertions of the same type do not, and all formats have the same lines.
func TestOneLinePerAssertion(t *testing.T) {
	t.Parallel()
	m, sum := plain()
	rows := graded(t, []string{
		`{"assert":[{"type":"not-icontains","value":"refund you"},{"type":"contains","value":"a","id":"first","metric":"tone"},{"type":"similar","value":"x","threshold":0.8}]}`,
		`{"assert":[{"type":"not-icontains","value":"refund you"},{"type":"contains","value":"b","metric":"tone"},{"type":"similar","value":"x","threshold":0.9}]}`,
		`{"assert":[{"type":"not-icontains","value":"refund you"},{"type":"not-icontains","value":"promise"}]}`,
	}, []proviso.Status{proviso.Fail, proviso.Pass, proviso.Pass}, []proviso.Status{proviso.Errored, proviso.Pass, proviso.Pass}, []proviso.Status{proviso.Pass, proviso.Pass})
	kept := keep(t, m, sum, rows)
	want := []string{`not-icontains "refund you"`, `first (tone): contains "a"`, `tone: contains "b"`, `not-icontains "promise"`, `similar "x", threshold 0.8`, `similar "x", threshold 0.9`}
	var got []string
	for _, a := range sum.Assertions() {
		got = append(got, a.Name())
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	line := map[string]string{
		"terminal": "   33%       1 of 3         6–94%    not-icontains \"refund you\", 1 error\n",
		"markdown": "| `not-icontains \"refund you\"` | 33 % | 6–94 % | 1 | 1 | 1 | 0 |\n",
		"github":   "| `not-icontains \"refund you\"` | 33 % | 6–94 % | 1 | 1 | 1 | 0 |\n",
		"html":     `<bdi>not-icontains &#34;refund you&#34;</bdi></th>`,
		"json":     `{"name":"not-icontains \"refund you\"","type":"not-icontains","label":"","passed":1,"failed":1,"errors":1,"skipped":0,"decided":2,`,
		"junit":    `<property name="assertion.not-icontains &quot;refund you&quot;" value="1 of 3 passed, 1 error"/>`,
		"batch":    `"not-icontains \"refund you\"": {`,
	}
	for format, want := range line {
		if text := shown(t, format, m, sum, kept); strings.Count(text, want) != 1 {
			t.Errorf("%s has not one %q:\n%s", format, want, text)
		}
	}
	if text := shown(t, "batch", m, sum, kept); !strings.Contains(text, `"first": {`) || !strings.Contains(text, `"tone": {`) {
		t.Errorf("batch:\n%s", text)
	}
}

// TestLinesAreBounded has 100,000 different assertions: failed ones have lines,
// regardless of their order, and every verdict is counted.
func TestLinesAreBounded(t *testing.T) {
	const distinct = 100_000
	m, sum := plain()
	r := resultOf(caseOf(t, 0, `{"assert":[{"type":"equals","value":"x"}]}`), "o", proviso.Pass)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range distinct {
		v := &r.Verdicts[0]
		v.Assertion = assertionOf(value.ObjectOf("type", "equals", "value", fmt.Sprintf("%d %s", i, strings.Repeat("long ", 1000))))
		v.Status = proviso.Pass
		if i%10_000 == 9_999 {
			sum.Add(i, r) // it passes before it fails
			v.Status = proviso.Fail
		}
		sum.Add(i, r)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 12<<20 {
		t.Errorf("the summary takes %d MiB", used>>20)
	}
	list := sum.Assertions()
	if len(list) != 1_001 {
		t.Fatalf("%d lines", len(list))
	}
	for i := range 8 { // texts are sorted by digits
		if a := &list[i]; a.Failed != 1 || a.Passed != 1 || !strings.HasPrefix(a.Value, fmt.Sprintf(`"%d9999 long`, i+1)) || len(a.Value) > 300 {
			t.Errorf("line %d is %.40q: %+v", i, a.Value, a.Counts)
		}
	}
	if more := list[1_000]; more.Name() != "99000 further assertions" || more.Passed != 99_000 || more.Failed != 0 {
		t.Errorf("the last line is %q: %+v", more.Name(), more.Counts)
	}
	var b bytes.Buffer
	if err := report.Terminal(&b, report.TerminalOptions{Summary: true}, m, sum, nil); err != nil {
		t.Fatal(err)
	}
	if want := "  … and 99960 more: 99960 of 99960 passed (in the JSON report)\n"; !strings.Contains(b.String(), want) {
		t.Errorf("the report lacks %q", want)
	}
}

// TestNamesAreWhole: narrow terminals show every name completely, and no line is
// longer than the terminal.
func TestNamesAreWhole(t *testing.T) {
	t.Parallel()
	m, _ := plain()
	sum := report.NewSummary(2)
	m.Suite = "the support agent of a large shop for garden furniture"
	m.Columns = []report.Column{
		report.NewColumn(&proviso.Prompt{ID: "p1", Label: "prompts.txt: You are the support agent of Velo, and you are brief."}, &proviso.ProviderSpec{ID: "openai:chat:gpt-4.1-mini-with-a-long-name"}),
		report.NewColumn(&proviso.Prompt{ID: "p2", Label: "prompts.txt: You are the support agent of Velo, and you are friendly."}, &proviso.ProviderSpec{ID: "openai:chat:gpt-4.1-mini-with-a-long-name"}),
	}
	rows := graded(t, []string{`{"description":"a customer who asks for money back twice","vars":{"question":"Can I have it?","customer":"Mrs Lindqvist"},
		"assert":[{"type":"not-icontains","value":"we will refund you the whole amount","metric":"promises_nothing_about_refunds"}]}`}, []proviso.Status{proviso.Fail})
	kept := keep(t, m, sum, rows)
	for _, width := range []int{50, 80, 120} {
		var b bytes.Buffer
		if err := report.Terminal(&b, report.TerminalOptions{Width: width, Color: false}, m, sum, kept); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.Contains(strings.ReplaceAll(text, "prompts.txt…", ""), "…") {
			t.Errorf("%d columns: something is cut:\n%s", width, text)
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%d columns: a line of %d:\n%s", width, n, line)
			}
		}
		words := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{`promises_nothing_about_refunds: not-icontains "we will refund you the whole amount"`, "and you are brief. → openai:chat:gpt-4.1-mini-with-a-long-name",
			"you are friendly. → openai:chat:gpt-4.1-mini-with-a-long-name", "twice", "customer=Mrs Lindqvist", m.Suite} {
			if !strings.Contains(words, want) {
				t.Errorf("%d columns: %q is missing:\n%s", width, want, text)
			}
		}
	}
}

// TestPromptsThatBeginAlike: prompts with the same beginning are distinguishable wherever
// columns have headings.
func TestPromptsThatBeginAlike(t *testing.T) {
	t.Parallel()
	m, _ := plain()
	sum := report.NewSummary(3)
	long := strings.Repeat("You are the support agent of Velo. ", 10)
	m.Columns = nil
	for _, end := range []string{"Be brief.", "Be friendly.", ""} {
		m.Columns = append(m.Columns, report.NewColumn(&proviso.Prompt{ID: end, Raw: long + end}, &proviso.ProviderSpec{ID: "echo"}))
	}
	kept := keep(t, m, sum, graded(t, []string{`{"assert":[{"type":"equals","value":"a"}]}`}, []proviso.Status{proviso.Pass}))
	for _, format := range []string{"terminal", "markdown", "html"} {
		text := shown(t, format, m, sum, kept)
		for _, want := range []string{"Velo. Be brief.", "Velo. Be friendly."} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%.3000s", format, want, text)
			}
		}
	}
}

// TestEqualErrorsOfARow: equal errors of a row are printed once.
func TestEqualErrorsOfARow(t *testing.T) {
	t.Parallel()
	m, sum := plain()
	r := resultOf(caseOf(t, 0, `{"assert":[{"type":"trace-span-count","value":"a"},{"type":"trace-error-spans"},{"type":"webhook","value":"u"}]}`), "o", proviso.Errored, proviso.Errored, proviso.Errored)
	for i := range 2 {
		r.Verdicts[i].Reason = "no spans of this row came in"
	}
	kept := keep(t, m, sum, []*proviso.Result{r})
	for _, format := range []string{"terminal", "markdown", "junit"} {
		text := shown(t, format, m, sum, kept)
		if n := strings.Count(text, "no spans of this row came in"); n != 1 && format != "junit" || n > 2 {
			t.Errorf("%s says it %d times:\n%s", format, n, text)
		}
		if !strings.Contains(text, "trace-span-count, trace-error-spans") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}

// TestLinesSayWhatWasCompared: the name of a line contains no threshold that has no effect,
// a type's threshold is printed beside the score, and an assertion of weight 0 is counted
// by its findings.
func TestLinesSayWhatWasCompared(t *testing.T) {
	t.Parallel()
	m, sum := plain()
	rows := graded(t, []string{`{"assert":[{"type":"contains","value":"x","threshold":0.8},{"type":"equals","value":"y","weight":0},{"type":"g-eval","value":"kind"},{"type":"not-g-eval","value":"rude"}]}`},
		[]proviso.Status{proviso.Fail, proviso.Pass, proviso.Fail, proviso.Fail})
	standard := 0.7
	v := rows[0].Verdicts
	v[1].Waived = true
	v[2].Score, v[2].Threshold, v[2].Reason = 0.4, &standard, "rather curt"
	v[3].Score, v[3].Threshold, v[3].Reason = 0.2, &standard, "rude"
	kept := keep(t, m, sum, rows)
	_, again, err := report.FromRun(kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*report.Summary{sum, again} {
		for _, a := range s.Assertions() {
			want := map[string]string{"contains": `contains "x"`, "equals": `equals "y", weight 0`, "g-eval": `g-eval "kind"`, "not-g-eval": `not-g-eval "rude"`}[a.Type]
			if a.Name() != want || a.Failed != 1 || a.Passed != 0 {
				t.Errorf("%q: %+v, want %q, failed", a.Name(), a.Counts, want)
			}
		}
	}
	for format, wants := range map[string][]string{
		"terminal": {"✗ g-eval: rather curt (score 0.4, threshold 0.7)\n", "✗ not-g-eval: rude\n", "equals \"y\", weight 0\n"},
		"markdown": {"rather curt (score 0.4, threshold 0.7)"},
		"html":     {"score 0.4 (threshold 0.7)"},
		"json":     {`"threshold":0.7,"assertion":{"type":"g-eval"`, `"waived":true,"assertion":{"type":"equals"`, `"assertPassCount":1`},
	} {
		text := shown(t, format, m, sum, kept)
		if format == "json" {
			text = strings.NewReplacer("\n", "", " ", "").Replace(text)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s:\n%.3000s", format, want, text)
			}
		}
	}
}

// TestScoresHaveTheirThreshold: the compared score is printed with its threshold.
func TestScoresHaveTheirThreshold(t *testing.T) {
	t.Parallel()
	m, sum := plain()
	rows := graded(t, []string{`{"threshold":0.75,"assert":[{"type":"similar","value":"x","threshold":0.8}]}`, `{"assert":[{"type":"equals","value":"x"}]}`},
		[]proviso.Status{proviso.Fail}, []proviso.Status{proviso.Fail})
	rows[0].Verdicts[0].Score, rows[0].Verdicts[0].Reason, rows[0].Aggregate.Score = 0.41, "not alike", 0.41
	half, weighted := 0.5, 0.25
	rows[1].Aggregate.Evaluation = &proviso.Evaluation{Score: &half, WeightedScore: &weighted, Passed: 1, Failed: 1, Total: 2, Threshold: 0.9}
	kept := keep(t, m, sum, rows)
	for format, want := range map[string][]string{
		"terminal": {"    score     0.41 (threshold 0.75)\n", "✗ similar: not alike (score 0.41, threshold 0.8)\n", "    score     weighted 0.25 (threshold 0.9)\n"},
		"markdown": {"Score 0.41 (threshold 0.75)\n", "not alike (score 0.41, threshold 0.8)", "Score weighted 0.25 (threshold 0.9)\n"},
		"html":     {"Score <bdi>0.41 (threshold 0.75)", "score 0.41 (threshold 0.8)", "Score <bdi>weighted 0.25 (threshold 0.9)"},
	} {
		text := shown(t, format, m, sum, kept)
		for _, one := range want {
			if !strings.Contains(text, one) {
				t.Errorf("%s lacks %q", format, one)
			}
		}
	}
}
