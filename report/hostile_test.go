package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// hostileRun is a run in which every untrusted input is text.
func hostileRun(t testing.TB, kind, text string, val any) string {
	c := &proviso.Case{ID: text, Description: text, Repeats: 1,
		Raw: value.ObjectOf("description", text, "vars", value.ObjectOf(text, text))}
	a := &proviso.Assertion{Type: kind, Metric: text, Value: val, Threshold: value.Undefined{}}
	odd := &proviso.Assertion{Type: text, Value: val, Threshold: value.Undefined{}}
	prompt, provider := &proviso.Prompt{Label: text, Raw: text}, &proviso.ProviderSpec{ID: text, Label: text}
	m := &report.Meta{Types: types, RunID: text, Suite: text, Columns: []report.Column{report.NewColumn(prompt, provider), report.NewColumn(prompt, provider)}}
	row := func(s proviso.Status) *proviso.Result {
		return &proviso.Result{Case: c, Prompt: prompt, Provider: provider, Rendered: text, Vars: value.ObjectOf(text, text),
			Output: proviso.Output{Value: text}, Error: text,
			Verdicts: []proviso.Verdict{{Assertion: a, Status: s, Reason: text, Criteria: []proviso.CriterionVerdict{{Criterion: proviso.Criterion{Text: text}, Status: s,
				Reasoning: text + " more", Note: text, Evidence: []proviso.Evidence{{Quote: text}, {Quote: text + " not there", Start: -1}}}}}, {Assertion: odd, Status: s, Reason: text}},
			Aggregate: proviso.Aggregate{Status: s, Reason: text,
				Named: []proviso.NamedScore{{Name: text, Value: 1}}}}
	}
	var rows []*proviso.Result
	for range 2 {
		rows = append(rows, row(proviso.Fail), row(proviso.Errored))
	}
	sum := report.NewSummary(2)
	sum.SetDerived(0, text, text)
	var b bytes.Buffer
	kept := keep(t, m, sum, rows)
	for _, width := range []int{50, 80} {
		b.Reset()
		if err := report.Terminal(&b, report.TerminalOptions{Width: width}, m, sum, kept); err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, b.String())
	}
	return b.String()
}

// checkHarmless fails if text has an effect in a terminal or a CI system.
func checkHarmless(t testing.TB, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatal("the report is not UTF-8")
	}
	for _, r := range text {
		if r != '\n' && r != 0x200d && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Fatalf("the report holds %U", r)
		}
	}
	for line := range strings.Lines(text) {
		start := strings.TrimLeftFunc(line, unicode.IsSpace)
		if strings.HasPrefix(start, "::") || strings.HasPrefix(start, "##") {
			t.Fatalf("a line is a command: %q", line)
		}
		if n := utf8.RuneCountInString(line); n > 2000 {
			t.Fatalf("a line has %d characters", n)
		}
	}
	for _, command := range []string{"##[", "##vso["} {
		if strings.Contains(text, command) {
			t.Fatalf("the report holds %q", command)
		}
	}
	if !strings.HasSuffix(text, "\n0 passed, 2 failed, 2 errors\n") {
		t.Fatalf("the report ends in %q", text[max(0, len(text)-80):])
	}
}

var hostile = map[string]string{
	"escapes":   "\x1b[2J\x1b[31mred\x1b]0;title\x07\x9b1m\u009b2m",
	"bidi":      "abc\u202edef\u2066ghi\u200fjkl\ufeff",
	"lines":     "\n::error::boo\r\n::set-output name=x::y\n\v\f\u2028\u2029\u0085",
	"commands":  "x ##[error]boo ##vso[task.complete]",
	"not UTF-8": "\xff\xfe\xed\xa0\x80\xc3(",
	"marks":     "a" + strings.Repeat("\u0301", 20000),
	"wide":      strings.Repeat("漢字", 500),
	"long":      strings.Repeat("x", 20_000),
	"NUL":       "\x00\x7f",
	"empty":     "",
	"format":    "%s%d%!x(MISSING)",
}

