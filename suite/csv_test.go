package suite_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// corpus yields the records of a file of recorded promptfoo verdicts.
func corpus(t *testing.T, name string) []*value.Object {
	t.Helper()
	f, err := os.Open("../conformance/corpus/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []*value.Object
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		v, err := value.ParseJSON(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v.(*value.Object))
	}
	return list
}

func text(o *value.Object, key string) string { return value.ToString(o.At(key)) }

// cells are a few types of the table of package check, one of each form. Package
// conformance parses every type with the whole table.
var cells = suite.Cells{
	{Type: "bleu"}, {Type: "char-count"}, {Type: "contains"},
	{Type: "contains-all", Cell: listed}, {Type: "contains-any", Cell: listed},
	{Type: "contains-json", Cell: kept}, {Type: "cost", Cell: limited}, {Type: "ends-with"}, {Type: "equals"},
	{Type: "icontains-all", Cell: listed}, {Type: "icontains-any", Cell: listed}, {Type: "is-json", Cell: kept},
	{Type: "javascript", Code: true, Cell: proviso.CellFacts{Prefixes: "fn: eval:", Scripts: ".js .cjs .mjs .ts .cts .mts"}},
	{Type: "levenshtein", Cell: limited},
	{Type: "llm-rubric", Cell: proviso.CellFacts{Prefixes: "grade: llm-rubric:", Verbatim: true}},
	{Type: "python", Code: true, Cell: proviso.CellFacts{Scripts: ".py", BareScript: true}}, {Type: "regex"},
	{Type: "rouge-n", Cell: limited}, {Type: "ruby", Code: true}, {Type: "select-best", Cell: unwritten},
	{Type: "similar", Cell: proviso.CellFacts{Threshold: 0.8}}, {Type: "similar:cosine", Cell: unwritten},
	{Type: "trajectory:tool-used"}, {Type: "webhook", Address: true},
}

var (
	listed    = proviso.CellFacts{Form: proviso.CellList}
	kept      = proviso.CellFacts{Form: proviso.CellKept}
	unwritten = proviso.CellFacts{Form: proviso.CellNone}
	limited   = proviso.CellFacts{Threshold: 0.75}
)

// facts are cells, and a few providers of the table of package provider.
var facts = proviso.Facts{Types: proviso.Types(cells), Providers: proviso.Providers{
	{Name: "exec:", Code: true}, {Name: "golang:", Code: true}, {Name: "mcp", Code: true}, {Name: "python:", Code: true, File: true},
	{Name: "recorded:", File: true}, {Name: "ruby:", Code: true, File: true}, {Name: "webhook:", URL: true},
}}

func TestCaseFromRowCorpus(t *testing.T) {
	t.Parallel()
	records := corpus(t, "csv-row.jsonl")
	if len(records) == 0 {
		t.Fatal("no records")
	}
	for _, rec := range records {
		expect := rec.At("expect").(*value.Object)
		got, err := cells.CaseFromRow(rec.At("row").(*value.Object))
		if expect.Has("error") {
			if err == nil {
				t.Errorf("%s: got %s, want an error", text(rec, "id"), value.Stringify(got))
			}
			continue
		}
		if want := value.Stringify(expect.At("testCase")); err != nil || value.Stringify(got) != want {
			t.Errorf("%s: got %s, %v, want %s", text(rec, "id"), value.Stringify(got), err, want)
		}
	}
}

