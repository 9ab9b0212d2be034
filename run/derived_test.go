package run_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
)

// TestDerived: expressions see the sums of the named scores and __count. An expression that
// reads itself or a later one sees its value after the previous row, as in promptfoo, which
// evaluates after every row.
func TestDerived(t *testing.T) {
	t.Parallel()
	const cases = `
tests:
  - {vars: {n: a}, assert: [{type: contains, value: a, metric: hit}]}
  - {vars: {n: b}, assert: [{type: contains, value: a, metric: hit}]}
  - {vars: {n: ab}, assert: [{type: contains, value: a, metric: hit}]}
  - {vars: {n: ba}, assert: [{type: contains, value: a, metric: hit}]}
`
	for _, tt := range []struct {
		name, metrics string
		want          map[string]any
	}{
		{"mean", `[{name: rate, value: "hit / __count"}]`, map[string]any{"rate": 0.75}},
		{"one after the other", `[{name: double, value: "hit * 2"}, {name: four, value: "double * 2"}]`, map[string]any{"double": 6.0, "four": 12.0}},
		{"itself", `[{name: sum, value: "sum + __count"}]`, map[string]any{"sum": 10.0}},
		{"forward", `[{name: before, value: "later"}, {name: later, value: "__count"}]`, map[string]any{"before": 3.0, "later": 4.0}},
		{"a metric no row has", `[{name: none, value: "missing + 1"}]`, map[string]any{"none": 0.0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name == "forward" || tt.name == "a metric no row has" {
				needsMathjs(t) // a name without a value needs mathjs
			}
			text := "prompts: [\"{{ n }}\"]\nproviders: [echo]\nderivedMetrics: " + tt.metrics + cases
			for _, concurrency := range []int{1, 4} {
				out := outcome(t, t.Context(), text, nil, run.Options{Limits: run.Limits{Concurrency: concurrency}})
				if d := cmp.Diff(tt.want, derived(out.Summary)); d != "" {
					t.Errorf("%d at a time: %s", concurrency, d)
				}
			}
		})
	}
}

// needsMathjs skips cases that only mathjs itself can decide: loading its bundle takes a minute
// under the race detector.
func needsMathjs(t *testing.T) {
	t.Helper()
	if race {
		t.Skip("reading the bundle of mathjs takes a minute with the race detector")
	}
}

func derived(s *report.Summary) map[string]any {
	m := map[string]any{}
	for _, d := range s.Columns()[0].Derived {
		m[d.Name] = d.Value
	}
	return m
}

// TestDerivedFunctions: the text of a JavaScript function is called once, at the
// end, with the sums.
func TestDerivedFunctions(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: ["hi {{ a }}"]
providers: [echo]
derivedMetrics:
  - {name: arrow, value: "(namedScores, context) => namedScores.m * 2 + namedScores.__count"}
  - {name: block, value: "s => { return s.m + 1; } // of all"}
  - name: func
    value: |
      async function (namedScores, {provider}) {
        return provider.id + namedScores.arrow;
      }
  - {name: wrong, value: "s => s.nothing.at"}
tests:
  - {vars: {a: x}, assert: [{type: contains, value: hi, metric: m}]}
  - {vars: {a: y}, assert: [{type: contains, value: hi, metric: m}]}
`, nil, run.Options{})
	want := map[string]any{"arrow": 6.0, "block": 3.0, "func": "echo6", "wrong": 0.0}
	for _, d := range out.Summary.Columns()[0].Derived {
		if d.Value != want[d.Name] {
			t.Errorf("%s is %v, want %v", d.Name, d.Value, want[d.Name])
		}
		delete(want, d.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if len(out.Problems) != 1 || !strings.Contains(out.Problems[0], `"wrong"`) {
		t.Errorf("warnings %q", out.Problems)
	}
	_, mistakes := plan(t, "prompts: [a]\nproviders: [echo]\nderivedMetrics: [{name: m, value: 's => s.'}]\n", nil, run.Options{})
	if err := mistakes.Err(); err == nil || !strings.Contains(err.Error(), `derived metric "m"`) {
		t.Errorf("a function that cannot be read: %v", err)
	}
}
