package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// notKept is the folder of temporary runs.
const notKept = "-"

// plan reads the suite in text, with further files beside it, and makes a plan that stores its
// run in the test's own folder.
func plan(t *testing.T, text string, files map[string]string, o run.Options) (*run.Plan, proviso.Mistakes) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "proviso.yaml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{Facts: proviso.Facts{Types: check.Facts(), Providers: provider.Facts()}, SkipUnsupported: o.SkipUnsupported})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	code, templates := script.New(script.Options{}), template.New(template.Options{})
	t.Cleanup(func() { code.Close(); templates.Close() })
	o.Code, o.Templates, o.Metrics = code, templates, metrics
	o.Env, o.Files = proviso.EnvMap{}, suite.NewFiles(dir, suite.FilesOptions{})
	completed(&o)
	switch o.Dir {
	case "":
		o.Dir = filepath.Join(dir, "runs")
	case notKept:
		o.Dir = ""
	}
	return run.New(t.Context(), s, o)
}

// metrics is shared by all tests, since mathjs takes long to start.
var metrics = mathjs.New(mathjs.Options{})

// completed adds defaults for options that a test does not set.
func completed(o *run.Options) {
	if o.Metrics == nil {
		o.Metrics = metrics
	}
	if o.Open == nil {
		e := o.Engines
		o.Open = func(spec proviso.ProviderSpec) (proviso.Provider, error) {
			return provider.Open(spec, provider.Options{Files: e.Files, Env: suite.Environment(spec.Env, e.Env), Client: e.Client, Code: e.Code, Templates: e.Templates})
		}
	}
}

// outcome runs a suite without mistakes.
func outcome(t *testing.T, ctx context.Context, text string, files map[string]string, o run.Options) *run.Outcome {
	t.Helper()
	p, mistakes := plan(t, text, files, o)
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	})
	return out
}

// rows decodes the rows of a run.
func rows(t *testing.T, out *run.Outcome) []*value.Object {
	t.Helper()
	var list []*value.Object
	for _, data := range out.Rows.Rows() {
		v, err := value.ParseJSON(string(data))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v.(*value.Object))
	}
	if err := out.Rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// at follows the keys into v; a number is an index of a list.
