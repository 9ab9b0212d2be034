package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/run"
)

// TestInstructionsInPrompts: {{ assertions.instructions }} holds the instructions of the case's
// assertions, those of the set first.
func TestInstructionsInPrompts(t *testing.T) {
	t.Parallel()
	const set = `
assertions:
  - {id: short, instruction: "Answer in at most\n  two sentences.", check: {type: word-count, value: {max: 4000}}}
  - {id: silent, check: {type: word-count, value: {max: 4000}}}
  - {id: polite, instruction: "Greet {{ name }}.", check: {type: word-count, value: {max: 4000}}, when: 'vars.name != "bob"'}
`
	for _, tt := range []struct{ name, prompt, set, test, want string }{
		{"set", `"Rules:\n{{ assertions.instructions }}"`, set, "{vars: {name: ada}}", "Rules:\n- Answer in at most two sentences.\n- Greet ada."},
		{"when", `"{{ assertions.instructions }}"`, set, "{vars: {name: bob}}", "- Answer in at most two sentences."},
		{"with the case's own, each once", `"{{ assertions.instructions }}"`, set,
			`{vars: {name: bob}, assert: [{type: judge, id: own, instruction: Name the lamp., check: {type: contains, value: a}}, {type: judge, id: again, instruction: Name the lamp., check: {type: contains, value: a}}, {type: contains, value: a}]}`,
			"- Answer in at most two sentences.\n- Name the lamp."},
		{"in a set of assertions", `"{{ assertions.instructions }}"`, "",
			`{assert: [{type: assert-set, assert: [{type: judge, id: own, instruction: Name the lamp., check: {type: contains, value: a}}]}]}`, "- Name the lamp."},
		{"the case's variable wins", `"{{ assertions.instructions }} {{ assertions }}"`, set, "{vars: {name: ada, assertions: mine}}", " mine"},
		{"a value is no template", `"{{ assertions.instructions }}"`, set, `{vars: {name: "{{ other }}", other: "{% raw %}{{ x }}{% endraw %}"}}`, "- Answer in at most two sentences.\n- Greet {% raw %}{{ x }}{% endraw %}."},
		{"none", `"<{{ assertions.instructions }}>"`, "", `{vars: {name: ada}}`, "<>"},
		{"JSON", `'[{"role": "system", "content": "{{ assertions.instructions }}"}]'`, set, "{vars: {name: 'a\"b'}}",
			"[\n  {\n    \"role\": \"system\",\n    \"content\": \"- Answer in at most two sentences.\\n- Greet a\\\"b.\"\n  }\n]"},
		{"prefix", `"{{ name }}"`, set, "{vars: {name: bob}, options: {prefix: '{{ assertions.instructions }} '}}", "- Answer in at most two sentences. bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "prompts:\n  - " + tt.prompt + "\nproviders: [echo]\n" + tt.set + "\ntests:\n  - " + tt.test + "\n"
			r := rows(t, outcome(t, t.Context(), text, nil, run.Options{}))[0]
			if got := at(r, "prompt", "raw"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if vars := fmt.Sprint(at(r, "vars")); tt.name == "set" && strings.Contains(vars, "assertions") {
				t.Errorf("the row has the variables %s", vars)
			}
		})
	}
}

// TestInstructionsThatAreMissing: a prompt that uses instructions gets a warning if its case
// has none, and no warning otherwise.
func TestInstructionsThatAreMissing(t *testing.T) {
	t.Parallel()
	const text = "prompts: ['{{ assertions.instructions }}']\nproviders: [echo]\ntests:\n  - {vars: {a: b}%s}\n"
	for assert, want := range map[string]int{
		"": 1, `, assert: [{type: contains, value: x}]`: 1,
		`, assert: [{type: judge, id: own, instruction: Name it., check: {type: contains, value: x}}]`: 0,
	} {
		_, mistakes := plan(t, fmt.Sprintf(text, assert), nil, run.Options{Task: run.Task{Dry: true, Warn: true}})
		n := 0
		for _, m := range mistakes {
			if strings.Contains(m.Message, "no assertion of this case has an instruction") {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %v", assert, mistakes)
		}
	}
}
