package judge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// answering is a model that computes its answer.
type answering func(ask proviso.Ask) string

func (answering) ID() string { return "test:answering" }

func (f answering) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: f(ask)}, nil
}

func judgeOf(t *testing.T, p proviso.Provider) *judge.Judge {
	t.Helper()
	j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: p, Spec: proviso.ProviderSpec{ID: p.ID()}}}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// placeOf returns the number of an output in a message.
func placeOf(t *testing.T, ask proviso.Ask, output string) int {
	message := chatOf(t, ask.Prompt)[1]
	for n := 1; ; n++ {
		_, rest, ok := strings.Cut(message, fmt.Sprintf(" begin output %d]\n", n))
		if !ok {
			t.Fatalf("%q is not in the message", output)
		}
		if strings.HasPrefix(rest, output+"\n") {
			return n
		}
	}
}

// TestChoose: a model with a preference chooses the same output in any position.
func TestChoose(t *testing.T) {
	t.Parallel()
	outputs := []string{"red", "green", "blue", "green too"}
	var places []int
	for shift := range outputs {
		order := append(slices.Clone(outputs[shift:]), outputs[:shift]...)
		j := judgeOf(t, answering(func(ask proviso.Ask) string {
			n := placeOf(t, ask, "green")
			places = append(places, n)
			return fmt.Sprintf(`{"reason":"it is green","best":%d}`, n)
		}))
		best, g, err := j.Choose(t.Context(), proviso.Question{Type: "select-best", Value: "the greenest", Outputs: order, Input: "a colour?"})
		if err != nil || order[best] != "green" || g.Judge == "" {
			t.Errorf("%v: chose %d, %v", order, best, err)
		}
	}
	slices.Sort(places)
	if len(slices.Compact(places)) < 2 {
		t.Errorf("the output stands at the same place in every order: %v", places)
	}
}

// TestChooseInBothOrders: a model that prefers a position has not chosen anything.
func TestChooseInBothOrders(t *testing.T) {
	t.Parallel()
	asked := 0
	first := answering(func(proviso.Ask) string { asked++; return `{"best":1}` })
	known := answering(func(ask proviso.Ask) string { asked++; return fmt.Sprintf(`{"best":%d}`, placeOf(t, ask, "b")) })
	twice := &proviso.Assertion{Type: "select-best", Config: value.ObjectOf("orders", 2.0)}
	q := proviso.Question{Type: "select-best", Assertion: twice, Value: "v", Outputs: []string{"a", "b"}}
	if best, _, err := judgeOf(t, known).Choose(t.Context(), q); err != nil || best != 1 || asked != 2 {
		t.Errorf("chose %d after %d asks, %v", best, asked, err)
	}
	if _, _, err := judgeOf(t, first).Choose(t.Context(), q); code(err) != proviso.Undecided || !strings.Contains(err.Error(), "depends on the order") {
		t.Errorf("the first in any order: %v", err)
	}
	asked = 0
	q.Assertion = &proviso.Assertion{Type: "select-best"}
	if _, _, err := judgeOf(t, first).Choose(t.Context(), q); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	q.Assertion = &proviso.Assertion{Type: "select-best", Config: value.ObjectOf("orders", "both")}
	if _, _, err := judgeOf(t, first).Choose(t.Context(), q); code(err) != proviso.Invalid {
		t.Errorf("orders that are none: %v", err)
	}
}

func code(err error) string {
	var e *proviso.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestChooseReplies(t *testing.T) {
	t.Parallel()
	custom := "{% for o in outputs %}{{ loop.index0 }}: {{ o }}\n{% endfor %}{{ criteria }}"
	for _, tc := range []struct {
		name, first, second string
		rubric              any
		want                int
		problem             string
	}{
		{name: "with a rubricPrompt the number from 0", first: "The best is 2.", rubric: custom, want: 2},
		{name: "with a rubricPrompt, of two digits", first: "12", second: "1", rubric: custom, want: 1},
		{name: "with a rubricPrompt no number", first: "none", second: "neither", rubric: custom, problem: "no number from 0 to 2"},
		{name: "out of range", first: `{"best":4}`, second: `{"best":0}`, problem: "best is no number"},
		{name: "a fraction", first: `{"best":1.5}`, second: `{"best":null}`, problem: "best is no number"},
		{name: "prose", first: "The second.", second: "2", problem: "no JSON object with best"},
		{name: "two choices", first: `{"best":1} {"best":2}`, second: `{"best":1} {"best":2}`, problem: "more than one answer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, &scripted{replies: []string{tc.first, tc.second}}, nil)
			best, g, err := b.judge.Choose(t.Context(), proviso.Question{Type: "select-best", Value: "v", Rubric: tc.rubric, Outputs: []string{"a", "{{ b }}", "c"}})
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) || g.Cost != 0.5 {
					t.Errorf("got %d, %v for %v", best, err, g.Cost)
				}
				return
			}
			if err != nil || best != tc.want {
				t.Errorf("got %d, %v", best, err)
			}
			if sent := b.model.asks[0].Prompt; sent != "0: a\n1: {{ b }}\n2: c\nv" {
				t.Errorf("sent %q", sent)
			}
		})
	}
}

