package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/value"
)

// chooser is a grader that chooses by a function.
type chooser struct {
	choose func(ctx context.Context, q proviso.Question) (int, error)

	mu    sync.Mutex
	asked []proviso.Question
}

func (c *chooser) Grade(context.Context, proviso.Question) (proviso.Grade, error) {
	return proviso.Grade{}, fmt.Errorf("nothing is graded here")
}

func (c *chooser) Choose(ctx context.Context, q proviso.Question) (int, proviso.Grade, error) {
	c.mu.Lock()
	c.asked = append(c.asked, q)
	c.mu.Unlock()
	best, err := c.choose(ctx, q)
	return best, proviso.Grade{Reason: fmt.Sprint(q.Value), Cost: 2, Usage: proviso.Usage{Total: 7}, Judge: "chooser#1"}, err
}

// longest chooses the longest output.
func longest(_ context.Context, q proviso.Question) (int, error) {
	best := 0
	for i, o := range q.Outputs {
		if len(o) > len(q.Outputs[best]) {
			best = i
		}
	}
	return best, nil
}

func TestSelectBest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, tests, want string
		choose            func(context.Context, proviso.Question) (int, error)
	}{
		{name: "the longest", tests: "  - assert: [{type: select-best, value: long}]", want: "fail pass fail"},
		{name: "a winner that fails otherwise", tests: "  - assert: [{type: contains, value: short}, {type: select-best, value: long}]", want: "fail fail fail"},
		{name: "losers fail whatever the threshold", tests: "  - threshold: 0\n    assert: [{type: select-best, value: long}]", want: "fail pass fail"},
		{name: "undecided outputs do not take part", tests: "  - assert: [{type: perplexity, threshold: 1}, {type: select-best, value: long}]", want: "error error error"},
		{name: "one output", tests: "  - prompts: [short]\n    assert: [{type: select-best, value: long}]", want: "error"},
		{name: "no choice", tests: "  - assert: [{type: select-best, value: long}]", want: "error error error",
			choose: func(context.Context, proviso.Question) (int, error) { return 0, fmt.Errorf("no verdict") }},
		{name: "an empty value", tests: "  - vars: {x: ''}\n    assert: [{type: select-best, value: '{{ x }}'}]", want: "error error error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g := &chooser{choose: longest}
			if tc.choose != nil {
				g.choose = tc.choose
			}
			out := outcome(t, t.Context(), "prompts: [short, much longer, mid]\nproviders: [echo]\ntests:\n"+tc.tests+"\n", nil, run.Options{Engines: run.Engines{Grader: g}})
			if got := statuses(t, out); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestSelectBestRows checks the question and the resulting rows.
func TestSelectBestRows(t *testing.T) {
	t.Parallel()
	g := &chooser{choose: longest}
	out := outcome(t, t.Context(), `
prompts: ["short {{ x }}", "much longer {{ x }}"]
providers: [echo]
defaultTest: {options: {provider: "test:mine", rubricPrompt: "{{ outputs }}"}}
tests:
  - {vars: {x: cats}, assert: [{type: select-best, value: "about {{ x }}"}]}
  - {vars: {x: dogs}, assert: [{type: select-best, value: "about {{ x }}", provider: "test:ours"}]}
`, nil, run.Options{Engines: run.Engines{Grader: g}, Limits: run.Limits{Concurrency: 1}})
	var asked []string
	for _, q := range g.asked {
		asked = append(asked, fmt.Sprint(q.Value, " ", q.Outputs, " ", q.Grader, " ", q.Rubric, " ", q.Input))
	}
	slices.Sort(asked)
	if want := []string{
		"about cats [short cats much longer cats] test:mine {{ outputs }} short cats",
		"about dogs [short dogs much longer dogs] test:ours {{ outputs }} short dogs",
	}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	rows := rows(t, out)
	lost, won := rows[0], rows[1]
	if at(won, "score") != 1.0 || at(lost, "score") != 0.0 || at(won, "gradingResult", "componentResults", 0, "reason") != "Output selected as the best: about cats" ||
		!strings.HasPrefix(fmt.Sprint(at(lost, "gradingResult", "reason")), "Output not selected: about cats") {
		t.Errorf("the winner: %s\nthe loser: %s", value.Stringify(won), value.Stringify(lost))
	}
	if at(lost, "gradingResult", "cost") != 2.0 || at(won, "gradingResult", "cost") != nil {
		t.Errorf("the choice is not paid once: %v and %v", at(lost, "gradingResult", "cost"), at(won, "gradingResult", "cost"))
	}
}

// TestSelectBestDoesNotBlock: while one group waits for the model, other rows
// run.
func TestSelectBestDoesNotBlock(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	all.Add(3)
	g := &chooser{choose: func(context.Context, proviso.Question) (int, error) {
		all.Done()
		all.Wait() // wait for the others
		return 0, nil
	}}
	out := outcome(t, t.Context(), "prompts: [a, b]\nproviders: [echo]\ntests:\n"+strings.Repeat("  - assert: [{type: select-best, value: v}]\n", 3), nil, run.Options{Engines: run.Engines{Grader: g}, Limits: run.Limits{Concurrency: 6}})
	if got := statuses(t, out); got != "pass fail pass fail pass fail" {
		t.Errorf("got %s", got)
	}
}

// TestSelectBestInterrupted: an interrupted group is not stored.
func TestSelectBestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	g := &chooser{choose: func(ctx context.Context, _ proviso.Question) (int, error) {
		stop()
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	out := outcome(t, ctx, "prompts: [a, b]\nproviders: [echo]\ntests:\n  - assert: [{type: select-best, value: v}]\n", nil, run.Options{Engines: run.Engines{Grader: g}})
	if n := len(rows(t, out)); n != 0 || out.Completed {
		t.Errorf("%d rows are kept", n)
	}
}

// TestForeseen: mistakes that depend on a case and a grader are found before the run.
func TestForeseen(t *testing.T) {
	t.Parallel()
	_, mistakes := plan(t, `
prompts: [a]
providers: [echo]
tests:
  - {vars: {context: c}, assert: [{type: context-relevance, threshold: 0.5}]}
  - {vars: {query: q}, assert: [{type: context-faithfulness, threshold: 0}]}
  - {options: {transformVars: "({context: 'c', query: 'q'})"}, assert: [{type: context-relevance, threshold: 0.5}]}
`, nil, run.Options{Engines: run.Engines{Grader: &chooser{}}})
	var got []string
	for _, m := range mistakes {
		got = append(got, fmt.Sprintf("%d %v %s", m.Place.Line, m.Warning, m.Message))
	}
	want := []string{
		`5 false "context-relevance" needs the variable query`,
		`6 true "context-faithfulness" with this threshold passes`,
		`6 false "context-faithfulness" needs the variable context`,
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got %q", got)
	}
}
