package baseline_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/baseline"
)

var update = flag.Bool("update", false, "write the golden files anew")

// example is a run with every kind of row and verdict.
func example() *gate.Run {
	none := math.NaN()
	return &gate.Run{
		Name:     "20261121-113015-k3f9",
		Identity: gate.Identity{Suite: "5u1te", Prompts: "9r0m", Judge: "openai:chat:gpt-5", Cases: "ca5e5", Repeats: 2},
		Columns:  []gate.Column{{Prompt: "short", Provider: "gpt"}, {Prompt: "long", Provider: "gpt"}},
		Rows: []gate.Row{
			{Index: 0, Case: gate.Case{ID: "saturday", Name: "saturday", Cluster: "hours"}, Status: proviso.Pass, Score: 1, Cost: 0.0025, Tokens: 120, LatencyMS: none,
				Verdicts: []gate.Verdict{{Assertion: "tone", Status: proviso.Pass, Score: 1, Criterion: "c1", Judge: "j"}, {Assertion: "brief", Status: proviso.Pass, Score: 1, Criterion: "b1"}}},
			{Index: 1, Case: gate.Case{ID: "saturday", Name: "saturday", Repeat: 1}, Status: proviso.Fail, Score: 0.25, LatencyMS: none,
				Verdicts: []gate.Verdict{{Assertion: "tone", Status: proviso.Fail, Score: 0.5, Criterion: "c1", Judge: "j"}, {Assertion: "brief", Status: proviso.Fail, Score: 0, Criterion: "b2"}}},
			{Index: 2, Column: 1, Case: gate.Case{Name: "a3f1", Vars: "7a7a"}, Status: proviso.Errored, LatencyMS: none,
				Verdicts: []gate.Verdict{{Assertion: "tone", Status: proviso.Errored, Criterion: "c1"}, {Assertion: "brief", Status: proviso.Skip, Criterion: "b1"}, {Assertion: "brief", Status: proviso.Pass, Score: 1, Criterion: "b3"}}},
		},
	}
}

// sorted puts verdicts in the order used in the file.
func sorted(r *gate.Run) *gate.Run {
	for i := range r.Rows {
		v := r.Rows[i].Verdicts
		r.Rows[i].Verdicts = append(append([]gate.Verdict(nil), v[1:]...), v[0])
	}
	return r
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := baseline.Write(&out, example()); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/example.jsonl"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || out.String() != string(want) {
		t.Errorf("%v; got\n%s", err, out.String())
	}
	first, _, _ := strings.Cut(out.String(), "\n")
	if !baseline.Is(first) || baseline.Is(`{"proviso":"run"}`) || baseline.Is("{") {
		t.Error("a baseline is not recognised")
	}
	got, err := baseline.Read(t.Context(), "b.jsonl", &out)
	if err != nil {
		t.Fatal(err)
	}
	run := sorted(example())
	run.Name = "b.jsonl"
	for i := range got.Rows { // NaN is not equal to itself
		if !math.IsNaN(got.Rows[i].LatencyMS) {
			t.Error("a baseline has a latency")
		}
		got.Rows[i].LatencyMS, run.Rows[i].LatencyMS = 0, 0
	}
	if !reflect.DeepEqual(got, run) {
		t.Errorf("got  %+v\nwant %+v", got, run)
	}
}

const header = `{"proviso":"baseline","format":1,"columns":[{"prompt":"p","provider":"q"}]}` + "\n"

func TestReadMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "b.jsonl: the file is empty"},
		{"nonsense", "b.jsonl:1:"},
		{"[]\n{}", "b.jsonl:1:1: expected an object, found a list"},
		{`{"proviso":"run"}`, "b.jsonl:1:1: this is not a baseline"},
		{`{"proviso":"baseline","format":2}`, "b.jsonl:1:32: the baseline has format 2; this version of proviso reads up to 1"},
		{`{"proviso":"baseline","format":1}`, "columns is a list of 1 to"},
		{header + `{"case":"a","columm":0}`, `b.jsonl:2:13: unknown key "columm" (did you mean "column"?)`},
		{header + `{"case":"a","column":1,"status":"pass","score":1,"assertions":{}}`, "b.jsonl:2:22: column is a whole number from 0 to 0"},
		{header + `{"case":"","column":0,"status":"pass","score":1,"assertions":{}}`, "b.jsonl:2:9: a row needs the name of its case"},
		{header + `{"case":"a","column":0,"status":"passed","score":1,"assertions":{}}`, "b.jsonl:2:33: a status is error, pass, fail, skip"},
		{header + `{"case":"a","column":0,"status":"pass","score":1.5,"assertions":{}}`, "b.jsonl:2:48: a score is a number from 0 to 1"},
		{header + `{"case":"a","column":0,"status":"pass","score":1,"assertions":{"tone":0.5}}`, "b.jsonl:2:71: a verdict is 1 or 0"},
		{header + `{"case":"a","column":0,"status":"pass","score":1,"assertions":{"tone":"pass"}}`, "b.jsonl:2:71: a verdict is 1 or 0"},
		{header + `{"case":"a","column":0,"status":"pass","score":1}`, "a row needs its assertions"},
		{header + `{"case":"a","column":0,"status":"pass","score":1,"assertions":{},"cost":-1}`, "cost is a number of US dollars"},
		{header + "{\n{}", "b.jsonl:2:"},
	} {
		_, err := baseline.Read(t.Context(), "b.jsonl", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
	_, err := baseline.Read(t.Context(), "b.jsonl", strings.NewReader(header+strings.Repeat("1\n", 150)))
	var all proviso.Mistakes
	if !errors.As(err, &all) || len(all) != 101 || all[100].More != 50 {
		t.Errorf("%d mistakes, want 100 and one that counts 50 more", len(all))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := baseline.Read(ctx, "b.jsonl", strings.NewReader(header)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzRead: everything that is read without a mistake stays the same when it is written
// and read again.
func FuzzRead(f *testing.F) {
	data, err := os.ReadFile("testdata/example.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add(header + `{"case":"a","vars":"","column":0,"status":"pass","score":1,"assertions":{"t":[1,"skip"]},"criteria":{"t":["x"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		run, err := baseline.Read(t.Context(), "f", strings.NewReader(text))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := baseline.Write(&first, run); err != nil {
			t.Fatal(err)
		}
		again, err := baseline.Read(t.Context(), "f", bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, first.String())
		}
		if err := baseline.Write(&second, again); err != nil || first.String() != second.String() {
			t.Errorf("%v\n%s\n%s", err, first.String(), second.String())
		}
	})
}