// TestSearching checks each vendor's setting for web search.
func TestSearching(t *testing.T) {
	t.Parallel()
	own := value.ObjectOf("tools", []any{value.ObjectOf("type", "web_search_20250305", "name", "web_search")}, "max_tokens", 9.0)
	for _, tc := range []struct {
		id   string
		cfg  *value.Object
		want string // the provider that is opened; "" means an error
	}{
		{id: "perplexity:sonar", want: `"perplexity:sonar"`},
		{id: "anthropic:messages:claude", want: `{"id":"anthropic:messages:claude","config":{"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5}]}}`},
		{id: "anthropic:claude", cfg: own, want: `{"id":"anthropic:claude","config":` + value.Stringify(own) + `}`},
		{id: "openai:gpt-5", want: `{"id":"openai:responses:gpt-5","config":{"tools":[{"type":"web_search"}]}}`},
		{id: "openai:responses:gpt-5", cfg: value.ObjectOf("tools", []any{value.ObjectOf("type", "mcp")}), want: `{"id":"openai:responses:gpt-5","config":{"tools":[{"type":"mcp"},{"type":"web_search"}]}}`},
		{id: "openai:responses:gpt-5", cfg: value.ObjectOf("tools", "file://tools.json"), want: `{"id":"openai:responses:gpt-5","config":{"tools":"file://tools.json"}}`},
		{id: "openai:chat:gpt-4o-search-preview", want: `"openai:chat:gpt-4o-search-preview"`},
		{id: "openai:chat:gpt-4o"},
		{id: "google:gemini", want: `{"id":"google:gemini","config":{"tools":[{"googleSearch":{}}]}}`},
		{id: "vertex:gemini-pro", want: `{"id":"vertex:gemini-pro","config":{"tools":[{"googleSearch":{}}]}}`},
		{id: "vertex:claude-x", want: `{"id":"vertex:claude-x","config":{"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5}]}}`},
		{id: "xai:grok", want: `{"id":"xai:grok","config":{"search_parameters":{"mode":"on"}}}`},
		{id: "openrouter:a/b:online", want: `"openrouter:a/b:online"`},
		{id: "openrouter:a/b", want: `{"id":"openrouter:a/b","config":{"plugins":[{"id":"web"}]}}`},
		{id: "https://search.test/ask", want: `"https://search.test/ask"`},
		{id: "exec:./search", want: `"exec:./search"`},
		{id: "ollama:chat:llama"},
		{id: "groq:llama"},
	} {
		var opened []any
		j, err := judge.New(judge.Options{Providers: provider.Facts(), Open: func(grader any, _ judge.Role) (judge.Seat, error) {
			opened = append(opened, grader)
			return judge.Seat{Provider: &scripted{id: "x", replies: []string{passing}}}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		grader := any(tc.id)
		if tc.cfg != nil {
			grader = value.ObjectOf("id", tc.id, "config", tc.cfg)
		}
		q := proviso.Question{Type: "search-rubric", Value: "v", Grader: grader}
		prepared := j.Prepare(q)
		_, err = j.Grade(t.Context(), q)
		if tc.want == "" {
			if code(prepared) != proviso.Invalid || code(err) != proviso.Invalid || len(opened) > 0 {
				t.Errorf("%s: %v, %v, opened %v", tc.id, prepared, err, opened)
			}
			continue
		}
		if prepared != nil || err != nil || len(opened) != 1 || value.Stringify(opened[0]) != tc.want {
			t.Errorf("%s: %v, %v, opened %s", tc.id, prepared, err, value.Stringify(opened))
		}
	}
}

// TestConversationWindows checks which turns are shown together.
func TestConversationWindows(t *testing.T) {
	t.Parallel()
	var turns []proviso.Turn
	for i := range 4 {
		turns = append(turns, proviso.Turn{Input: fmt.Sprintf("question %d", i+1), Output: fmt.Sprintf("answer %d", i+1)})
	}
	j := judgeOf(t, answering(func(ask proviso.Ask) string {
		message := chatOf(t, ask.Prompt)[1]
		if strings.Count(message, "user: ") > 2 {
			t.Errorf("more than two turns: %s", message)
		}
		return fmt.Sprintf(`{"reason":"r","pass":%v}`, !strings.Contains(message, "answer 3\n\n["))
	}))
	a := &proviso.Assertion{Type: "conversation-relevance", Config: value.ObjectOf("windowSize", 2.0)}
	half := 0.8
	g, err := j.Grade(t.Context(), proviso.Question{Type: a.Type, Assertion: a, Turns: turns, Threshold: &half})
	if err != nil || g.Pass || g.Score != 0.75 || !strings.Contains(g.Reason, "turn 3: r") {
		t.Errorf("got %v, %v", g, err)
	}
	broken := judgeOf(t, answering(func(ask proviso.Ask) string {
		if strings.Contains(ask.Prompt, "answer 3") {
			return "no verdict"
		}
		return `{"pass":true}`
	}))
	if _, err := broken.Grade(t.Context(), proviso.Question{Type: a.Type, Turns: turns}); code(err) != proviso.Undecided {
		t.Errorf("a turn without a verdict: %v", err)
	}
	many := make([]proviso.Turn, 201)
	if _, err := broken.Grade(t.Context(), proviso.Question{Type: a.Type, Turns: many}); code(err) != proviso.Limit {
		t.Errorf("too many turns: %v", err)
	}
}

// TestGradedCancelled: a cancelled grading has no verdict, and the error says so.
func TestGradedCancelled(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	j := judgeOf(t, waitingFor{})
	for _, typ := range []string{"llm-rubric", "conversation-relevance", "g-eval"} {
		q := proviso.Question{Type: typ, Value: "v", Turns: []proviso.Turn{{Input: "a", Output: "b"}}}
		if _, err := j.Grade(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// waitingFor answers when its context ends.
type waitingFor struct{}

func (waitingFor) ID() string { return "test:waiting" }

func (waitingFor) Answer(ctx context.Context, _ proviso.Ask) (proviso.Output, error) {
	<-ctx.Done()
	return proviso.Output{}, ctx.Err()
}

// FuzzVerdict: whatever a model replies, a pass was stated, and a score with proviso's
// own prompt is between 0 and 1.
func FuzzVerdict(f *testing.F) {
	for _, reply := range []string{passing, "", "{", `{"pass":"true"}`, `{"reason":"{\"pass\":true}"}`, "```json\n" + passing + "\n```", `[{"pass":false}]`, `{"a":{"pass":true}}`, "\x00{\"pass\":\xff}"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		j := judgeOf(t, answering(func(proviso.Ask) string { return reply }))
		for _, typ := range []string{"llm-rubric", "model-graded-closedqa", "factuality", "g-eval", "context-recall", "conversation-relevance"} {
			g, err := j.Grade(t.Context(), proviso.Question{Type: typ, Value: "v", Output: "o", Context: []string{"c"}, Turns: []proviso.Turn{{}}})
			if err != nil {
				if g.Pass || g.Score != 0 || g.Reason != "" {
					t.Errorf("%s: an error with a verdict: %v", typ, g)
				}
				continue
			}
			if g.Score < 0 || g.Score > 1 || g.Score != g.Score {
				t.Errorf("%s: score %v", typ, g.Score)
			}
			if typ == "llm-rubric" && !strings.Contains(reply, "pass") && !strings.Contains(reply, `\u`) {
				t.Errorf("a verdict of %q", reply)
			}
		}
	})
}

// TestDuplicateKeys: a reply with a duplicate verdict key is ambiguous and decides
// nothing, for every type and for every author of the prompt.
func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		q     proviso.Question
		reply string
	}{
		"llm-rubric":             {proviso.Question{Type: "llm-rubric", Value: "v"}, `{"reason":"r","pass":false,"score":1,"pass":true}`},
		"llm-rubric, score":      {proviso.Question{Type: "llm-rubric", Value: "v"}, `{"pass":true,"score":0,"score":1}`},
		"llm-rubric, escaped":    {proviso.Question{Type: "llm-rubric", Value: "v"}, `{"pass":false,"p\u0061ss":true}`},
		"model-graded-closedqa":  {proviso.Question{Type: "model-graded-closedqa", Value: "v"}, `{"pass":false,"pass":true}`},
		"factuality":             {proviso.Question{Type: "factuality", Value: "v"}, `{"category":"D","category":"C"}`},
		"context-recall":         {proviso.Question{Type: "context-recall", Value: "v", Context: []string{"c"}}, `{"statements":[{"statement":"s","supported":false,"supported":true}]}`},
		"conversation-relevance": {proviso.Question{Type: "conversation-relevance", Turns: []proviso.Turn{{Input: "a", Output: "b"}}}, `{"pass":false,"pass":true}`},
	} {
		tc.q.Output = "o"
		j := judgeOf(t, answering(func(proviso.Ask) string { return tc.reply }))
		g, err := j.Grade(t.Context(), tc.q)
		if err == nil || !strings.Contains(err.Error(), "more than once") || g.Pass {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
	// Prompts from a suite may ask for words besides JSON; the words do not resolve the
	// ambiguity.
	if _, err := judge.ReadYesOrNo(`{"pass":false,"pass":true} Y`); err == nil || !strings.Contains(err.Error(), "more than once") {
		t.Errorf("a reply to the suite's own prompt: %v", err)
	}
}
