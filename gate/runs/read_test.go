package runs_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/value"
)

// kept writes rows to a run file and opens it.
func kept(t testing.TB, meta *value.Object, rows ...string) *runfile.Reader {
	t.Helper()
	w, err := runfile.Create(t.TempDir(), runfile.Header{Suite: "demo", Started: time.Unix(1e9, 0), Meta: meta})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if err := w.Append(i, fmt.Appendf(nil, `{"index":%d,%s}`, i, row)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	r, err := runfile.Open(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func read(t testing.TB, meta *value.Object, rows ...string) *gate.Run {
	t.Helper()
	run, err := runs.Read(kept(t, meta, rows...), "last")
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func columns(list ...[4]string) *value.Object {
	var out []any
	for _, c := range list {
		out = append(out, value.ObjectOf("promptLabel", c[0], "promptRaw", c[1], "providerId", c[2], "providerLabel", c[3]))
	}
	return value.ObjectOf("columns", out)
}

func TestRead(t *testing.T) {
	t.Parallel()
	run := read(t, columns([4]string{"Say {{x}}", "Say {{x}}", "echo", ""}, [4]string{"short", "Say {{x}}!", "openai:m", "M"}),
		`"id":"r/0","caseId":"one","promptIdx":1,"vars":{"b":[1,{"c":"\"}"}],"a":"x","_conversation":["old"]},`+
			`"testCase":{"metadata":{"cluster":"c1","conversationId":"k"},"id":"one"},"response":{"output":"Say \\\"a}","tokenUsage":{"total":7},"latencyMs":1.5},`+
			`"success":true,"verdict":"pass","score":1,"gradingResult":{"pass":true,"componentResults":[`+
			`{"pass":true,"score":1,"status":"pass","assertion":{"type":"contains","value":"a"}},`+
			`{"pass":true,"score":0.75,"status":"pass","assertion":{"type":"assert-set","metric":"s"},"members":2},`+
			`{"pass":true,"score":0.5,"status":"pass","assertion":{"type":"similar","value":"b","metric":"m"}},`+
			`{"pass":true,"score":9,"status":"pass","assertion":{"type":"judge","id":"tone","metric":"m","criteria":["polite"]},"members":1,"judge":"model#1"},`+
			`{"pass":false,"score":0,"status":"fail","assertion":{"type":"judge","id":"part"}},`+
			`{"pass":true,"score":null,"status":"fail","assertion":null}]},"latencyMs":1.5,"cost":0.25,"repeat":{"index":2,"of":3,"pass":3}`,
		`"caseId":"abc","promptIdx":0,"vars":{"a":"x","b":[1,{"c":"\"}"}]},"testCase":{"metadata":{"conversationId":"k"}},"response":{},"verdict":"error","score":0,"gradingResult":null,"latencyMs":0,"cost":0`)
	if want := []gate.Column{{Prompt: "prompt 1", Provider: "echo"}, {Prompt: "short", Provider: "M"}}; !slices.Equal(run.Columns, want) {
		t.Errorf("columns %v", run.Columns)
	}
	one, two := run.Rows[0], run.Rows[1]
	if one.Column != 1 || one.Status != proviso.Pass || one.Score != 1 || one.Cost != 0.25 || one.Tokens != 7 || one.LatencyMS != 1.5 {
		t.Errorf("%+v", one)
	}
	if c := one.Case; c.ID != "one" || c.Name != "one" || c.Cluster != "c1" || c.Repeat != 2 || c.Vars != two.Case.Vars || len(c.Vars) != 32 {
		t.Errorf("%+v, %+v", c, two.Case)
	}
	if two.Case.ID != "" || two.Case.Name != "abc" || two.Case.Cluster != "k" || two.Status != proviso.Errored || !math.IsNaN(two.LatencyMS) {
		t.Errorf("%+v", two)
	}
	var got []string
	for _, v := range one.Verdicts {
		got = append(got, fmt.Sprint(v.Assertion, " ", v.Status, " ", v.Score, " ", v.Judge))
	}
	if want := []string{"contains a pass 1 ", "m pass 0.5 ", "tone pass 1 model#1"}; !slices.Equal(got, want) {
		t.Errorf("verdicts %q", got)
	}
	if want := record.HashOf(value.ObjectOf("type", "contains", "value", "a")); one.Verdicts[0].Criterion != want {
		t.Errorf("criterion %s, want %s", one.Verdicts[0].Criterion, want)
	}
	i := run.Identity
	if i.Suite != "demo" || i.Judge != "model#1" || i.Repeats != 3 || i.Prompts == "" || i.Cases == "" {
		t.Errorf("%+v", i)
	}
}

// TestSameVerdictsAsRecord: the fast reader and the full decoder find the same verdicts
// in a row.
func TestSameVerdictsAsRecord(t *testing.T) {
	t.Parallel()
	row := `"caseId":"a","promptIdx":0,"verdict":"fail","gradingResult":{"componentResults":[
		{"status":"fail","assertion":{"type":"not-assert-set","metric":"set"},"members":3},
		{"status":"pass","assertion":{"type":"llm-rubric","value":"kind","metric":"rubric"},"judge":"m#1","members":1},
		{"status":"fail","assertion":{"type":"judge","id":"part"},"judge":"m#1"},
		{"status":"skip","assertion":{"id":"tone","check":{"type":"is-json"}}},
		{"status":"error","assertion":null,"members":1},
		{"status":"pass","assertion":{"type":"judge","id":"hidden"}},
		{"status":"pass","assertion":{"type":"is-json"}}]}`
	row = strings.ReplaceAll(row, "\n", "")
	r := kept(t, nil, row)
	run, err := runs.Read(r, "")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := runs.TextsOf(r).Row(0)
	if err != nil {
		t.Fatal(err)
	}
	var fast, whole []string
	for _, v := range run.Rows[0].Verdicts {
		fast = append(fast, fmt.Sprint(v.Assertion, v.Status))
	}
	for _, v := range texts.Verdicts {
		whole = append(whole, fmt.Sprint(v.Assertion, v.Status))
	}
	if want := []string{"rubricpass", "toneskip", "is-jsonpass"}; !slices.Equal(fast, want) || !slices.Equal(whole, want) {
		t.Errorf("fast %q, whole %q", fast, whole)
	}
	if run.Columns[0].Prompt != "column 1" {
		t.Errorf("%v", run.Columns)
	}
}

// TestTitles: the title of a case without an id is its description, otherwise its
// variables; a case with an id has no title.
func TestTitles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 2000)
	for want, row := range map[string]string{
		"":                      `"testCase":{"id":"refund-1","description":"a refund"}`,
		"a refund":              `"vars":{"q":"x"},"testCase":{"description":"a\nrefund"}`,
		"q=Where is it?, n=[1]": `"vars":{"q":"Where is\nit?","_conversation":["old"],"n":[1]},"testCase":{}`,
		"b=1":                   `"vars":{"a":"` + long + `","b":1},"testCase":{"description":null}`,
	} {
		run := read(t, nil, `"caseId":"0123abcd","promptIdx":0,"verdict":"pass",`+row)
		if c := run.Rows[0].Case; c.Title != want || c.Name != "0123abcd" {
			t.Errorf("%q, want %q: %+v", c.Title, want, c)
		}
	}
	run := read(t, nil, `"caseId":"0123abcd","promptIdx":0,"verdict":"pass"`)
	if got := run.Rows[0].Case.Label(); got != "0123abcd" {
		t.Errorf("a case of which nothing is known is called %q", got)
	}
}
