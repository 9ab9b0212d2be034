package run_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// cases is a source of cases that a Go program made.
type cases []*proviso.Case

func (list cases) Cases() iter.Seq2[*proviso.Case, error] {
	return func(yield func(*proviso.Case, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// counter answers with a number of Go.
type counter struct{}

func (counter) ID() string { return "counter" }

func (counter) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: map[string]any{"length": len(ask.Prompt), "list": []int{1, 2}}}, nil
}

// reasons runs a plan and returns what its rows say.
func reasons(t *testing.T, p *run.Plan, mistakes proviso.Mistakes) string {
	t.Helper()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var all []string
	for _, row := range rows(t, out) {
		all = append(all, proviso.Stringify(row.At("success"))+" "+proviso.Stringify(row.At("error")))
	}
	return strings.Join(all, "\n")
}

// TestZeroOptions runs a suite with whatever a run makes for itself.
func TestZeroOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"proviso.yaml": `
prompts: ["{{ greeting | upper }} {{ env.HOME }}"]
providers: [echo]
derivedMetrics: [{name: double, value: 2 * hits}]
tests:
  - vars: {greeting: file://greeting.txt}
    assert:
      - {type: javascript, value: output.length === 6, metric: hits}
      - {type: regex, value: "(?<=HE)LLO"}
      - {type: is-sql}
  - {vars: {greeting: a}, assert: [{type: llm-rubric, value: kind}]}
`,
		"greeting.txt": "hello",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, mistakes := suite.Read(t.Context(), []string{filepath.Join(dir, "proviso.yaml")}, suite.Options{SkipUnsupported: true})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	p, mistakes := run.New(t.Context(), s, run.Options{Task: run.Task{SkipUnsupported: true}})
	const want = `false "SQL statement does not conform to the provided MySQL database syntax."` + "\n" +
		`false "\"llm-rubric\" needs a model that judges, and there is none here"`
	if got := reasons(t, p, mistakes); got != want {
		t.Errorf("%s", got)
	}
}

// TestSuiteOfGo makes a suite of Go's own values, and no file.
func TestSuiteOfGo(t *testing.T) {
	t.Parallel()
	assert := []*proviso.Assertion{
		{Type: "is-json", Value: map[string]any{"required": []string{"length"}, "properties": map[string]any{"length": map[string]any{"const": 4}}}},
		{Type: "javascript", Value: "output.length === 4 && output.list[1] === 2 && context.vars.n === 4"},
		{Type: "contains", Value: 4},
		{Type: "equals", Value: map[string]any{"list": []float32{1, 2}, "length": 4}},
		{Type: "levenshtein", Value: "xx", Threshold: 100},
		{Type: "contains-any", Value: []string{"length"}},
		{Type: "contains", Value: "length", When: "vars.n == 4"},
	}
	s := &proviso.Suite{
		Prompts:    []proviso.Prompt{{ID: "p", Label: "p", Raw: "{{ text }}"}},
		Providers:  []proviso.ProviderSpec{{ID: "counter"}},
		CaseSource: cases{{Vars: proviso.ObjectOf("text", "four", "n", 4), Assert: assert}, {Index: 1, Output: 3, HasOutput: true, Assert: []*proviso.Assertion{{Type: "equals", Value: 3}}}},
	}
	p, mistakes := run.New(t.Context(), s, run.Options{Engines: run.Engines{Open: func(proviso.ProviderSpec) (proviso.Provider, error) { return counter{}, nil }}})
	if got := reasons(t, p, mistakes); got != "true null\ntrue null" {
		t.Errorf("%s", got)
	}
}