func TestParseExpected(t *testing.T) {
	t.Parallel()
	tests := []struct{ cell, want string }{
		{"contains-any: , ,", `{"type":"contains-any","value":[]}`},
		{`contains-all: "a, b", c`, `{"type":"contains-all","value":["a, b","c"]}`},
		{`contains-all: "open`, `{"type":"contains-all","value":" \"open"}`},
		{`contains-all: "a" b`, `{"type":"contains-all","value":" \"a\" b"}`},
		{`contains-all:`, `{"type":"contains-all","value":""}`},
		{`icontains-all: "a\"b\\c\d"`, `{"type":"icontains-all","value":["a\"b\\c\\d"]}`},
		{"not-similar(0.5): x", `{"type":"not-similar","value":"x","threshold":0.5}`},
		{"not-not-equals: x", `{"type":"equals","value":"not-not-equals: x"}`},
		{"trajectory:tool-used: search", `{"type":"trajectory:tool-used","value":"search"}`},
		{"trajectory:nothing", `{"type":"equals","value":"trajectory:nothing"}`},
		{"not-llm-rubric: rude ", `{"type":"not-llm-rubric","value":"rude"}`},
		{"grade: polite", `{"type":"llm-rubric","value":" polite"}`},
		{"python: len(output) > 1 ", `{"type":"python","value":"len(output) > 1"}`},
		{"ends-with: .", `{"type":"ends-with","value":"."}`},
		{"contains-json: {}", `{"type":"contains-json","value":" {}"}`},
		{"cost(1.)", `{"type":"equals","value":"cost(1.)"}`},
		{"cost(1)x", `{"type":"equals","value":"cost(1)x"}`},
		{"cost(1", `{"type":"equals","value":"cost(1"}`},
		{"", `{"type":"equals","value":""}`},
	}
	for _, tt := range tests {
		if got := value.Stringify(cells.ParseExpected(tt.cell)); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.cell, got, tt.want)
		}
	}
}

func TestCaseFromRow(t *testing.T) {
	t.Parallel()
	tests := []struct{ row, want, err string }{
		{row: `{"q":"a","__metadata:kind":"x","__metadata:tags[]":"a, b\\,c ,","__metadata:none":" "}`,
			want: `{"vars":{"q":"a"},"assert":[],"options":{},"metadata":{"kind":"x","tags":["a","b,c",""]}}`},
		{row: `{"__expected1":"","__expected2":"rouge-n: y","__config:__expected2:threshold":"0.3"}`,
			want: `{"vars":{},"assert":[{"type":"rouge-n","value":"y","threshold":0.3}],"options":{},"metadata":{"threshold":0.3}}`},
		{row: `{"__threshold":"0.5x"}`, want: `{"vars":{},"assert":[],"options":{},"threshold":0.5}`},
		{row: `{"__threshold":"-1e1e"}`, want: `{"vars":{},"assert":[],"options":{},"threshold":-10}`},
		{row: `{"__other":"v","n":1}`, want: `{"vars":{"__other":"v","n":"1"},"assert":[],"options":{}}`},
		{row: `{"__config:threshold":"1"}`, err: "expected __config"},
		{row: `{"__config:x:threshold":"1"}`, err: "names no __expected column"},
		{row: `{"__config:__expected:weight":"1"}`, err: `unknown setting "weight"`},
	}
	for _, tt := range tests {
		row, err := value.ParseJSON(tt.row)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cells.CaseFromRow(row.(*value.Object))
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got error %v, want %q", tt.row, err, tt.err)
			}
		case err != nil || value.Stringify(got) != tt.want:
			t.Errorf("%s: got %s, %v, want %s", tt.row, value.Stringify(got), err, tt.want)
		}
	}
}

func FuzzParseExpected(f *testing.F) {
	for _, s := range []string{"contains: a", "similar(0.5): x", "not-icontains-any: \"a\", b", "file://x.py:f", "trajectory:", "fn:", "\"\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		a := cells.ParseExpected(cell)
		if kind, ok := a.At("type").(string); !ok || kind == "" {
			t.Errorf("%q gives %s without a type", cell, value.Stringify(a))
		}
	})
}

func FuzzCSVRow(f *testing.F) {
	f.Add("q", "a", "__expected", "contains: a")
	f.Add("__config:__expected2:threshold", "1e", "__metadata:a[]", "x,\\,")
	f.Add("__threshold", "-.5e-", " __metric ", "m")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		row := &value.Object{}
		row.Set(k1, v1)
		row.Set(k2, v2)
		got, err := cells.CaseFromRow(row)
		if (got == nil) == (err == nil) {
			t.Errorf("%s: got %v, %v", value.Stringify(row), got, err)
		}
	})
}
