package check_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/value"
)

// preparing is a grader that returns mistakes about a question.
type preparing struct {
	graderFunc
	prepare func(q proviso.Question) error
}

func (p preparing) Prepare(q proviso.Question) error { return p.prepare(q) }

// TestQuestions checks the questions to the grader.
func TestQuestions(t *testing.T) {
	t.Parallel()
	conversation := []any{value.ObjectOf("input", "hi", "output", "hello"), value.ObjectOf("input", value.ObjectOf("a", 1.0), "output", "b")}
	for _, tc := range []struct {
		name, assert string
		row          check.Row
		want         string // text of the question, or an error
	}{
		{name: "value, output, input and sample", assert: `{"type":"llm-rubric","value":"about {{ topic }}","threshold":0.5,"transform":"output + '!'"}`,
			row:  check.Row{Vars: value.ObjectOf("topic", "cats"), Case: &proviso.Case{Repeat: 2}},
			want: "llm-rubric about cats|in|out!|0.5|2|[]|[]"},
		{name: "scope", assert: `{"type":"not-llm-rubric","value":"v","scope":{"of":"prompt"}}`, want: "llm-rubric v|in|in|none|0|[]|[]"},
		{name: "context of a variable", assert: `{"type":"context-recall","value":"v"}`, row: check.Row{Vars: value.ObjectOf("context", "c")}, want: "context-recall v|in|out|0.5|0|[c]|[]"},
		{name: "context that is a list", assert: `{"type":"context-relevance"}`, row: check.Row{Vars: value.ObjectOf("context", []any{"a", " ", "b"}, "query", "q")},
			want: "context-relevance undefined|in|out|0.5|0|[a b]|[]"},
		{name: "the prompt for context", assert: `{"type":"context-recall","value":"v"}`, want: "context-recall v|in|out|0.5|0|[in]|[]"},
		{name: "contextTransform before the variable", assert: `{"type":"context-recall","value":"v","contextTransform":"[output, context.vars.context]"}`,
			row: check.Row{Vars: value.ObjectOf("context", "c")}, want: "context-recall v|in|out|0.5|0|[out c]|[]"},
		{name: "contextTransform sees the output before the case's transform", assert: `{"type":"context-recall","value":"v","contextTransform":"output.docs"}`,
			row:  check.Row{Output: &proviso.Output{Value: "answer", Untransformed: value.ObjectOf("docs", "d")}},
			want: "context-recall v|in|answer|0.5|0|[d]|[]"},
		{name: "contextTransform of another kind", assert: `{"type":"context-recall","value":"v","contextTransform":"42"}`, want: "error: contextTransform must return"},
		{name: "contextTransform that throws", assert: `{"type":"context-recall","value":"v","contextTransform":"output.a.b"}`, want: "error: contextTransform: "},
		{name: "no context", assert: `{"type":"context-faithfulness"}`, row: check.Row{Vars: value.ObjectOf("query", "q")}, want: `error: "context-faithfulness" needs the variable context`},
		{name: "no query", assert: `{"type":"context-faithfulness"}`, row: check.Row{Vars: value.ObjectOf("context", "c")}, want: `error: "context-faithfulness" needs the variable query`},
		{name: "a turn", assert: `{"type":"conversation-relevance"}`, want: "conversation-relevance undefined|in|out|0.5|0|[]|[{in out}]"},
		{name: "the last message of a chat", assert: `{"type":"conversation-relevance"}`, row: check.Row{Prompt: `[{"role":"user","content":"a"},{"role":"user","content":"b"}]`},
			want: `conversation-relevance undefined|[{"role":"user","content":"a"},{"role":"user","content":"b"}]|out|0.5|0|[]|[{b out}]`},
		{name: "the turns before", assert: `{"type":"conversation-relevance"}`, row: check.Row{Vars: value.ObjectOf("_conversation", conversation)},
			want: `conversation-relevance undefined|in|out|0.5|0|[]|[{hi hello} {{"a":1} b} {in out}]`},
		{name: "a conversation of the case", assert: `{"type":"conversation-relevance"}`,
			row:  check.Row{Vars: value.ObjectOf("_conversation", conversation), Case: &proviso.Case{Vars: value.ObjectOf("_conversation", conversation)}},
			want: `conversation-relevance undefined|in|out|0.5|0|[]|[{hi hello} {{"a":1} b}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			c := compiler(t)
			o := c.Options
			o.Grader = graderFunc(func(q proviso.Question) (proviso.Grade, error) {
				threshold := "none"
				if q.Threshold != nil {
					threshold = fmt.Sprint(*q.Threshold)
				}
				got = fmt.Sprintf("%s %s|%s|%s|%s|%d|%v|%v", q.Type, value.ToString(q.Value), q.Input, q.Output, threshold, q.Sample.Repeat, q.Context, q.Turns)
				return proviso.Grade{}, nil
			})
			row := tc.row
			if row.Output == nil {
				row.Output = &proviso.Output{Value: "out"}
			}
			if row.Vars == nil {
				row.Vars = value.NewObject(0)
			}
			if row.Prompt == "" {
				row.Prompt = "in"
			}
			v := check.New(o).Decide(t.Context(), parsed(t, tc.assert), &row)
			if problem, ok := strings.CutPrefix(tc.want, "error: "); ok {
				if v.Status != proviso.Errored || !strings.Contains(v.Reason, problem) || got != "" {
					t.Errorf("got %s: %s (asked %s)", v.Status, v.Reason, got)
				}
				return
			}
			if got != tc.want {
				t.Errorf("asked %s\nwant  %s\n(%s)", got, tc.want, v.Reason)
			}
		})
	}
}

func parsed(t *testing.T, text string) *proviso.Assertion {
	t.Helper()
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return assertion.Of(v.(*value.Object), "/a")
}

// TestGradedValues covers mistakes that are found when a suite is read.
func TestGradedValues(t *testing.T) {
	t.Parallel()
	o := compiler(t).Options
	o.Grader = graderFunc(nil)
	c := check.New(o)
	for text, want := range map[string]string{
		`{"type":"llm-rubric","value":3}`:                  `"llm-rubric" needs a text as its value, found a number`,
		`{"type":"llm-rubric","value":true}`:               "needs a text",
		`{"type":"g-eval"}`:                                `"g-eval" needs a text as its value, found none`,
		`{"type":"g-eval","value":[]}`:                     "is empty",
		`{"type":"g-eval","value":["a",1]}`:                "a text or a list of texts",
		`{"type":"not-factuality","value":""}`:             `"not-factuality" needs a text as its value, found an empty text`,
		`{"type":"model-graded-closedqa","value":{"a":1}}`: "found an object",
		`{"type":"context-recall"}`:                        "found none",
		`{"type":"context-recall","value":"a","threshold":1,"contextTransform":"output."}`:       "transform",
		`{"type":"context-recall","value":"{{ a }}","threshold":1,"contextTransform":"output."}`: "transform",
		`{"type":"similar","value":[" "]}`:                                                       "a text or a list of texts",
		`{"type":"similar:manhattan","value":"a"}`:                                               "unknown assertion type",
		`{"type":"classifier","value":["a"]}`:                                                    "the name of a class",
		`{"type":"moderation","value":"hate"}`:                                                   "a list of categories",
		`{"type":"moderation","value":["hate",1]}`:                                               "a list of categories",
		`{"type":"llm-rubric","value":"a","ignoreCase":true}`:                                    "ignoreCase has no effect",
		`{"type":"not-select-best","value":"a"}`:                                                 "cannot be negated",
		`{"type":"llm-rubric","value":"a","threshold":"high"}`:                                   "threshold must be a number",
		`{"type":"assert-set","assert":[{"type":"g-eval","value":"a","value2":"b"}]}`:            "",
	} {
		set, mistakes := c.Compile([]*proviso.Assertion{parsed(t, text)})
		mistakes = append(mistakes, set.Prepare(nil, false)...)
		switch {
		case want == "" && len(mistakes) > 0:
			t.Errorf("%s: %v", text, mistakes)
		case want != "" && (len(mistakes) != 1 || mistakes[0].Warning || !strings.Contains(mistakes[0].Error(), want) || !strings.HasPrefix(mistakes[0].Pointer, "/a/")):
			t.Errorf("%s: got %v, want %q", text, mistakes, want)
		}
	}
}

// TestPrepare covers mistakes and warnings that depend on the case or the grader.
func TestPrepare(t *testing.T) {
	t.Parallel()
	unable := preparing{prepare: func(q proviso.Question) error {
		if q.Grader == "none" {
			return proviso.Errorf(proviso.Unavailable, "there is no %s for %s", q.Grader, q.Type)
		}
		return nil
	}}
	full := value.ObjectOf("context", "c", "query", "q")
	for _, tc := range []struct {
		name, assert string
		c            *proviso.Case
		open         bool
		want         []string // mistakes with their place; warnings begin with ?
	}{
		{name: "fine", assert: `{"type":"context-relevance","threshold":0.5}`, c: &proviso.Case{Vars: full}},
		{name: "no context and no query", assert: `{"type":"context-relevance","threshold":0.5}`, c: &proviso.Case{}, want: []string{`/a/type "context-relevance" needs the variable context`}},
		{name: "no query", assert: `{"type":"context-faithfulness","threshold":0.5,"contextTransform":"output"}`, c: &proviso.Case{}, want: []string{`/a/type "context-faithfulness" needs the variable query`}},
		{name: "variables that code makes", assert: `{"type":"context-relevance","threshold":0.5}`, c: &proviso.Case{}, open: true},
		{name: "recall has the prompt", assert: `{"type":"context-recall","value":"v","threshold":0.5}`, c: &proviso.Case{}},
		{name: "without a threshold", assert: `{"type":"answer-relevance"}`},
		{name: "a threshold of 0", assert: `{"type":"context-recall","value":"v","threshold":0}`, want: []string{`?/a/threshold "context-recall" with this threshold passes`}},
		{name: "negated with a threshold of 0", assert: `{"type":"not-conversation-relevance","threshold":0}`, want: []string{`?/a/threshold "not-conversation-relevance" with this threshold fails`}},
		{name: "perplexity, negated", assert: `{"type":"not-perplexity-score"}`, want: []string{`?/a/type "not-perplexity-score" without a threshold fails`}},
		{name: "perplexity", assert: `{"type":"perplexity"}`, want: []string{`?/a/type "perplexity" without a threshold passes`}},
		{name: "llm-rubric needs no threshold", assert: `{"type":"llm-rubric","value":"v"}`},
		{name: "no value", assert: `{"type":"llm-rubric"}`, want: []string{`/a/type "llm-rubric" needs a value`}},
		{name: "no value with a rubricPrompt", assert: `{"type":"llm-rubric","rubricPrompt":"p"}`},
		{name: "no value with the case's rubricPrompt", assert: `{"type":"llm-rubric"}`, c: &proviso.Case{Options: proviso.CaseOptions{RubricPrompt: "p"}}},
		{name: "the grader cannot", assert: `{"type":"similar","value":"v","provider":"none"}`, want: []string{"/a/provider there is no none for similar"}},
		{name: "two things at once", assert: `{"type":"llm-rubric","provider":"none"}`, want: []string{`/a/type "llm-rubric" needs a value`, "/a/provider there is no none for llm-rubric"}},
		{name: "select-best without a value", assert: `{"type":"select-best"}`, want: []string{`/a/type "select-best" needs a value`}},
		{name: "the case's grader cannot", assert: `{"type":"not-moderation"}`, c: &proviso.Case{Options: proviso.CaseOptions{Grader: "none"}}, want: []string{"/a/type there is no none for moderation"}},
		{name: "in a set", assert: `{"type":"assert-set","assert":[{"type":"classifier","provider":"none"},{"type":"context-recall","value":"v","threshold":0}]}`,
			want: []string{"/a/assert/0/provider there is no none for classifier", `?/a/assert/1/threshold "context-recall" with this threshold`}},
		{name: "select-best", assert: `{"type":"select-best","value":"v","provider":"none"}`, want: []string{"/a/provider there is no none for select-best"}},
		{name: "deterministic types need nothing", assert: `{"type":"contains","value":"v"}`, c: &proviso.Case{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := compiler(t).Options
			o.Grader = unable
			set, mistakes := check.New(o).Compile([]*proviso.Assertion{parsed(t, tc.assert)})
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			var got []string
			for _, m := range set.Prepare(tc.c, tc.open) {
				text := m.Pointer + " " + m.Error()
				if m.Warning {
					text = "?" + text
				}
				got = append(got, text)
			}
			if !slices.EqualFunc(got, tc.want, strings.HasPrefix) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestWithoutGrader: types that need a model are a mistake of a special kind, and
// undecided if the suite is run in spite of it.
func TestWithoutGrader(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	for text, needs := range map[string]string{
		`{"type":"not-llm-rubric","value":"v"}`: "a model that judges", `{"type":"similar","value":"v"}`: "a model that embeds",
		`{"type":"classifier"}`: "a classifier", `{"type":"moderation"}`: "a moderator", `{"type":"answer-relevance","threshold":1}`: "a model that judges",
	} {
		a := parsed(t, text)
		set, _ := c.Compile([]*proviso.Assertion{a})
		mistakes := set.Prepare(nil, false)
		if len(mistakes) != 1 || mistakes[0].Code != proviso.Unavailable || !strings.Contains(mistakes[0].Message, "needs "+needs) {
			t.Errorf("%s: %v", text, mistakes)
		}
		if v := c.Decide(t.Context(), a, &check.Row{Output: &proviso.Output{Value: "x"}, Vars: value.NewObject(0)}); v.Status != proviso.Errored {
			t.Errorf("%s: %s", text, v.Status)
		}
	}
}

// TestSpentOnErrors: the usage of a grader is counted with and without a verdict, and
// for every part of an output.
func TestSpentOnErrors(t *testing.T) {
	t.Parallel()
	o := compiler(t).Options
	asked := 0
	o.Grader = graderFunc(func(q proviso.Question) (proviso.Grade, error) {
		asked++
		g := proviso.Grade{Pass: true, Score: 1, Cost: 2, Usage: proviso.Usage{Total: 5}, Judge: "j"}
		if strings.Contains(q.Output, "bad") {
			return proviso.Grade{Cost: 2, Usage: proviso.Usage{Total: 5}, Judge: "j"}, errors.New("no verdict")
		}
		return g, nil
	})
	c := check.New(o)
	for output, want := range map[string]struct {
		status proviso.Status
		cost   float64
	}{"a": {proviso.Pass, 2}, "a\nb": {proviso.Pass, 4}, "a\nbad\nc": {proviso.Errored, 4}} {
		row := &check.Row{Output: &proviso.Output{Value: output}, Vars: value.NewObject(0)}
		v := c.Decide(t.Context(), parsed(t, `{"type":"llm-rubric","value":"v","scope":{"each":"line"}}`), row)
		if v.Status != want.status || v.Cost != want.cost || v.Usage.Total != int64(want.cost/2*5) || v.Judge != "j" {
			t.Errorf("%q: %s for %v, %v by %q", output, v.Status, v.Cost, v.Usage, v.Judge)
		}
	}
}
