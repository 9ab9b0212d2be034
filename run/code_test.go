package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
)

// TestGenerator: a generator yields the cases of a run, once, with its config.
func TestGenerator(t *testing.T) {
	t.Parallel()
	const text = `
prompts: ["{{x}}"]
providers: [echo]
defaultTest: {assert: [{type: contains, value: "1"}]}
tests:
  - {vars: {x: "1"}}
  - {path: gen.js, config: {n: 2}}
  - gen.mjs:more
  - list.js
`
	files := map[string]string{
		"gen.js":  `module.exports = async ({n}) => Array.from({length: n}, (_, i) => ({vars: {x: 'v' + i}, description: 'case ' + i}));`,
		"gen.mjs": `export const more = (config) => [{vars: {x: [typeof config + '1', 'b1']}}];`,
		"list.js": `module.exports = [{vars: {x: 'l1'}, assert: [{type: 'equals', value: 'l1'}]}];`,
	}
	out := outcome(t, t.Context(), text, files, run.Options{})
	if got, want := statuses(t, out), "pass fail pass pass pass pass"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var seen []string
	ids := map[string]bool{}
	for _, r := range rows(t, out) {
		seen = append(seen, at(r, "vars", "x").(string))
		ids[r.At("caseId").(string)] = true
	}
	if got, want := strings.Join(seen, " "), "1 v0 v1 undefined1 b1 l1"; got != want || len(ids) != 6 {
		t.Errorf("got %s with %d ids, want %s with 6", got, len(ids), want)
	}
	again := outcome(t, t.Context(), text, files, run.Options{})
	for i, r := range rows(t, again) {
		if !ids[r.At("caseId").(string)] {
			t.Errorf("row %d has another id in the second run", i)
		}
	}
}

// TestGeneratorMistakes: mistakes name the file, the function and the case.
func TestGeneratorMistakes(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`module.exports = () => ({})`:                                      `gen.js must return a list of cases, found an object`,
		`module.exports = () => null`:                                      `gen.js must return a list of cases, found nothing`,
		`module.exports = () => []`:                                        `gen.js returned no cases`,
		`module.exports = () => { throw new RangeError('no data'); }`:      `gen.js: `,
		"\n\nmodule.exports = () => { null.x }":                            `gen.js:3:`,
		`module.exports = () => [{vars: {x: 1}}, 7]`:                       `gen.js, case 2: expected a case, got the number 7`,
		`module.exports = () => [{asserts: []}]`:                           `gen.js, case 1: unknown key "asserts" in a case; write assert`,
		`module.exports = () => [{assert: [{type: 'contain', value: 1}]}]`: `gen.js, case 1: unknown assertion type "contain" (did you mean "contains"?)`,
		`module.exports = {a: 1}`:                                          `neither a function nor a list`,
		`module.exports = (`:                                               `gen.js:1:`,
	}
	for code, want := range tests {
		_, mistakes := plan(t, "prompts: [p]\nproviders: [echo]\ntests: [gen.js]\n", map[string]string{"gen.js": code}, run.Options{})
		err := mistakes.Err()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "proviso.yaml:3:") {
			t.Errorf("%s: got %v, want %q", code, err, want)
		}
	}
}

