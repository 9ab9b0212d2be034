package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s", name, got)
	}
}

// keep writes rows to a run file, as a run does, and opens it.
func keep(t testing.TB, m *report.Meta, sum *report.Summary, rows []*proviso.Result) *runfile.Reader {
	t.Helper()
	w, err := runfile.Create(t.TempDir(), m.Header())
	if err != nil {
		t.Fatal(err)
	}
	for i := len(rows) - 1; i >= 0; i-- { // in a different order than the report
		sum.Add(i, rows[i])
		if err := w.Append(i, report.AppendRow(nil, i, rows[i], m)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(report.Trailer(m, sum)); err != nil {
		t.Fatal(err)
	}
	r, err := runfile.Open(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// types are some of the types of package check, with how reports compare them.
var types = proviso.Types{
	{Type: "contains", Match: proviso.MatchPart}, {Type: "contains-any", Match: proviso.MatchAnyOne}, {Type: "ends-with", Match: proviso.MatchEnd},
	{Type: "equals", Match: proviso.MatchWhole}, {Type: "icontains", Match: proviso.MatchPart, FoldsCase: true},
	{Type: "icontains-any", Match: proviso.MatchAnyOne, FoldsCase: true}, {Type: "levenshtein", Match: proviso.MatchWhole},
	{Type: "starts-with", Match: proviso.MatchStart},
}

// sample is a run with an example of everything.
func sample(t testing.TB) (*report.Meta, *report.Summary, []*proviso.Result) {
	prompt := &proviso.Prompt{ID: "p1", Label: "Say hello to {{name}}", Raw: "Say hello to {{name}}"}
	m := &report.Meta{Types: types, RunID: "20261121-113015-k3f9", Version: "0.1.0", Suite: "greetings",
		Started: time.Date(2026, 11, 21, 11, 30, 15, 0, time.UTC), Elapsed: 1534 * time.Millisecond,
		Config:  value.ObjectOf("description", "greetings"),
		Columns: []report.Column{report.NewColumn(prompt, &proviso.ProviderSpec{ID: "echo"})}}
	type row struct {
		test     string
		output   any
		statuses []proviso.Status
	}
	pass, fail, undecided, skip := proviso.Pass, proviso.Fail, proviso.Errored, proviso.Skip
	var results []*proviso.Result
	for i, c := range []row{
		{`{"description":"greets by name","vars":{"name":"Ann"},"assert":[{"type":"contains","value":"Hello Ann","metric":"greeting"},{"type":"is-json"}]}`,
			"Well, Hello Bob, how nice to see you here again", []proviso.Status{fail, skip}},
		{`{"description":"capital","vars":{"name":"x"},"assert":[{"type":"equals","value":"The capital of France is Paris, of course."}]}`,
			"The capital of France is Rome, of course.", []proviso.Status{fail}},
		{`{"vars":{"name":"Ann","greeting":"Good morning"},"assert":[{"type":"not-contains","value":"Bob"},{"type":"regex","value":"^H"},{"type":"contains","value":"Hello","metric":"greeting"}]}`,
			strings.Repeat("a long story about nothing ", 20) + "Bob" + strings.Repeat(" and more of it", 20), []proviso.Status{fail, fail, pass}},
		{`{"description":"structure","vars":{},"assert":[{"type":"equals","value":{"a":1,"b":[1,2]}},{"type":"starts-with","value":"Dear"}]}`,
			"{\"a\": 1,\n \"b\": [1, 3]}", []proviso.Status{fail, fail}},
		{`{"description":"provider is down","vars":{"name":"Ann"},"assert":[]}`, value.Undefined{}, nil},
		{`{"description":"one check could not be made","vars":{"name":"Ann"},"assert":[{"type":"contains","value":"Hello","metric":"greeting"},{"type":"webhook","value":"http://x"}]}`,
			"Hello Ann", []proviso.Status{pass, undecided}},
		{`{"description":"fine","vars":{"name":"Ann"},"assert":[{"type":"contains","value":"Hello","metric":"greeting"}]}`, "Hello Ann", []proviso.Status{pass}},
		{`{"description":"empty","vars":{"name":"Ann"},"assert":[{"type":"contains","value":"Hello"}]}`, "", []proviso.Status{fail}},
	} {
		test := caseOf(t, i, c.test)
		r := resultOf(test, c.output, c.statuses...)
		r.Prompt = prompt
		r.Rendered = "Say hello to Ann"
		for _, v := range r.Verdicts {
			if v.Assertion.Metric != "" {
				r.Aggregate.Named = append(r.Aggregate.Named, proviso.NamedScore{Name: v.Assertion.Metric, Value: v.Score})
			}
		}
		results = append(results, r)
	}
	down := results[4]
	down.Output.Error, down.Error, down.Aggregate = "connection refused", "echo: connection refused", proviso.Aggregate{}
	latency, cost := 250*time.Millisecond, 0.00125
	results[6].Output.Latency, results[6].Output.Cost = &latency, &cost
	results[6].Output.Usage = proviso.Usage{Prompt: 10, Completion: 5, Total: 15, Requests: 1}
	sum := report.NewSummary(1)
	sum.SetDerived(0, "double", 1.5)
	return m, sum, results
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, f := range report.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			m, sum, results := sample(t)
			rows := keep(t, m, sum, results)
			var b bytes.Buffer
			if err := report.WriteTo(context.Background(), &b, f, m, sum, rows); err != nil {
				t.Fatal(err)
			}
			text := b.Bytes()
			if f.Name == "html" {
				text = []byte(withoutBundle(t, b.String()))
			}
			golden(t, "sample."+f.Name, text)
		})
	}
}

// withoutBundle returns a page with plain-text data and without script and style, whose
// built files have tests of their own.
func withoutBundle(t *testing.T, page string) string {
	t.Helper()
	for _, part := range [][2]string{{"<style>", "</style>"}, {"<script>", "</script>"}, {`Content-Security-Policy" content="`, `"`}} {
		page = strings.Replace(page, block(t, page, part[0], part[1]), "…", 1)
	}
	return blocks.ReplaceAllStringFunc(page, func(one string) string {
		m := blocks.FindStringSubmatch(one)
		return "<!-- " + m[1] + "\n" + unpacked(t, m[2]) + "-->"
	})
}

func TestTerminalColorSaysTheSame(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	rows := keep(t, m, sum, results)
	var plain, colored bytes.Buffer
	if err := report.Terminal(&plain, report.TerminalOptions{}, m, sum, rows); err != nil {
		t.Fatal(err)
	}
	if err := report.Terminal(&colored, report.TerminalOptions{Color: true}, m, sum, rows); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(colored.String(), "\x1b[31mFAIL") {
		t.Error("colours are not where they belong")
	}
	stripped := colored.String()
	for _, code := range []string{"0", "1", "2", "31", "32", "33"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+code+"m", "")
	}
	if stripped != plain.String() {
		t.Error("the coloured report says something else")
	}
	if !strings.HasSuffix(plain.String(), "\n1 passed, 5 failed, 2 errors\n") {
		t.Errorf("the end is %q", plain.String()[plain.Len()-40:])
	}
}

