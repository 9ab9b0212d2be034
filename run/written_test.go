package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/value"
)

// TestWrittenVars: reports have the variables as in the reports of promptfoo 0.123.1, besides
// those that the row used.
func TestWrittenVars(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts:
  - "say {{ topic }} {{ nested }} {{ fromfile }} {{ block }}"
providers: [echo]
tests:
  - vars:
      topic: "about {{ other }}"
      other: "bears\n"
      nested: ["{{ topic }} {{ unknown }}", two]
      fromfile: file://a.txt
      yamlfile: file://a.yaml
      block: |
        two
        lines
    options:
      transformVars: "({added: 'x ' + vars.topic, topic: vars.topic + '!'})"
      storeOutputAs: stored
  - vars: {topic: plain, stored: own}
`, map[string]string{"a.txt": "text of {{ other }} file {{ nope }}\n", "a.yaml": "k: '{{ other }}'\n"}, run.Options{})
	want := []struct{ vars, resolved, sent string }{
		{
			`{"topic":"about {{ other }}!","other":"bears\n","nested":"{{ topic }} {{ unknown }}","fromfile":"file://a.txt","yamlfile":"file://a.yaml","block":"two\nlines\n","added":"x about {{ other }}"}`,
			`{"topic":"about bears!","other":"bears","nested":"about bears! {{ unknown }}","fromfile":"text of bears file {{ nope }}","yamlfile":"{\"k\":\"bears\"}","block":"two\nlines","added":"x about bears"}`,
			"say about bears! about bears! {{ unknown }} text of bears file {{ nope }} two\nlines",
		},
		{
			`{"topic":"about {{ other }}!","other":"bears\n","nested":"two","fromfile":"file://a.txt","yamlfile":"file://a.yaml","block":"two\nlines\n","added":"x about {{ other }}"}`,
			`{"topic":"about bears!","other":"bears","nested":"two","fromfile":"text of bears file {{ nope }}","yamlfile":"{\"k\":\"bears\"}","block":"two\nlines","stored":"say about bears! about bears! {{ unknown }} text of bears file {{ nope }} two\nlines","added":"x about bears"}`,
			"say about bears! two text of bears file {{ nope }} two\nlines",
		},
		{`{"topic":"plain","stored":"own"}`, `{"topic":"plain","stored":"say about bears! two text of bears file {{ nope }} two\nlines"}`, "say plain   "},
	}
	for i, r := range rows(t, out) {
		if got := value.Stringify(r.At("vars")); got != want[i].vars {
			t.Errorf("row %d: vars %s\nwant %s", i, got, want[i].vars)
		}
		if got := value.Stringify(r.At("resolvedVars")); got != want[i].resolved {
			t.Errorf("row %d: resolvedVars %s\nwant %s", i, got, want[i].resolved)
		}
		if got := at(r, "response", "output"); got != want[i].sent {
			t.Errorf("row %d: sent %q, want %q", i, got, want[i].sent)
		}
	}
	plain := rows(t, outcome(t, t.Context(), "prompts: ['{{ a }}']\nproviders: [echo]\ntests: [{vars: {a: x, b: [[1]]}}]\n", nil, run.Options{}))[0]
	if plain.Has("resolvedVars") || value.Stringify(plain.At("vars")) != `{"a":"x","b":[[1]]}` {
		t.Errorf("variables that nothing is put into: %s", value.Stringify(plain))
	}
}

// TestPromptFunctionVars: code that writes a prompt gets the variables as written, and those of
// the run; assertions see neither.
func TestPromptFunctionVars(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: [file://fn.js]
providers: [{id: echo, label: E}]
evaluateOptions: {repeat: 2}
tests:
  - vars:
      topic: "about {{ other }}"
      other: "bears\n"
      fn: file://var.js
      block: |
        two
        lines
    assert:
      - {type: javascript, value: "({pass: true, score: 1, reason: JSON.stringify(context.vars)})"}
`, map[string]string{
		"fn.js":  "module.exports = (c) => '{% raw %}' + JSON.stringify(c.vars) + JSON.stringify([c.provider, c.config]) + '{% endraw %}';",
		"var.js": "module.exports = (name, prompt, vars, provider) => ({output: [name, vars.__repeatIndex, vars.block, provider.id].join('|')});",
	}, run.Options{})
	for i, r := range rows(t, out) {
		sent := fmt.Sprint(at(r, "response", "output"))
		for _, part := range []string{
			`{"topic":"about {{ other }}","other":"bears\n"`, `"block":"two\nlines\n","__evalId":"`,
			fmt.Sprintf(`"fn":"fn|%d|two\nlines\n|echo"`, i%2),
			fmt.Sprintf(`"__evalStepId":"test-%d-prompt-0-repeat-%d","__repeatIndex":%d}`, i, i%2, i%2),
			`[{"id":"echo","label":"E"},{}]`,
		} {
			if !strings.Contains(sent, part) {
				t.Errorf("row %d: %s\nlacks %s", i, sent, part)
			}
		}
		want := fmt.Sprintf(`{"topic":"about bears","other":"bears","fn":"fn|%d|two\nlines\n|echo","block":"two\nlines"}`, i%2)
		if got := at(r, "gradingResult", "componentResults", 0, "reason"); got != want {
			t.Errorf("row %d: assertions see %v\nwant %s", i, got, want)
		}
	}
}

// TestRunVars: a prompt and a variable may use the variables of the run.
func TestRunVars(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: ["{{ __evalStepId }} {{ own }}"]
providers: [echo]
evaluateOptions: {repeat: 2}
tests: [{vars: {own: "no {{ __repeatIndex }}"}}]
`, nil, run.Options{})
	for i, r := range rows(t, out) {
		if got, want := at(r, "response", "output"), fmt.Sprintf("test-%d-prompt-0-repeat-%d no %d", i, i, i); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
		if got := value.Stringify(r.At("vars")); got != `{"own":"no {{ __repeatIndex }}"}` {
			t.Errorf("vars %s", got)
		}
	}
}