// TestDry runs no code: no generators and no beforeAll hooks.
func TestDry(t *testing.T) {
	t.Parallel()
	p, mistakes := plan(t, `
prompts: ["{{x}}"]
providers: [echo, echo]
extensions: [file://boom.js]
tests: [{vars: {x: 1}}, boom.js]
`, map[string]string{"boom.js": `module.exports = () => { throw new Error('it ran'); }`}, run.Options{Task: run.Task{Dry: true}})
	if err := mistakes.Err(); err != nil || p.Cases != 2 || p.Generators != 1 {
		t.Errorf("%v; %d cases, %d generators", err, p.Cases, p.Generators)
	}
	_, mistakes = plan(t, "prompts: [p]\nproviders: [echo]\ntests: [bad.js]\n", map[string]string{"bad.js": `(`}, run.Options{Task: run.Task{Dry: true}})
	if err := mistakes.Err(); err == nil || !strings.Contains(err.Error(), "bad.js:1:") {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestPromptCode: code writes prompts and settings.
func TestPromptCode(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts:
  - file://text.js
  - {id: "file://chat.mjs:chat", label: chat, config: {a: 1}}
  - file://config.js
  - {raw: "file://bad.js", label: bad}
  - {raw: "file://throws.js", label: throws}
providers: [{id: echo, label: e}]
tests: [{vars: {x: 'a"b'}}]
`, map[string]string{
		"text.js":   `module.exports = ({vars, provider, config}) => 'hi ' + vars.x.length + ' {{x}} ' + provider.id + provider.label + JSON.stringify(config);`,
		"chat.mjs":  `export async function chat({vars, config}) { return [{role: 'user', content: '{{x}} ' + config.a}]; }`,
		"config.js": `module.exports = () => ({prompt: ['c'], config: {temperature: 0.5}});`,
		"bad.js":    `module.exports = () => 3;`,
		"throws.js": "\nmodule.exports = () => nothing;",
	}, run.Options{})
	if got, want := statuses(t, out), "pass pass pass error error"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	all := rows(t, out)
	for i, want := range []string{`hi 3 a"b echoe{}`, "[\n  {\n    \"role\": \"user\",\n    \"content\": \"a\\\"b 1\"\n  }\n]", "[\n  \"c\"\n]"} {
		if got := at(all[i], "response", "output"); got != want {
			t.Errorf("row %d: got %v, want %s", i, got, want)
		}
	}
	for i, want := range map[int]string{3: "bad.js must return a prompt, as a text or a chat, found a number", 4: "throws.js:2:"} {
		if got := at(all[i], "error"); !strings.Contains(got.(string), want) {
			t.Errorf("row %d: got %v, want %s", i, got, want)
		}
	}
}

// TestPromptOfForeignText: text that a model wrote is not a template.
func TestPromptOfForeignText(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: [{raw: "file://p.js", label: p}]
providers: [echo]
tests:
  - {vars: {text: "first"}, options: {storeOutputAs: said}, providerOutput: "{{ 6 * 7 }}"}
  - {vars: {text: "second {{ 1 + 1 }}"}}
`, map[string]string{"p.js": `module.exports = ({vars}) => vars.text + ' ' + (vars.said || '{{ 2 + 2 }}');`}, run.Options{})
	if got := at(rows(t, out)[1], "response", "output"); got != "second {{ 1 + 1 }} {{ 6 * 7 }}" {
		t.Errorf("got %v", got)
	}
}

// TestVariableCode: code computes variables row by row.
func TestVariableCode(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: ["{{a}} {{b}}"]
providers: [{id: echo, label: e}]
tests:
  - {vars: {a: "file://v.js", b: 2}, assert: [{type: equals, value: "{{a}} 2"}]}
  - {vars: {a: "file://error.js"}}
  - {vars: {a: "file://plain.js"}}
  - {vars: {a: "file://v.js", b: 3}, options: {transformVars: "({...vars, a: 'own'})"}}
`, map[string]string{
		"v.js":     `module.exports = async (name, prompt, vars, provider) => ({output: name + ': ' + prompt.length + vars.b + provider.label});`,
		"error.js": `module.exports = () => ({error: 'no network today'});`,
		"plain.js": `module.exports = () => 'text';`,
	}, run.Options{})
	all := rows(t, out)
	if got := at(all[0], "response", "output"); got != "a: 112e 2" || statuses(t, out) != "pass error error pass" {
		t.Errorf("got %v, %s", got, statuses(t, out))
	}
	for i, want := range map[int]string{1: `variable "a": error.js: no network today`, 2: `variable "a": plain.js must return {output: …} or {error: …}, found "text"`} {
		if got := at(all[i], "error").(string); !strings.HasPrefix(strings.ReplaceAll(got, "\\", "/"), `variable "a": `) || !strings.Contains(got, want[len(`variable "a": `):]) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := at(all[3], "response", "output"); got != "own 3" {
		t.Errorf("a variable that transformVars replaced: %v", got)
	}
}

// TestHooks: hooks are called around the run and its rows.
func TestHooks(t *testing.T) {
	t.Parallel()
	const hooks = `
exports.beforeAll = (context, {hookName}) => {
  if (hookName !== 'beforeAll') throw new Error(hookName);
  const {suite} = context;
  suite.tests.push({vars: {x: 'added ' + suite.tests.length + suite.prompts[0].label.length}, assert: [{type: 'contains', value: 'added'}]});
  suite.prompts = [...suite.prompts, {raw: 'second {{x}}', label: 'second'}];
  suite.derivedMetrics = [{name: 'd', value: 'hooked * 10'}];
  return context;
};
exports.any = (hook, context) => {
  if (hook === 'beforeEach' && context.test.vars.x === 'two') {
    return {test: {...context.test, vars: {x: 'changed'}, assert: [{type: 'contains', value: 'changed'}]}};
  }
  if (hook === 'afterEach') {
    return {result: {...context.result, namedScores: {hooked: 2, broken: NaN}, metadata: {mine: context.test.vars.x}}};
  }
  if (hook === 'afterAll') {
    const {results, prompts, evalId, config, suite} = context;
    throw new Error([results.length, prompts.length, prompts[0].metrics.testPassCount, typeof evalId, typeof config, suite.tests.length].join(' '));
  }
};
`
	out := outcome(t, t.Context(), `
prompts: ["{{x}}"]
providers: [echo]
defaultTest: {assert: [{type: contains, value: o}]}
extensions: [file://hooks.js:beforeAll, file://hooks.js:any]
tests: [{vars: {x: one}}, {vars: {x: two}}]
`, map[string]string{"hooks.js": hooks}, run.Options{})
	all := rows(t, out)
	var outputs []string
	for _, r := range all {
		outputs = append(outputs, at(r, "response", "output").(string))
	}
	if got, want := strings.Join(outputs, "|"), "one|second one|changed|second changed|added 25|second added 25"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := statuses(t, out), "pass pass pass pass pass pass"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if at(all[2], "namedScores", "hooked") != 2.0 || at(all[2], "namedScores", "broken") != nil || at(all[2], "metadata", "mine") != "changed" || at(all[2], "vars", "x") != "changed" {
		t.Errorf("after the row: %v %v", at(all[2], "namedScores"), at(all[2], "metadata"))
	}
	if at(all[2], "caseId") == nil || at(all[2], "testIdx") != 1.0 {
		t.Errorf("a case that a hook changed is another: %v", at(all[2], "testIdx"))
	}
	if len(out.Problems) != 1 || !strings.Contains(out.Problems[0], "6 2 3 string object 3") {
		t.Errorf("after all: %q", out.Problems)
	}
	if derived := out.Summary.Columns()[0].Derived; len(derived) != 1 || derived[0].Value != 60.0 {
		t.Errorf("derived metrics: %+v", derived)
	}
}

// TestHooksThatFail: a failing hook keeps the run, or the row, from being decided.
func TestHooksThatFail(t *testing.T) {
	t.Parallel()
	const suite = "prompts: [hello]\nproviders: [echo]\nextensions: [file://h.js:%]\ntests: [{vars: {a: 1}}]\n"
	tests := []struct{ hook, code, want string }{
		{"beforeAll", `throw new Error('no database')`, "h.js:beforeAll: "},
		{"beforeAll", `return 3`, "h.js:beforeAll must return the context or nothing, found a number"},
		{"beforeAll", `return {suite: {tests: [{asserts: []}]}}`, `h.js:beforeAll, case 1: unknown key "asserts"`},
		{"beforeAll", `return {suite: {tests: [{assert: [{type: 'contain'}]}]}}`, `h.js:beforeAll, case 1: unknown assertion type "contain"`},
		{"beforeAll", `return {suite: {tests: 'none'}}`, "h.js:beforeAll: tests must be a list of cases, found a text"},
		{"beforeAll", `return {suite: {prompts: []}}`, "h.js:beforeAll: prompts must be a list that is not empty"},
		{"beforeAll", `return {suite: {prompts: [3]}}`, "h.js:beforeAll: a prompt is a text or {raw, label}"},
		{"beforeAll", `return {suite: {scenarios: [1]}}`, "not as scenarios"},
		{"beforeAl", `return 1`, "the module exports no function beforeAl"},
	}
	for _, tt := range tests {
		_, mistakes := plan(t, strings.ReplaceAll(suite, "%", tt.hook), map[string]string{"h.js": "exports.beforeAll = () => { " + tt.code + " }"}, run.Options{})
		if err := mistakes.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s { %s }: got %v, want %q", tt.hook, tt.code, err, tt.want)
		}
	}
	for hook, want := range map[string]string{"beforeEach": "h.js:beforeEach: ", "afterEach": "h.js:afterEach: "} {
		out := outcome(t, t.Context(), strings.ReplaceAll(suite, "%", hook), map[string]string{"h.js": "exports." + hook + " = () => { throw new Error('no'); }"}, run.Options{})
		if got := at(rows(t, out)[0], "error"); statuses(t, out) != "error" || !strings.Contains(got.(string), want) {
			t.Errorf("%s: %s, %v", hook, statuses(t, out), got)
		}
	}
	out := outcome(t, t.Context(), strings.ReplaceAll(suite, "%", "beforeEach"), map[string]string{"h.js": `exports.beforeEach = ({test}) => ({test: {...test, assert: [{type: 'contain', value: 'x'}]}})`}, run.Options{})
	if got := at(rows(t, out)[0], "error"); !strings.Contains(got.(string), "unknown assertion type") {
		t.Errorf("a mistake in a changed case: %v", got)
	}
}

// TestHooksThatChangeNothing: the cases and their ids stay as they are.
func TestHooksThatChangeNothing(t *testing.T) {
	t.Parallel()
	const text = "prompts: [hello]\nproviders: [echo]\nrepeat: 2\ntests: [{vars: {a: [x, y]}}, {vars: {a: 2}, repeat: 2}]\n"
	ids := func(extensions string) string {
		out := outcome(t, t.Context(), strings.Replace(text, "repeat: 2\n", extensions, 1), map[string]string{"h.js": "module.exports = (hook, context) => JSON.parse(JSON.stringify(context))"}, run.Options{})
		var list []string
		for _, r := range rows(t, out) {
			list = append(list, r.At("caseId").(string))
		}
		return strings.Join(list, " ")
	}
	if got, want := ids("extensions: [file://h.js]\n"), ids(""); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestMetricCode: a function computes a derived metric.
func TestMetricCode(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), `
prompts: [hello]
providers: [{id: echo, label: e}]
derivedMetrics:
  - {name: twice, value: file://m.js}
  - {name: more, value: twice + 1}
  - {name: none, value: file://n.js}
tests:
  - assert: [{type: contains, value: h, metric: m}]
  - assert: [{type: contains, value: e, metric: m}]
`, map[string]string{
		"m.js": `module.exports = (scores, {provider}) => scores.m * 2 + scores.__count * 10 + provider.label.length;`,
		"n.js": `module.exports = () => [1];`,
	}, run.Options{})
	derived := out.Summary.Columns()[0].Derived
	if len(derived) != 3 || derived[0].Value != 25.0 || derived[1].Value != 26.0 || derived[2].Value != 0.0 {
		t.Errorf("got %+v", derived)
	}
	if len(out.Problems) != 1 || !strings.Contains(out.Problems[0], `derived metric "none": file://n.js must return a number, found a list`) {
		t.Errorf("problems: %q", out.Problems)
	}
}

// TestCodeThatIsNotThere: missing code is a mistake, or undecided if such code is skipped.
func TestCodeThatIsNotThere(t *testing.T) {
	t.Parallel()
	const text = `
prompts: [hello, {raw: "file://p.py:f", label: code}]
providers: [echo]
extensions: [file://p.py:beforeAll]
tests:
  - {prompts: [hello], vars: {a: file://p.py}}
  - {prompts: [hello], assert: [{type: python, value: "True"}]}
  - {prompts: [code]}
  - {prompts: [hello]}
  - p.py
`
	files := map[string]string{"p.py": "def f(): pass\n"}
	_, mistakes := plan(t, text, files, run.Options{})
	if err := mistakes.Err(); err == nil || strings.Count(err.Error(), "python cannot be run in process") != 5 {
		t.Errorf("got %v", err)
	}
	out := outcome(t, t.Context(), text, files, run.Options{Task: run.Task{SkipUnsupported: true}})
	if got, want := statuses(t, out), "error error error pass error error"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestInterruptedHooks: afterAll runs for an interrupted run.
func TestInterruptedHooks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, mistakes := plan(t, "prompts: [hello]\nproviders: [echo]\nextensions: [file://h.js:afterAll]\ntests: [{vars: {a: 1}}]\n",
		map[string]string{"h.js": "exports.afterAll = ({results}) => { throw new Error('ended with ' + results.length); }"}, run.Options{Observers: run.Observers{Begin: func(*proviso.Case, *proviso.ProviderSpec) func() { cancel(); return func() {} }}})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(ctx)
	if err != nil || !out.Interrupted || len(out.Problems) != 1 || !strings.Contains(out.Problems[0], "ended with 0") {
		t.Errorf("%v; interrupted %v, problems %q", err, out.Interrupted, out.Problems)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}