func at(v any, path ...any) any {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			o, _ := v.(*value.Object)
			v = o.At(key)
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

// statuses returns the verdicts on the rows, in index order.
func statuses(t *testing.T, out *run.Outcome) string {
	t.Helper()
	var list []string
	for _, r := range rows(t, out) {
		list = append(list, fmt.Sprint(r.At("verdict")))
	}
	return strings.Join(list, " ")
}

func counts(out *run.Outcome) string {
	t := out.Totals
	return fmt.Sprintf("%d passed, %d failed, %d errors, %d skipped", t.Passed, t.Failed, t.Errors, t.Skipped)
}

// TestColumns: rows are ordered by case, then provider, then prompt, whichever finishes first.
func TestColumns(t *testing.T) {
	t.Parallel()
	const text = `
prompts: ["one {{ n }}", "two {{ n }}"]
providers:
  - {id: echo, label: A}
  - {id: echo, label: B}
tests:
  - {vars: {n: "0"}}
  - {vars: {n: "1"}, prompts: ["two {{ n }}"]}
  - {vars: {n: "2"}, providers: [B]}
`
	for _, concurrency := range []int{1, 7} {
		var got []string
		for _, r := range rows(t, outcome(t, t.Context(), text, nil, run.Options{Limits: run.Limits{Concurrency: concurrency}})) {
			got = append(got, fmt.Sprint(r.At("testIdx"), r.At("promptIdx"), " ", at(r, "provider", "label"), " ", at(r, "response", "output")))
		}
		want := []string{
			"0 0 A one 0", "0 1 A two 0", "0 2 B one 0", "0 3 B two 0",
			"1 1 A two 1", "1 3 B two 1",
			"2 2 B one 2", "2 3 B two 2",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d at a time: %s", concurrency, d)
		}
	}
}

// TestPrompts checks the sent prompts and the variables of the rows.
func TestPrompts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, prompt, vars, options, want string }{
		{"plain", `"hello {{ name }}"`, "{name: ada}", "", "hello ada"},
		{"undefined", `"hello {{ nobody }}!"`, "{name: ada}", "", "hello !"},
		{"number", `"{{ n }} and {{ list }}"`, "{n: 1.50, list: [[1, 2]]}", "", "1.5 and 1,2"},
		{"nested", `"{{ a }}"`, `{a: "a{{ b }}", b: "b{{ c }}", c: c}`, "", "abc"},
		{"nested in a loop", `"{{ a }}"`, `{a: "a{{ b }}", b: "b{{ a }}"}`, "", ""},
		{"itself", `"{{ a }}"`, `{a: "x{{ a }}"}`, "", strings.Repeat("x", 64) + "{{ a }}"},
		{"trailing line break", `"{{ a }}{{ b }}."`, `{a: "a\n", b: "b\n\n"}`, "", "ab\n."},
		{"filter", `"{{ a | upper }}"`, `{a: "x"}`, "", "X"},
		{"condition", `"{% if a %}yes{% else %}no{% endif %}"`, `{a: ""}`, "", "no"},
		{"JSON", `'[{"role": "user", "content": "{{ a }}"}]'`, `{a: "say \"hi\"\nand go"}`, "", "[\n  {\n    \"role\": \"user\",\n    \"content\": \"say \\\"hi\\\"\\nand go\"\n  }\n]"},
		{"not JSON", `'{"a": {{ a }}}'`, `{a: 1}`, "", `{"a": 1}`},
		{"prefix and suffix", `"{{ a }}"`, "{a: x}", `{prefix: "<{{ a }}", suffix: ">"}`, "<xx>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "prompts:\n  - " + tt.prompt + "\nproviders: [echo]\ntests:\n  - vars: " + tt.vars + "\n"
			if tt.options != "" {
				text += "    options: " + tt.options + "\n"
			}
			r := rows(t, outcome(t, t.Context(), text, nil, run.Options{}))[0]
			got := at(r, "response", "output")
			if tt.name == "nested in a loop" {
				if s, ok := got.(string); !ok || len(s) > 100 {
					t.Errorf("got %v, want a short text", got)
				}
				return
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if sent := at(r, "prompt", "raw"); sent != tt.want {
				t.Errorf("the report says that %q was sent, want %q", sent, tt.want)
			}
		})
	}
}

// TestTransforms: the provider's transform comes first, then the case's, then the assertion's,
// which other assertions do not see.
func TestTransforms(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: ["x{{ n }}"]
providers:
  - id: echo
    transform: output + 'p'
defaultTest:
  options: {transform: "output + 'c' + context.vars.n"}
tests:
  - vars: {n: "1"}
    assert:
      - {type: equals, value: x1pc1a, transform: "output + 'a'"}
      - {type: equals, value: x1pc1}
  - vars: {n: "2"}
    options: {transform: "({text: output})"}
    assert:
      - {type: equals, value: {text: x2p}}
  - vars: {n: "3"}
    options: {transformVars: "({...vars, n: vars.n + '!'})"}
    assert: [{type: equals, value: "x3!pc3!"}]
  - vars: {n: "4"}
    options: {transform: "output.nothing.there"}
    assert: [{type: contains, value: x}]
`, nil, run.Options{})
	if got, want := statuses(t, out), "pass pass pass error"; got != want {
		t.Errorf("got %s, want %s", got, want)
		for _, r := range rows(t, out) {
			t.Log(at(r, "response", "output"), r.At("error"))
		}
	}
}

// TestErrorIsNotFail: an undecided assertion leaves its row undecided, unless another assertion
// has failed. It is not negated, and does not affect other verdicts or rows.
func TestErrorIsNotFail(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: ["a"]
providers: [echo]
tests:
  - assert:
      - {type: equals, value: a}
      - {type: perplexity, threshold: 2}
      - {type: equals, value: b}
  - assert: [{type: not-perplexity, threshold: 2}]
  - assert: [{type: equals, value: a}]
  - assert: [{type: equals, value: b}]
`, nil, run.Options{})
	if got, want := statuses(t, out), "fail error pass fail"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := counts(out), "1 passed, 2 failed, 1 errors, 0 skipped"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if first := rows(t, out)[0]; at(first, "score") != nil || at(first, "success") != false || at(first, "failureReason") != 1.0 || at(first, "gradingResult", "score") != nil {
		t.Errorf("the first row: %s", value.Stringify(first))
	}
	var got []string
	components, _ := at(rows(t, out)[0], "gradingResult", "componentResults").([]any)
	for _, c := range components {
		got = append(got, fmt.Sprint(at(c, "status")))
	}
	if want := []string{"pass", "error", "fail"}; !slices.Equal(got, want) {
		t.Errorf("verdicts of the first row: got %v, want %v", got, want)
	}
}

