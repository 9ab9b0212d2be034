package judge_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// TestReadRequestMistakes: all mistakes in a request are reported at once, with pointers.
func TestReadRequestMistakes(t *testing.T) {
	t.Parallel()
	const ok = `"agent_input": "i", "agent_output": "o"`
	many := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	for name, c := range map[string]struct {
		body string
		want []string // pointer: part of the message
	}{
		"no JSON":         {`{"agent_input": `, []string{": not JSON"}},
		"no object":       {`[]`, []string{": must be a JSON object, found a list"}},
		"null":            {`null`, []string{": found null"}},
		"empty":           {``, []string{": not JSON"}},
		"not UTF-8":       {"{\"agent_input\": \"\xff\"}", []string{": byte 0xff at offset 17"}},
		"all is missing":  {`{}`, []string{`: lacks "agent_input"`, `: lacks "agent_output"`, `: lacks "assertions"`}},
		"kinds":           {`{"agent_input": 1, "agent_output": null, "assertions": {}, "threshold": "1", "allow_errors": 1, "vars": [], "metadata": "x"}`, []string{"/agent_input: found a number", "/agent_output: found null", "/allow_errors: true or false", "/threshold: a number, found a text", "/vars: an object", "/metadata: an object", "/assertions: must be a list"}},
		"unknown fields":  {`{` + ok + `, "assertion": [], "assertions": [{"id": "a", "criterias": ["x"], "value": 3, "contains": "x"}], "zzzz": 1}`, []string{`/assertion: mean "assertions"`, `/zzzz: unknown field "zzzz"`, `/assertions/0/criterias: mean "criteria"`, `/assertions/0/value: belongs under check`, `/assertions/0/contains: belongs under check`}},
		"no assertions":   {`{` + ok + `, "assertions": []}`, []string{"/assertions: there are no assertions"}},
		"no objects":      {`{` + ok + `, "assertions": ["be kind", null]}`, []string{"/assertions/0: found a text", "/assertions/1: found null"}},
		"ids":             {`{` + ok + `, "assertions": [{"id": "", "criteria": ["x"]}, {"criteria": ["x"]}, {"id": "a", "criteria": ["x"]}, {"id": "a", "criteria": ["x"]}]}`, []string{"/assertions/0: needs an id", "/assertions/1: needs an id", `/assertions/3/id: second assertion has the id "a"`}},
		"no criteria":     {`{` + ok + `, "assertions": [{"id": "a", "instruction": "x"}, {"id": "b", "criteria": []}]}`, []string{`/assertions/0: "a" has no criteria and no check`, `/assertions/1: "b" has no criteria`}},
		"empty criterion": {`{` + ok + `, "assertions": [{"id": "a", "criteria": [" ", "x"]}, {"id": "b", "criteria": [{}]}, {"id": "c", "criteria": 3}]}`, []string{"/assertions/0/criteria/0: empty", "/assertions/1/criteria/0: text or a template", "/assertions/2/criteria: list of criteria"}},
		"severity":        {`{` + ok + `, "assertions": [{"id": "a", "criteria": ["x"], "severity": "mst", "weight": "2"}, {"id": "b", "criteria": ["x"], "weight": 0}]}`, []string{`/assertions/0/severity: must, should, info`, `/assertions/0/weight: a number`, `/assertions/1/weight: more than 0`}},
		"threshold":       {`{` + ok + `, "threshold": 1.5, "assertions": [{"id": "a", "criteria": ["x"]}]}`, []string{"/threshold: from 0 to 1"}},
		"type":            {`{` + ok + `, "assertions": [{"id": "a", "type": "llm-rubric", "criteria": ["x"]}]}`, []string{"/assertions/0/type: not \"llm-rubric\""}},
		"too many":        {`{` + ok + `, "assertions": ` + many(1001, "1") + `}`, []string{"/assertions: 1001 assertions, and at most 1000"}},
		"criteria":        {`{` + ok + `, "assertions": [{"id": "a", "criteria": ` + many(101, `"x"`) + `}]}`, []string{"/assertions/0/criteria: 101, and at most 100"}},
		"long":            {`{` + ok + `, "assertions": [{"id": "` + strings.Repeat("a", 201) + `", "instruction": "` + strings.Repeat("a", 10001) + `", "criteria": ["` + strings.Repeat("a", 4001) + `"]}]}`, []string{"/assertions/0/id: 201", "/assertions/0/instruction: 10001", "/assertions/0/criteria/0: 4001"}},
		"long output":     {`{"agent_input": "", "agent_output": "` + strings.Repeat("a", judge.MaxText+1) + `", "assertions": [{"id": "a", "criteria": ["x"]}]}`, []string{"/agent_output: at most 2097152"}},
		"long body":       {strings.Repeat(" ", judge.MaxBody+1), []string{": at most 8388608"}},
		"deep":            {strings.Repeat(`{"vars":`, 20000), []string{": not JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := judge.ReadRequest([]byte(c.body))
			var all judge.Mistakes
			if !errors.As(err, &all) || r != nil {
				t.Fatalf("got %v, %v", r, err)
			}
			if len(all) != len(c.want) {
				t.Errorf("%d mistakes, want %d:\n%v", len(all), len(c.want), err)
			}
			for i, want := range c.want {
				pointer, part, _ := strings.Cut(want, ": ")
				if i < len(all) && (all[i].Pointer != pointer || !strings.Contains(all[i].Message, part)) {
					t.Errorf("mistake %d is %s: %s; want %s", i, all[i].Pointer, all[i].Message, want)
				}
			}
		})
	}
}

