package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

func parse(t testing.TB, text string) *value.Object {
	t.Helper()
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v.(*value.Object)
}

// assertionOf creates an assertion from its JSON, as a suite does.
func assertionOf(raw *value.Object) *proviso.Assertion {
	a := &proviso.Assertion{Raw: raw, Value: value.Undefined{}, Threshold: value.Undefined{}}
	a.Type, _ = raw.At("type").(string)
	a.Metric, _ = raw.At("metric").(string)
	if v, ok := raw.Get("value"); ok {
		a.Value = v
	}
	if v, ok := raw.Get("threshold"); ok {
		a.Threshold = v
	}
	return a
}

// caseOf creates a case from its JSON, as a suite does.
func caseOf(t testing.TB, index int, text string) *proviso.Case {
	raw := parse(t, text)
	c := &proviso.Case{ID: fmt.Sprintf("case-%d", index), Index: index, Raw: raw, Repeats: 1}
	c.Description, _ = raw.At("description").(string)
	c.Vars, _ = raw.At("vars").(*value.Object)
	c.Metadata, _ = raw.At("metadata").(*value.Object)
	list, _ := raw.At("assert").([]any)
	for _, v := range list {
		c.Assert = append(c.Assert, assertionOf(v.(*value.Object)))
	}
	return c
}