// TestMaxScore: the best output of a case wins, the first one on a tie; a row without an output
// does not take part.
func TestMaxScore(t *testing.T) {
	t.Parallel()
	const head = "prompts: [short, a longer one, \"a longer one \"]\nproviders: [echo]\ntests:\n"
	for _, tt := range []struct{ name, tests, want string }{
		{"mean", "  - assert: [{type: contains, value: longer}, {type: contains, value: one}, {type: max-score}]", "fail pass fail"},
		{"threshold", "  - assert: [{type: icontains, value: SHORT, weight: 1}, {type: max-score, value: {threshold: 2}}]", "fail fail fail"},
		{"weights", "  - threshold: 0\n    assert: [{type: equals, value: short}, {type: contains, value: longer}, {type: max-score, value: {weights: {equals: 5, contains: 1}}}]", "pass fail fail"},
		{"nothing to compare", "  - assert: [{type: max-score}]", "error error error"},
		{"one output", "  - prompts: [short]\n    assert: [{type: equals, value: short}, {type: max-score}]", "error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := outcome(t, t.Context(), head+tt.tests+"\n", nil, run.Options{Limits: run.Limits{Concurrency: 3}})
			if got := statuses(t, out); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestRepeat: k of n repeats of a column are enough. That tolerates failures, but never errors.
func TestRepeat(t *testing.T) {
	t.Parallel()
	const (
		a = `{"prompt": "r0", "output": "a"}` + "\n" + `{"prompt": "r2", "output": "a"}` + "\n"
		b = `{"prompt": "r1", "output": "b"}` + "\n"
	)
	for _, tt := range []struct{ name, repeat, outputs, statuses, counts string }{
		{"enough", "{n: 3, pass: 2}", a + b, "pass fail pass", "3 passed, 0 failed, 0 errors, 0 skipped"},
		{"too few", "{n: 3, pass: 3}", a + b, "pass fail pass", "2 passed, 1 failed, 0 errors, 0 skipped"},
		{"each alone", "3", a + b, "pass fail pass", "2 passed, 1 failed, 0 errors, 0 skipped"},
		{"an error", "{n: 3, pass: 2}", a, "pass error pass", "2 passed, 0 failed, 1 errors, 0 skipped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "prompts: [\"r{{ __repeatIndex }}\"]\nproviders: [\"recorded:outputs.jsonl\"]\nevaluateOptions: {repeat: " + tt.repeat + "}\ntests: [{assert: [{type: equals, value: a}]}]\n"
			out := outcome(t, t.Context(), text, map[string]string{"outputs.jsonl": tt.outputs}, run.Options{})
			if got := statuses(t, out); got != tt.statuses {
				t.Errorf("got %s, want %s", got, tt.statuses)
			}
			if got := counts(out); got != tt.counts {
				t.Errorf("got %s, want %s", got, tt.counts)
			}
		})
	}
}

// TestMistakes: a plan with mistakes reports all of them.
func TestMistakes(t *testing.T) {
	t.Parallel()
	needsMathjs(t)
	_, mistakes := plan(t, `
prompts: ["a"]
providers: [echo, "recorded:missing.jsonl"]
derivedMetrics: [{name: m, value: "1 +"}]
tests:
  - assert: [{type: regex, value: "("}, {type: eqals, value: a}]
  - options: {transform: "output +"}
`, nil, run.Options{})
	text := mistakes.Error()
	for _, want := range []string{"missing.jsonl", `derived metric "m"`, "regular expression", `"eqals"`, "proviso.yaml:7:26: transform output +: SyntaxError"} {
		if !strings.Contains(text, want) {
			t.Errorf("no mistake says %q:\n%s", want, text)
		}
	}
	if !strings.Contains(text, `did you mean "equals"?`) {
		t.Errorf("the nearest type is not named:\n%s", text)
	}
}
