package engine_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// cases is a case source in Go.
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

// counter answers with a Go number.
type counter struct{}

func (counter) ID() string { return "counter" }

func (counter) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: map[string]any{"length": len(ask.Prompt), "list": []int{1, 2}}}, nil
}

// write creates a folder with files and returns the path of the suite in it.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "proviso.yaml")
}

// open opens a suite that is closed after the test.
func open(t testing.TB, s *proviso.Suite, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// reasons runs a suite and returns the reasons of its rows.
func reasons(t *testing.T, e *engine.Engine, task run.Task) string {
	t.Helper()
	p, mistakes := e.Plan(t.Context(), task)
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var all []string
	for _, data := range out.Rows.Rows() {
		v, err := value.ParseJSON(string(data))
		if err != nil {
			t.Fatal(err)
		}
		row := v.(*value.Object)
		all = append(all, value.Stringify(row.At("success"))+" "+value.Stringify(row.At("error")))
	}
	return strings.Join(all, "\n")
}

var mixed = map[string]string{
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
}

// TestTrusted runs a suite with the engine's own inner engines.
func TestTrusted(t *testing.T) {
	t.Parallel()
	s, mistakes := suite.Read(t.Context(), []string{write(t, mixed)}, suite.Options{SkipUnsupported: true})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	e := open(t, s, engine.Options{Policy: engine.Policy{Trusted: true, Sandbox: sandbox.Auto}, Judge: engine.Judge{Off: true}})
	const want = `false "SQL statement does not conform to the provided MySQL database syntax."` + "\n" +
		`false "\"llm-rubric\" needs a model that judges, and none is available"`
	if got := reasons(t, e, run.Task{SkipUnsupported: true}); got != want {
		t.Errorf("%s", got)
	}
}

// TestZeroOptions: by default, an untrusted suite runs no code, reads no file outside of its
// folder and sees no environment; the rest of it runs.
func TestZeroOptions(t *testing.T) {
	t.Parallel()
	s, mistakes := suite.Read(t.Context(), []string{write(t, mixed)}, suite.Options{SkipUnsupported: true})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	_, mistakes = open(t, s, engine.Options{}).Plan(t.Context(), run.Task{})
	text := ""
	for _, m := range mistakes {
		text += m.Code + " " + m.Message + "\n"
	}
	if !strings.Contains(text, proviso.Refused+" ") || !strings.Contains(text, "is code, which an untrusted suite may not run") || !strings.Contains(text, "no judge model is configured") {
		t.Errorf("mistakes: %s", text)
	}
	for value, want := range map[string]string{
		"file://../outside.txt": "",
		"{{ env.HOME }}.":       "true null",
	} {
		name := write(t, map[string]string{"proviso.yaml": "prompts: [p]\nproviders: [echo]\ntests: [{providerOutput: ., assert: [{type: equals, value: '" + value + "'}]}]\n"})
		if err := os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(name)), "outside.txt"), []byte("."), 0o600); err != nil {
			t.Fatal(err)
		}
		s, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{Facts: engine.Facts()})
		if err := mistakes.Err(); err != nil {
			t.Fatal(err)
		}
		e := open(t, s, engine.Options{Engines: engine.Engines{Env: proviso.EnvMap{"HOME": "/root"}}})
		if want == "" {
			if _, mistakes := e.Plan(t.Context(), run.Task{}); mistakes.Err() == nil {
				t.Errorf("%s is read", value)
			}
		} else if got := reasons(t, e, run.Task{}); got != want {
			t.Errorf("%s: %s", value, got)
		}
	}
}

// TestSuiteOfGo builds a suite from Go values, without a file.
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
		CaseSource: cases{{Vars: value.ObjectOf("text", "four", "n", 4), Assert: assert}, {Index: 1, Output: 3, HasOutput: true, Assert: []*proviso.Assertion{{Type: "equals", Value: 3}}}},
	}
	e := open(t, s, engine.Options{
		Policy:  engine.Policy{Trusted: true, Sandbox: sandbox.Auto},
		Engines: engine.Engines{Open: func(proviso.ProviderSpec, provider.Options) (proviso.Provider, error) { return counter{}, nil }},
	})
	if got := reasons(t, e, run.Task{}); got != "true null\ntrue null" {
		t.Errorf("%s", got)
	}
}