// TestEvaluateMistakes has mistakes that are found when the assertions are compiled.
func TestEvaluateMistakes(t *testing.T) {
	t.Parallel()
	f := &fake{}
	for body, want := range map[string]string{
		`{"id": "a", "check": {"type": "contians", "value": "x"}}`:                                   `/assertions/0/check/type: unknown assertion type "contians"`,
		`{"id": "a", "check": {"type": "regex", "value": "("}}`:                                      `/assertions/0/check/value`,
		`{"id": "a", "when": "vars.", "criteria": ["x"]}`:                                            `/assertions/0/when`,
		`{"id": "a", "criteria": [{"template": "max-lenght"}]}`:                                      `/assertions/0/criteria/0/template: unknown template "max-lenght"`,
		`{"id": "a", "criteria": [{"template": "max-length", "params": {"wrods": 1}}]}`:              `/assertions/0/criteria/0/params/wrods`,
		`{"id": "a", "criteria": ["x"], "scope": {"each": "word"}}`:                                  `/assertions/0/scope/each`,
		`{"id": "a", "criteria": ["x"], "check": {"type": "judge", "criteria": ["y"]}}`:              `/assertions/0/check/type: a check is decided without a model`,
		`{"id": "a", "criteria": ["x"], "check": [{"type": "contains", "value": "y"}]}`:              `/assertions/0/check`,
		`{"id": "a", "check": {"type": "contains", "value": "x", "check": {"type": "is-json"}}}`:     `check`,
		`{"id": "a", "criteria": [{"template": "max-length", "params": {"words": 1}, "text": "x"}]}`: `/assertions/0/criteria/0`,
	} {
		r, err := judge.ReadRequest([]byte(`{"agent_input": "", "agent_output": "", "assertions": [` + body + `]}`))
		if err == nil {
			_, err = one(t, f).Evaluate(t.Context(), r)
		}
		var all judge.Mistakes
		if !errors.As(err, &all) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	if f.Count() > 0 {
		t.Error("the judge was asked in spite of mistakes")
	}
}

// TestRequestRoundTrip writes and reads a request without loss.
func TestRequestRoundTrip(t *testing.T) {
	t.Parallel()
	weight := 2.0
	want := &judge.Request{
		Input: "i", Output: "o", Threshold: ptr(0.5), AllowErrors: true,
		Vars: value.ObjectOf("a", 1.0), Metadata: value.ObjectOf("b", []any{"c"}),
		Assertions: []judge.Assertion{
			{ID: "a", Instruction: "x", Criteria: []judge.Criterion{{Text: "y"}, {Template: "max-length", Params: value.ObjectOf("words", 3.0)}}},
			{ID: "b", Check: value.ObjectOf("type", "is-json"), Type: "not-judge", When: "vars.a == 1", Weight: &weight, Severity: "must",
				Scope: value.ObjectOf("section", value.ObjectOf("from", "# A")), Description: "for people"},
		},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := judge.ReadRequest(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Error(diff)
	}
	var plain judge.Request
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	if again, _ = json.Marshal(plain); string(again) != string(text) {
		t.Errorf("through encoding/json: %s", again)
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, seed := range []string{
		`{"agent_input": "i", "agent_output": "o", "assertions": [{"id": "a", "instruction": "x", "criteria": ["y", {"template": "max-length", "params": {"words": 3}}]}]}`,
		`{"agent_input": "", "agent_output": "", "assertions": [{"id": "a", "check": {"type": "contains", "value": "x"}, "when": "true", "weight": 2}]}`,
		`{"agent_input": "\ud800", "agent_output": "x", "assertions": [{"id": "a", "criteria": ["x"], "scope": {"each": "line", "match": "any"}}]}`, `{`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := judge.ReadRequest(data)
		if err != nil {
			var all judge.Mistakes
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatalf("the error is %T", err)
			}
			return
		}
		j, err := judge.New(judge.Options{Judges: []judge.Seat{seat(&fake{})}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := j.Evaluate(t.Context(), r)
		var all judge.Mistakes
		if err != nil && !errors.As(err, &all) {
			t.Fatalf("the error is %T: %v", err, err)
		}
		if err == nil && (len(out.Results) != len(r.Assertions) || out.Passed+out.Failed > out.Total) {
			t.Fatalf("got %+v", out)
		}
	})
}
