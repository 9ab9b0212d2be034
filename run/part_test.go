package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/run"
)

// TestParts: a run has the rows of the parts that it takes, without those already finished.
func TestParts(t *testing.T) {
	t.Parallel()
	const text = "prompts: [a, b]\nproviders: [echo]\ntests: [{vars: {n: [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\"]}, assert: [{type: equals, value: a}]}]\n"
	given := []run.Part{{From: 4, To: 8}, {From: 10, To: 12, Earlier: func(take func(int, []byte) error) error { return take(11, []byte(`{"i":11}`)) }}, {From: 14}}
	var asked []int
	out := outcome(t, t.Context(), text, nil, run.Options{Task: run.Task{Take: func(_ context.Context, from int) (run.Part, bool, error) {
		if asked = append(asked, from); len(asked) > len(given) {
			return run.Part{}, false, nil
		}
		return given[len(asked)-1], true, nil
	}}})
	var got []int
	for index := range out.Rows.Rows() {
		got = append(got, index)
	}
	if want := "[4 5 6 7 10 14 15]"; fmt.Sprint(got) != want {
		t.Errorf("rows %v, want %v", got, want)
	}
	if want := "[0 8 12]"; fmt.Sprint(asked) != want {
		t.Errorf("parts were asked for from %v, want %v", asked, want)
	}
	failed, mistakes := plan(t, text, nil, run.Options{Task: run.Task{Dir: notKept, Take: func(context.Context, int) (run.Part, bool, error) { return run.Part{}, false, fmt.Errorf("no store") }}})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := failed.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no store") {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDivide: parts hold whole cases, and a run whose rows depend on each other is not sharded.
func TestDivide(t *testing.T) {
	t.Parallel()
	cases := func(n int, more string) string {
		return fmt.Sprintf("prompts: [\"{{ n }}\", b, c]\nproviders: [echo]\ntests: [%s{vars: {n: [%s\"0\"]}}]\n", more, strings.Repeat(`"0", `, n-1))
	}
	for _, tt := range []struct {
		name, text  string
		concurrency int
		rows, want  int
	}{
		{"few rows", cases(4, ""), 4, 0, 0},
		{"parts", cases(10, ""), 4, 9, 4},
		{"many rows", cases(1000, ""), 1, 12, 250},
		{"one after the other", cases(10, `{options: {runSerially: true}}, `), 4, 0, 0},
		{"an output that others use", cases(10, `{options: {storeOutputAs: x}}, `), 4, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, mistakes := plan(t, tt.text, nil, run.Options{Limits: run.Limits{Concurrency: tt.concurrency}})
			if err := mistakes.Err(); err != nil {
				t.Fatal(err)
			}
			if rows, parts := p.Divide(); rows != tt.rows || parts != tt.want {
				t.Errorf("%d parts of %d rows, want %d of %d", parts, rows, tt.want, tt.rows)
			}
		})
	}
}
