package run_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/value"
)

// open is an assertion that is undecided about the output "a" and passes otherwise.
const open = `{type: regex, value: ".", transform: "output == 'a' ? undefined : output"}`

// TestCertainFailure: a row with a failed assertion is a failure without a score, even if other
// assertions are undecided. A comparison of rows does not change it.
func TestCertainFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tests, want string }{
		"its own":                          {"  - assert: [" + open + ", {type: equals, value: b}]", "fail pass fail"},
		"a threshold that can be met":      {"  - threshold: 0.5\n    assert: [" + open + ", {type: equals, value: b}]", "error pass pass"},
		"a threshold out of reach":         {"  - threshold: 0.6\n    assert: [" + open + ", {type: equals, value: b}]", "fail pass fail"},
		"a set within it":                  {"  - assert: [{type: assert-set, assert: [" + open + ", {type: equals, value: b}]}]", "fail pass fail"},
		"max-score, the first is an error": {"  - threshold: 0\n    assert: [" + open + ", {type: javascript, value: '0'}, {type: max-score, value: {weights: {regex: 0}}}]", "error pass fail"},
		"max-score of scores below 0":      {"  - threshold: -9\n    assert: [" + open + ", {type: javascript, value: '-1'}, {type: max-score, value: {weights: {regex: 0}}}]", "error pass fail"},
		"max-score, the first failed":      {"  - assert: [" + open + ", {type: not-equals, value: a}, {type: max-score}]", "fail pass fail"},
		"max-score of one output":          {"  - prompts: [b]\n    assert: [{type: equals, value: a}, {type: max-score}]", "fail"},
		"select-best, the first an error":  {"  - assert: [" + open + ", {type: select-best, value: long}]", "error pass fail"},
		"select-best of one output":        {"  - prompts: [b]\n    assert: [{type: equals, value: a}, {type: select-best, value: long}]", "fail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := outcome(t, t.Context(), "prompts: [a, b, c]\nproviders: [echo]\ntests:\n"+c.tests+"\n", nil, run.Options{Engines: run.Engines{Grader: &chooser{choose: longest}}})
			if got := statuses(t, out); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			first := rows(t, out)[0]
			if at(first, "verdict") == "fail" && (at(first, "score") != nil || first.Has("scoreText")) {
				t.Errorf("the first row has a score: %s", value.Stringify(first))
			}
		})
	}
}

// TestMaxScoreLeavesOut: a row with an undecided assertion has no mean, so it takes no part in
// the comparison.
func TestMaxScoreLeavesOut(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), "prompts: [a, b]\nproviders: [echo]\ntests:\n  - assert: ["+open+", {type: not-equals, value: a}, {type: max-score}]\n", nil, run.Options{})
	list := rows(t, out)
	first, _ := at(list[0], "gradingResult", "componentResults").([]any)
	second, _ := at(list[1], "gradingResult", "componentResults").([]any)
	if len(first) != 2 || len(second) != 3 || at(second[2], "status") != "pass" {
		t.Errorf("%s\n%s", value.Stringify(first), value.Stringify(second))
	}
}

// TestCertainFailureOfCaseAndSet: a case with its own assertions and those of the suite's set
// fails if either fails.
func TestCertainFailureOfCaseAndSet(t *testing.T) {
	t.Parallel()
	const (
		undecided = "{type: perplexity, threshold: 1}"
		kept      = "{type: equals, value: a}"
		broken    = "{type: equals, value: b}"
	)
	for name, c := range map[string]struct {
		own, set, threshold, want string
		scored                    bool
	}{
		"both hold":                       {kept, kept, "1", "pass", true},
		"the set fails, the case is open": {undecided, broken, "1", "fail", false},
		"the case fails, the set is open": {broken, undecided, "1", "fail", false},
		"the set fails for certain":       {kept, broken + ", " + undecided, "1", "fail", false},
		"the set may still hold":          {kept, broken + ", " + undecided, "0.5", "error", false},
		"the set is open":                 {kept, undecided, "1", "error", false},
		"the case is open":                {undecided, kept, "1", "error", false},
		"both fail":                       {broken, broken, "1", "fail", true},
	} {
		var set []string
		for i, s := range strings.Split(c.set, "}, ") {
			set = append(set, "{id: "+string(rune('a'+i))+", check: "+strings.TrimSuffix(s, "}")+"}}")
		}
		out := outcome(t, t.Context(), "prompts: [a]\nproviders: [echo]\nthreshold: "+c.threshold+"\nassertions: ["+strings.Join(set, ", ")+"]\ntests:\n  - assert: ["+c.own+"]\n", nil, run.Options{})
		row := rows(t, out)[0]
		if got := statuses(t, out); got != c.want || got == "fail" && (at(row, "score") != nil) != c.scored {
			t.Errorf("%s: got %s, want %s: %s", name, got, c.want, value.Stringify(row))
		}
	}
	out := outcome(t, t.Context(), "prompts: [a]\nproviders: [echo]\nassertions: [{id: a, check: "+broken+"}, {id: b, check: "+undecided+"}]\ntests: [{vars: {x: 1}}]\n", nil, run.Options{})
	row := rows(t, out)[0]
	if e := at(row, "evaluation"); at(e, "status") != "fail" || at(e, "score") != nil || at(e, "passed_threshold") != false || at(row, "verdict") != "fail" {
		t.Errorf("the set alone: %s", value.Stringify(row))
	}
}

// TestCertainFailureIsNotCounted in derived metrics: they use only decided rows.
func TestCertainFailureIsNotCounted(t *testing.T) {
	t.Parallel()
	const text = `
prompts: ["{{ n }}"]
providers: [echo]
derivedMetrics: [{name: rate, value: "hit / __count"}]
tests:
  - {vars: {n: a}, assert: [{type: regex, value: ".", metric: hit, transform: "output == 'a' ? undefined : output"}, {type: contains, value: a, metric: hit}, {type: equals, value: b}]}
  - {vars: {n: b}, assert: [{type: contains, value: b, metric: hit}]}
`
	out := outcome(t, t.Context(), text, nil, run.Options{})
	if got := statuses(t, out); got != "fail pass" {
		t.Fatal(got)
	}
	if d := cmp.Diff(map[string]any{"rate": 0.5}, derived(out.Summary)); d != "" {
		t.Error(d)
	}
}

// TestHookAfterFailure: a hook that fails after a row has failed does not undo it.
func TestHookAfterFailure(t *testing.T) {
	t.Parallel()
	out := outcome(t, t.Context(), "prompts: [a]\nproviders: [echo]\nextensions: ['file://h.js:afterEach']\ntests: [{assert: [{type: equals, value: b}]}]\n",
		map[string]string{"h.js": "exports.afterEach = () => { throw new Error('no'); }"}, run.Options{})
	got, _ := at(rows(t, out)[0], "error").(string)
	if statuses(t, out) != "fail" || !strings.Contains(got, `to equal "b"; the hook afterEach: h.js:afterEach: `) {
		t.Errorf("%s: %q", statuses(t, out), got)
	}
}
