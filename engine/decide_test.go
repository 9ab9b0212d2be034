package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

func text(s string) engine.Answer { return engine.Answer{Output: proviso.Output{Value: s}} }

// TestDecide: a Go program can write assertions and answers without thinking of JavaScript's
// values.
func TestDecide(t *testing.T) {
	t.Parallel()
	e := open(t, nil, engine.Options{Judge: engine.Judge{Grader: named{}}})
	full := engine.Answer{
		Output: proviso.Output{Value: map[string]any{"n": 4, "list": []int{1, 2}}},
		Prompt: "How many?", Vars: value.ObjectOf("n", 4, "word", "list"), Metadata: value.ObjectOf("team", "a"),
	}
	for _, c := range []struct {
		name   string
		answer engine.Answer
		assert proviso.Assertion
		want   proviso.Status
	}{
		{"no value", text(`{"a":1}`), proviso.Assertion{Type: "is-json"}, proviso.Pass},
		{"no value, not JSON", text("{"), proviso.Assertion{Type: "is-json"}, proviso.Fail},
		{"a structure", full, proviso.Assertion{Type: "equals", Value: map[string]any{"n": 4, "list": []any{1, 2}}}, proviso.Pass},
		{"a template", full, proviso.Assertion{Type: "contains", Value: "{{ word }}"}, proviso.Pass},
		{"a condition", full, proviso.Assertion{Type: "contains", Value: "x", When: "vars.n == 5"}, proviso.Skip},
		{"metadata", full, proviso.Assertion{Type: "contains", Value: "x", When: "metadata.team == 'a'"}, proviso.Fail},
		{"a threshold", text("abcd"), proviso.Assertion{Type: "levenshtein", Value: "abcx", Threshold: 1}, proviso.Pass},
		{"a set", text("ab"), proviso.Assertion{Type: "assert-set", Assert: []*proviso.Assertion{{Type: "contains", Value: "a"}, {Type: "contains", Value: "c"}}}, proviso.Fail},
		{"a judge that fails", text("a"), proviso.Assertion{Type: "not-llm-rubric", Value: "is kind"}, proviso.Errored},
	} {
		r, err := e.Decide(t.Context(), c.answer, &c.assert)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := r.Verdicts[0]; got.Status != c.want || r.Aggregate.Status != c.want {
			t.Errorf("%s: %v (%s), all %v; want %v", c.name, got.Status, got.Reason, r.Aggregate.Status, c.want)
		}
	}
}

// TestDecideMistakes: all mistakes come at once, each with its assertion.
func TestDecideMistakes(t *testing.T) {
	t.Parallel()
	e := open(t, nil, engine.Options{})
	_, err := e.Decide(t.Context(), text("a"),
		&proviso.Assertion{Type: "contains"},
		&proviso.Assertion{Type: "cointains", Value: "a"},
		&proviso.Assertion{Type: "javascript", Value: "true"},
		&proviso.Assertion{Type: "select-best", Value: "the shortest"},
		&proviso.Assertion{Type: "llm-rubric", Value: "is kind"},
	)
	var all judge.Mistakes
	if !errors.As(err, &all) {
		t.Fatalf("%v", err)
	}
	got := map[string]string{}
	for _, m := range all {
		got[m.Pointer] = m.Code
	}
	want := map[string]string{
		"/0/value": proviso.Invalid, "/1/type": proviso.Invalid, "/2": proviso.Refused, "/3/type": proviso.Invalid, "/4/type": proviso.Unavailable,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("mistakes %v, want %v:\n%v", got, want, err)
	}
}

// TestCompileOnce: compiled assertions decide about many answers concurrently, and their
// resources are freed.
func TestCompileOnce(t *testing.T) {
	t.Parallel()
	e := open(t, nil, engine.Options{})
	given := &proviso.Assertion{Type: "contains", Value: "{{ word }}"}
	set, err := e.Compile(t.Context(), given)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			word := fmt.Sprint("w", i)
			a := text(strings.Repeat("w", i%2) + word)
			a.Vars = value.ObjectOf("word", word)
			if r := set.Decide(t.Context(), a); r.Aggregate.Status != proviso.Pass || r.Output.Text() != a.Output.Text() {
				t.Errorf("%d: %+v", i, r.Aggregate)
			}
		})
	}
	group.Wait()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r := set.Decide(ended, text("a")); r.Verdicts[0].Status != proviso.Errored || r.Aggregate.Status != proviso.Errored {
		t.Errorf("after the end of the context: %+v", r.Verdicts[0])
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if given.Pointer != "" {
		t.Error("the assertion of the program was changed")
	}
}