// resultOf grades a case with the given status for each assertion.
func resultOf(c *proviso.Case, output any, statuses ...proviso.Status) *proviso.Result {
	r := &proviso.Result{
		Case:     c,
		Prompt:   &proviso.Prompt{ID: "p1", Label: "{{output}}", Raw: "{{output}}"},
		Provider: &proviso.ProviderSpec{ID: "echo"},
		Rendered: "prompt text",
		Vars:     c.Vars,
		Output:   proviso.Output{Value: output},
	}
	r.Aggregate = proviso.Aggregate{Status: proviso.Pass, Score: 1, Reason: "All assertions passed"}
	for i, a := range c.Assert {
		v := proviso.Verdict{Assertion: a, Status: statuses[i], Score: 1, Reason: "Assertion passed"}
		if f, ok := a.Threshold.(float64); ok && a.Type != "contains" { // as in package check
			v.Threshold = &f
		}
		switch v.Status {
		case proviso.Fail:
			v.Score, v.Reason = 0, fmt.Sprintf("Expected output to satisfy %s %s", a.Type, value.Stringify(a.Value))
			r.Aggregate = proviso.Aggregate{Status: proviso.Fail, Reason: v.Reason}
		case proviso.Errored:
			v.Score, v.Reason = 0, "could not be decided"
			r.Aggregate, r.Error = proviso.Aggregate{}, a.Type+": could not be decided"
		case proviso.Skip:
			v.Reason = "did not apply"
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	return r
}

// det5 is a row like those of the benchmark, with about 900 bytes of test data.
func det5(t testing.TB, i int) *proviso.Result {
	const summary = "not some men these before never much work her still against he how high know high used come man no"
	output := fmt.Sprintf(`{"id": %d, "name": "item-%05d", "tags": ["then", "most", "make"], "summary": "%s"}`, i, i, summary)
	c := caseOf(t, i, fmt.Sprintf(`{"description":"test %d","vars":{"output":%s},"assert":[
		{"type":"contains","value":"item-%05d"},
		{"type":"icontains-any","value":["NOPE-1","NOPE-2","ITEM-%05d"]},
		{"type":"regex","value":"\"id\": \\d+, \"name\": \"item-\\d{5}\""},
		{"type":"is-json","value":{"type":"object","required":["id","name","tags","summary"],"properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string","minLength":3},"tags":{"type":"array","items":{"type":"string"},"minItems":1},"summary":{"type":"string"}}}},
		{"type":"levenshtein","value":%s,"threshold":5}],"options":{},"metadata":{}}`,
		i, value.Stringify(output), i, i, value.Stringify(strings.Replace(output, "no\"", "zz\"", 1))))
	r := resultOf(c, output, proviso.Pass, proviso.Pass, proviso.Pass, proviso.Pass, proviso.Pass)
	r.Rendered = output
	return r
}

func meta() *report.Meta {
	prompt := &proviso.Prompt{ID: "p1", Label: "{{output}}", Raw: "{{output}}"}
	return &report.Meta{Types: types,
		RunID: "20261121-113015-k3f9", Version: "0.1.0", Suite: "bench",
		Started: time.Date(2026, 11, 21, 11, 30, 15, 0, time.UTC), Elapsed: 1234 * time.Millisecond,
		Columns: []report.Column{report.NewColumn(prompt, &proviso.ProviderSpec{ID: "echo"})},
	}
}

func TestAppendRow(t *testing.T) {
	t.Parallel()
	r := det5(t, 7)
	line := report.AppendRow(nil, 7, r, meta())
	if !strings.HasPrefix(string(line), `{"index":7,`) || strings.Contains(string(line), "\n") {
		t.Fatalf("the row is %s", line)
	}
	row := parse(t, string(line))
	for path, want := range map[string]string{
		"id": `"20261121-113015-k3f9/7"`, "caseId": `"case-7"`, "testIdx": `7`, "promptIdx": `0`, "promptId": `"p1"`,
		"provider": `{"id":"echo","label":""}`, "success": `true`, "verdict": `"pass"`, "failureReason": `0`, "score": `1`,
		"namedScores": `{}`, "latencyMs": `0`, "cost": `0`, "metadata": `{}`,
		"testCase": value.Stringify(r.Case.Raw), "vars": value.Stringify(r.Vars),
	} {
		if got := value.Stringify(row.At(path)); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	components := row.At("gradingResult").(*value.Object).At("componentResults").([]any)
	if len(components) != 5 {
		t.Fatalf("%d components", len(components))
	}
	for i, v := range components {
		if got := v.(*value.Object).At("assertion"); value.Stringify(got) != value.Stringify(r.Case.Assert[i].Raw) {
			t.Errorf("assertion %d is %s", i, value.Stringify(got))
		}
	}
	bare := *meta()
	bare.Columns = nil
	if string(report.AppendRow(nil, 7, r, &bare)) != string(line) {
		t.Error("a row without prepared columns differs")
	}
}

func TestAppendRowStatuses(t *testing.T) {
	t.Parallel()
	c := caseOf(t, 0, `{"vars":{},"assert":[{"type":"contains","value":"a"},{"type":"is-json"}],"metadata":{"a":1,"b":2}}`)
	for name, test := range map[string]struct {
		statuses [2]proviso.Status
		row      string
		second   string
	}{
		"fail":  {[2]proviso.Status{proviso.Pass, proviso.Fail}, `false "fail" 1 0`, `false 0 "fail"`},
		"error": {[2]proviso.Status{proviso.Pass, proviso.Errored}, `false "error" 2 0`, `false 0 "error"`},
		"skip":  {[2]proviso.Status{proviso.Pass, proviso.Skip}, `true "pass" 0 1`, `true 1 "skip"`},
	} {
		r := resultOf(c, "x", test.statuses[:]...)
		r.Output.Metadata = value.ObjectOf("b", 3.0)
		row := parse(t, string(report.AppendRow(nil, 0, r, meta())))
		got := fmt.Sprint(row.At("success"), " ", value.Stringify(row.At("verdict")), " ", row.At("failureReason"), row.At("score"))
		second := row.At("gradingResult").(*value.Object).At("componentResults").([]any)[1].(*value.Object)
		gotSecond := fmt.Sprint(second.At("pass"), " ", second.At("score"), " ", value.Stringify(second.At("status")))
		if got != test.row || gotSecond != test.second {
			t.Errorf("%s: row %s, second %s", name, got, gotSecond)
		}
		if got := value.Stringify(row.At("metadata")); got != `{"a":1,"b":3}` {
			t.Errorf("metadata %s", got)
		}
		if _, ok := row.Get("error"); ok == succeededName(test.row) {
			t.Errorf("%s: error is %v", name, row.At("error"))
		}
	}
}

func succeededName(row string) bool { return strings.HasPrefix(row, "true") }

func TestAppendRowWithoutAnswer(t *testing.T) {
	t.Parallel()
	r := &proviso.Result{Output: proviso.Output{Value: value.Undefined{}, Error: "no route"}, Error: "provider: no route"}
	row := parse(t, string(report.AppendRow(nil, 3, r, &report.Meta{})))
	if row.At("gradingResult") != nil || row.At("error") != "provider: no route" || row.At("failureReason") != 2.0 {
		t.Errorf("row %s", value.Stringify(row))
	}
	response := row.At("response").(*value.Object)
	if response.Has("output") || response.At("error") != "no route" {
		t.Errorf("response %s", value.Stringify(response))
	}
}

func TestAppendRowFlattensSets(t *testing.T) {
	t.Parallel()
	member := assertionOf(value.ObjectOf("type", "contains", "value", "y"))
	set := &proviso.Assertion{Type: "assert-set", Metric: "s", Assert: []*proviso.Assertion{member}, Threshold: 0.5,
		Value: value.Undefined{}, Raw: value.ObjectOf("type", "assert-set", "assert", []any{member.Raw})}
	r := &proviso.Result{Verdicts: []proviso.Verdict{
		{Assertion: set, Status: proviso.Fail, Score: math.NaN(), Components: []proviso.Verdict{
			{Assertion: member, Status: proviso.Fail, Rendered: "why", HasValue: true},
			{Status: proviso.Pass, Score: math.Inf(1)}}}}}
	row := parse(t, string(report.AppendRow(nil, 0, r, &report.Meta{})))
	got := value.Stringify(row.At("gradingResult").(*value.Object).At("componentResults"))
	want := `[{"pass":false,"score":null,"scoreText":"NaN","reason":"","status":"fail","assertion":{"type":"assert-set","threshold":0.5,"metric":"s"},"members":2},` +
		`{"pass":false,"score":0,"reason":"","status":"fail","assertion":{"type":"contains","value":"y"},"metadata":{"renderedAssertionValue":"why"}},` +
		`{"pass":true,"score":null,"scoreText":"Infinity","reason":"","status":"pass","assertion":null}]`
	if got != want {
		t.Errorf("components\n%s, want\n%s", got, want)
	}
}

func TestAppendRowAllocatesNothing(t *testing.T) {
	r, m, buf := det5(t, 7), meta(), make([]byte, 0, 64<<10)
	if n := testing.AllocsPerRun(100, func() { buf = report.AppendRow(buf[:0], 7, r, m) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzAppendRow(f *testing.F) {
	f.Add(0, "out\x1b[31m\xff\u202e", `{"a":"\ud800","b":[1,null]}`, "reason\n\x00", 1.5, uint8(1))
	f.Add(-5, "", "{}", "\xed\xa0\x80", math.NaN(), uint8(2))
	f.Fuzz(func(t *testing.T, index int, output, raw, reason string, score float64, status uint8) {
		v, err := value.ParseJSON(raw)
		if err != nil {
			v = output
		}
		o, ok := v.(*value.Object)
		if !ok {
			o = value.ObjectOf(output, v, "assert", []any{v, value.ObjectOf("type", reason)})
		}
		s := proviso.Status(status % 4)
		a := &proviso.Assertion{Type: reason, Value: v, Threshold: score, Raw: o, Weight: &score, Metric: output}
		latency := time.Duration(index)
		r := &proviso.Result{
			Case:     &proviso.Case{ID: output, Raw: o, Metadata: o, Repeats: index},
			Rendered: output, Vars: o, PromptIdx: index, Error: reason,
			Output: proviso.Output{Value: v, Error: reason, Cost: &score, Latency: &latency, LogProbs: []float64{score},
				ToolCalls: []any{v}, Metadata: o, Raw: o, Refused: true, TraceID: output, Guardrails: o},
			Aggregate: proviso.Aggregate{Status: s, Score: score, Reason: reason, Named: []proviso.NamedScore{{Name: output, Value: score}},
				Evaluation: &proviso.Evaluation{Score: &score}},
		}
		verdict := proviso.Verdict{Assertion: a, Status: s, Score: score, Reason: reason, Rendered: output, HasValue: true,
			Judge: output, Cost: score, Evidence: []proviso.Evidence{{Quote: output, Note: reason}}}
		set := verdict
		set.Components = []proviso.Verdict{verdict, {}}
		r.Verdicts, r.SetVerdict = []proviso.Verdict{verdict, set}, []proviso.Verdict{set}
		line := report.AppendRow(nil, index, r, &report.Meta{Types: types, RunID: output})
		if !json.Valid(line) || strings.Contains(string(line), "\n") {
			t.Fatalf("not a line of JSON: %s", line)
		}
		sum := report.NewSummary(0)
		sum.Add(index, r)
		if err := report.NewSummary(0).AddRow(line); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkAppendRow(b *testing.B) {
	r, m, buf := det5(b, 7), meta(), make([]byte, 0, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		buf = report.AppendRow(buf[:0], 7, r, m)
	}
	b.SetBytes(int64(len(buf)))
}