func TestFromRunGivesTheSameReports(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	for i := range 5 { // repeats of one case; some fail
		c := caseOf(t, len(results), `{"vars":{},"assert":[{"type":"contains","value":"a"}]}`)
		c.ID, c.Repeat, c.Repeats, c.RepeatPass = "same", i, 5, 3
		status := proviso.Pass
		if i%2 == 1 {
			status = proviso.Fail
		}
		results = append(results, resultOf(c, "b", status))
	}
	rows := keep(t, m, sum, results)
	m2, sum2, err := report.FromRun(rows)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sum2.Repeats(), (report.RepeatSummary{Groups: 1, Flaky: 1, Met: 1, Forgiven: 2}); got != want {
		t.Errorf("repeats %+v, want %+v", got, want)
	}
	m2.Types, m2.RunID, m2.RunFile = types, m.RunID, m.RunFile
	for _, f := range report.Formats() {
		var first, second bytes.Buffer
		if err := report.WriteTo(context.Background(), &first, f, m, sum, rows); err != nil {
			t.Fatal(err)
		}
		if err := report.WriteTo(context.Background(), &second, f, m2, sum2, rows); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("%s of the kept run differs:\n%s\n%s", f.Name, first.String(), second.String())
		}
	}
}

func TestJSONIsValidAndRowsAreCopied(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	rows := keep(t, m, sum, results)
	f, err := report.ForFile("x/Out.JSON")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.WriteTo(context.Background(), &b, f, m, sum, rows); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatal("not JSON")
	}
	for i, r := range results {
		if !strings.Contains(b.String(), "\n"+string(report.AppendRow(nil, i, r, m))) {
			t.Errorf("row %d is not a line of the report", i)
		}
	}
	stats := parse(t, b.String()).At("results").(*value.Object).At("stats").(*value.Object)
	if stats.At("successes") != 1.0 || stats.At("failures") != 5.0 || stats.At("errors") != 2.0 {
		t.Errorf("stats %s", value.Stringify(stats))
	}
}