func TestTerminalIsHarmless(t *testing.T) {
	t.Parallel()
	for name, text := range hostile {
		for _, kind := range []string{"contains", "equals", "not-contains", "ends-with", "icontains"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				checkHarmless(t, hostileRun(t, kind, text, text+"!"))
				checkHarmless(t, hostileRun(t, kind, text, text))
			})
		}
	}
}

func TestTerminalShowsEscapes(t *testing.T) {
	t.Parallel()
	got := hostileRun(t, "contains", "a\x1bb\nc\u202ed\xffe\U000e0041", "x")
	if want := `a\x1bb\nc\u202ed\xffe\u{e0041}`; !strings.Contains(got, want) {
		t.Errorf("%s is not in\n%s", want, got)
	}
}

func TestTerminalLimitsDetail(t *testing.T) {
	t.Parallel()
	m, sum := meta(), report.NewSummary(1)
	var rows []*proviso.Result
	for i := range 50 {
		c := caseOf(t, i, `{"vars":{},"assert":[{"type":"contains","value":"a"}]}`)
		status := proviso.Fail
		if i%5 == 4 {
			status = proviso.Pass
		}
		rows = append(rows, resultOf(c, "b", status))
	}
	r := keep(t, m, sum, rows)
	var short bytes.Buffer
	if err := report.Terminal(&short, report.TerminalOptions{Summary: true}, m, sum, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(short.String(), "FAIL") || !strings.HasSuffix(short.String(), "10 passed, 40 failed, 0 errors\n") {
		t.Errorf("the summary is\n%s", short.String())
	}
	for all, want := range map[bool]int{false: 20, true: 40} {
		var b bytes.Buffer
		if err := report.Terminal(&b, report.TerminalOptions{All: all}, m, sum, r); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "FAIL "); n != want {
			t.Errorf("all=%v: %d rows in detail", all, n)
		}
		more := "… and 20 more failures (proviso show 20261121-113015-k3f9)"
		if strings.Contains(b.String(), more) == all || !strings.Contains(b.String(), "case 1\n") || strings.Contains(b.String(), "case 50\n") {
			t.Errorf("all=%v:\n%s", all, b.String())
		}
	}
}

func FuzzTerminal(f *testing.F) {
	for _, text := range hostile {
		if len(text) < 1000 {
			f.Add("contains", text, text+"x")
			f.Add("equals", text, "x"+text)
		}
	}
	f.Fuzz(func(t *testing.T, kind, text, value string) {
		checkHarmless(t, hostileRun(t, kind, text, value))
	})
}

func BenchmarkSummaryAdd(b *testing.B) {
	r, sum := det5(b, 7), report.NewSummary(1)
	b.ReportAllocs()
	for b.Loop() {
		sum.Add(7, r)
	}
}

func BenchmarkSummaryAddRow(b *testing.B) {
	row, sum := report.AppendRow(nil, 7, det5(b, 7), meta()), report.NewSummary(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := sum.AddRow(row); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleForFile() {
	_, err := report.ForFile("out.docx")
	fmt.Println(err)
	// Output: no report format has the suffix of "out.docx"; the suffixes are .batch.json, .codequality.json, .csv, .html, .htm, .json, .jsonl, .ndjson, .junit.xml, .xml, .md, .yaml, .yml, .txt
}

// A huge output is one row like any other.
func TestTerminalOfAHugeOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes time")
	}
	c := caseOf(t, 0, `{"vars":{},"assert":[{"type":"contains","value":"needle and thread"},{"type":"equals","value":"x"}]}`)
	r := resultOf(c, strings.Repeat("hay\x1b\n", 2<<20), proviso.Fail, proviso.Fail)
	m, sum := meta(), report.NewSummary(1)
	var b bytes.Buffer
	if err := report.Terminal(&b, report.TerminalOptions{}, m, sum, keep(t, m, sum, []*proviso.Result{r})); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 3000 {
		t.Errorf("the report has %d bytes", b.Len())
	}
}
