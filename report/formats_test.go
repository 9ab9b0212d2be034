package report_test

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// shown is a report of the sample, or of other rows, in the given format.
func shown(t testing.TB, name string, m *report.Meta, sum *report.Summary, rows report.Rows) string {
	t.Helper()
	f, err := report.ForName(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.WriteTo(context.Background(), &b, f, m, sum, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everywhere is a run of two columns in which every untrusted input is text. Its rows are
// fail, error, pass and skip.
func everywhere(t testing.TB, text string) (*report.Meta, *report.Summary, report.Rows) {
	prompt, provider := &proviso.Prompt{Label: text, Raw: text}, &proviso.ProviderSpec{ID: text, Label: text}
	m := &report.Meta{Types: types, RunID: text, Suite: text, Version: text, Config: value.ObjectOf(text, text),
		Columns: []report.Column{report.NewColumn(prompt, provider), report.NewColumn(prompt, provider)}}
	sum := report.NewSummary(2)
	sum.SetDerived(0, text, text)
	var rows []*proviso.Result
	for i, s := range []proviso.Status{proviso.Fail, proviso.Errored, proviso.Pass, proviso.Skip} {
		c := &proviso.Case{ID: text, Index: i / 2, Description: text, Repeats: 1,
			Raw: value.ObjectOf("description", text, "vars", value.ObjectOf(text, text))}
		kinds := []*proviso.Assertion{{Type: "equals", Metric: text, Value: text + "!", Threshold: value.Undefined{}},
			{Type: text, ID: text, Value: text, Threshold: value.Undefined{}}}
		var verdicts []proviso.Verdict
		for _, a := range kinds {
			verdicts = append(verdicts, proviso.Verdict{Assertion: a, Status: s, Reason: text, Judge: text, Rendered: text, HasValue: i == 1,
				Evidence: []proviso.Evidence{{Quote: text, Start: -1, Note: text}}})
		}
		rows = append(rows, &proviso.Result{Case: c, Prompt: prompt, PromptIdx: i % 2, Provider: provider, Rendered: text,
			Vars: value.ObjectOf(text, text), Output: proviso.Output{Value: text}, Error: map[bool]string{true: text}[s == proviso.Errored],
			Verdicts:  verdicts,
			Aggregate: proviso.Aggregate{Status: s, Reason: text, Named: []proviso.NamedScore{{Name: text, Value: 1}}}})
	}
	var kept memoryRows
	for i, r := range rows {
		sum.Add(i, r)
		kept = append(kept, report.AppendRow(nil, i, r, m))
	}
	return m, sum, kept
}

// memoryRows are rows in memory.
type memoryRows [][]byte

func (r memoryRows) Err() error                    { return nil }
func (r memoryRows) Row(index int) ([]byte, error) { return r[index], nil }
func (r memoryRows) Rows() iter.Seq2[int, []byte]  { return slices.All(r) }

// nasty are hostile texts for formats other than the terminal.
var nasty = map[string]string{
	"markup":    `<script>window.owned=1</script><img src=x onerror="window.owned=1">]]><![CDATA[ --> <!-- </script`,
	"markdown":  "# h\n* [x](javascript:alert(1)) ![i](http://evil/i.png) @octocat #1 <b>x</b> `a``b```c````\n```\n~~~\n| a | b |\n\\| x\n---\n<details>",
	"formula":   "=HYPERLINK(\"http://evil\",\"x\")",
	"plus":      "+1+1",
	"minus":     "-2+3+cmd|' /C calc'!A0",
	"at":        "@SUM(A1)",
	"tab":       "\t=1",
	"return":    "\r=1",
	"full":      "\uff1d1+1",
	"quotes":    `a"b,c;d'e` + "\r\nf",
	"yaml":      "a: b\n- c\n--- !!python/object:os.system \"x\" &a *a #c {d} [e] ? k\t| > %",
	"members":   `","success":false,"verdict":"pass","index":9,"x":"`,
	"backslash": `\`,
	"surrogate": "a\xed\xa0\xbdb",
	"dollar":    `$&${x}{{.}}{{ env.X }}<!--rows-->`,
	"nonchars":  "\ufffe\uffff\U0001fffe",
}

// eachHostile calls do with every hostile text.
func eachHostile(t *testing.T, do func(t *testing.T, text string)) {
	for _, list := range []map[string]string{hostile, nasty} {
		for name, text := range list {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				do(t, text)
			})
		}
	}
}

// A run file may be damaged or made by hand. For any row, either a report or an error must
// result.
func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"index":0,"testIdx":4294967296,"promptIdx":-1,"verdict":"fail","score":"x","vars":{"a":[1,{"b":"}"}]},"repeat":{"of":2}}`))
	f.Add([]byte(`{"promptIdx":70000,"caseId":7,"repeat":3,"vars":[],"testCase":{"description":null},"gradingResult":{"componentResults":[{"members":9},{"members":-1},3]}}`))
	f.Add([]byte(`{"a":"\\","b":"\"`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, row []byte) {
		m, sum := meta(), report.NewSummary(1)
		for _, format := range report.Formats() {
			_ = report.WriteTo(context.Background(), io.Discard, format, m, sum, memoryRows{row, row})
		}
	})
}

// All formats report the same results of the rows.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	m, sum, rows := everywhere(t, "x") // one of each status
	totals := parse(t, shown(t, "json", m, sum, rows)).At("proviso").(*value.Object).At("totals")
	if got := value.Stringify(totals); got != `{"passed":1,"failed":1,"errors":1,"skipped":1,"cost":0}` {
		t.Errorf("JSON: %s", got)
	}
	if d := readJUnit(t, shown(t, "junit", m, sum, rows)); d.Tests != 4 || d.Failures != 1 || d.Errors != 1 || d.Skipped != 1 {
		t.Errorf("JUnit: %+v", d)
	}
	if got := shown(t, "markdown", m, sum, rows); !strings.Contains(got, "**1 passed, 1 failed, 1 error**, 1 skipped · pass rate 33 %") {
		t.Errorf("Markdown: %s", got)
	}
	table, page := shown(t, "csv", m, sum, rows), shown(t, "html", m, sum, rows)
	cells := map[string]int{}
	for _, d := range dataOf(t, page).details {
		cells[d.Status]++
	}
	for status, sign := range map[string]string{"pass": "✓", "fail": "✕", "error": "!", "skip": "–"} {
		if strings.Count(table, ","+strings.ToUpper(status)+",") != 1 {
			t.Errorf("CSV of %s: %s", status, table)
		}
		if cells[status] != 1 || !strings.Contains(page, sign+" </span>1</b>") {
			t.Errorf("the page has no %s", status)
		}
	}
}
