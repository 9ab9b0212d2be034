package score_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

const bakery = `You answer questions of customers of a bakery.
Be friendly.
Never say "unfortunately".
Answer in at most 3 sentences.
Do not use Markdown.
End with "Your bakers".

{{question}}
`

// suite checks every instruction of the bakery.
const suite = `
- {id: excludes_unfortunately, type: not-icontains, value: unfortunately}
- {id: sentences_at_most_3, type: sentence-count, value: {max: 3}}
- {id: no_markdown, type: not-regex, value: '(^|\n)\s*([-*#>]|\d+\.|` + "```" + `)|\*\*|` + "`" + `|\]\(|\|--'}
- {id: ends_with_your_bakers, type: ends-with, value: Your bakers}
- {id: friendly, type: not-icontains, value: stupid}
`

var answers = []string{
	"We open at six, and on Sundays at eight. Come in any time. Your bakers",
	"Our rye bread has no milk in it and keeps for a week. Your bakers",
	"Yes, we deliver within the town from ten o'clock. Order by nine. Your bakers",
}

// assertions reads an assertion set, except for the given names.
func assertions(t *testing.T, text string, without ...string) []proviso.Candidate {
	t.Helper()
	list, mistakes := candidate.Read("assertions.yaml", []byte(text))
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	return slices.DeleteFunc(list, func(c proviso.Candidate) bool { return slices.Contains(without, c.Name) })
}

// outputs are texts decided by a set.
func outputs(set *score.Set, texts ...string) iter.Seq2[score.Output, error] {
	return func(yield func(score.Output, error) bool) {
		for i, text := range texts {
			vars := value.ObjectOf("question", "When do you open?")
			if !yield(score.Output{Trial: trial.Trial{ID: fmt.Sprintf("o%d", i+1), Output: text, Vars: vars}, Set: set}, nil) {
				return
			}
		}
	}
}

// options opens an engine without a judge.
func options(t *testing.T) score.Options {
	t.Helper()
	e, err := engine.Open(context.Background(), nil, engine.Options{Policy: engine.Policy{Trusted: true}, Judge: engine.Judge{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return score.Options{Try: matrix.Options{Compiler: e.Compiler(nil), Code: e.Code()}, Rules: e.Compiler(func(o *check.Options) {
		*o = check.Options{Templates: o.Templates, Expand: o.Expand, Engines: o.Engines}
	})}
}

func run(t *testing.T, list iter.Seq2[score.Output, error], o score.Options) *score.Report {
	t.Helper()
	r, err := score.Run(context.Background(), list, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// surviving returns the instructions with surviving mutants.
func surviving(r *score.Report) []string {
	var list []string
	for _, in := range r.Instructions {
		if in.Survived > 0 {
			list = append(list, in.Text)
		}
	}
	return list
}

// TestHoles removes one assertion from a suite that checks every instruction, and finds
// exactly its instruction.
func TestHoles(t *testing.T) {
	t.Parallel()
	o := options(t)
	for _, hole := range []struct{ without, instruction string }{
		{"", ""},
		{"excludes_unfortunately", `Never say "unfortunately".`},
		{"sentences_at_most_3", "Answer in at most 3 sentences."},
		{"no_markdown", "Do not use Markdown."},
		{"ends_with_your_bakers", `End with "Your bakers".`},
		{"friendly", "Be friendly."},
	} {
		set := &score.Set{Prompt: bakery, Assertions: assertions(t, suite, hole.without)}
		r := run(t, outputs(set, answers...), o)
		var want []string
		if hole.instruction != "" {
			want = []string{hole.instruction}
		}
		if got := surviving(r); !slices.Equal(got, want) {
			t.Errorf("without %q these survive: %q, want %q", hole.without, got, want)
			for _, in := range r.Instructions {
				t.Logf("%+v", in)
			}
		}
		if r.Outputs.Usable != 3 || r.Decided() < 15 {
			t.Errorf("without %q: %+v, %d decided", hole.without, r.Outputs, r.Decided())
		}
	}
}

// TestOutputs counts the reasons why outputs are not used.
func TestOutputs(t *testing.T) {
	t.Parallel()
	set := &score.Set{Prompt: bakery, Assertions: assertions(t, suite+"- {id: unknown, type: icontains, value: x, when: vars.missing > 1.0}\n- {id: stop, type: finish-reason, value: stop}\n- {id: quick, type: latency, threshold: 5}\n")}
	list := func(yield func(score.Output, error) bool) {
		for i, test := range []struct {
			label string
			text  any
		}{
			{"", answers[0]}, {"1", answers[1]}, {"0", answers[2]}, {"", "Unfortunately not. Your bakers"}, {"", " \n"},
			{"", strings.Repeat("a ", mutate.MaxText)}, {"", answers[2] + " indeed"},
		} {
			if !yield(score.Output{Trial: trial.Trial{ID: fmt.Sprint(i), Label: test.label, Output: test.text}, Set: set}, nil) {
				return
			}
		}
	}
	o := options(t)
	r := run(t, list, o)
	if want := (score.Outputs{Given: 7, Bad: 1, Unfit: 2, Failing: 2, Usable: 2}); r.Outputs != want {
		t.Errorf("%+v, want %+v", r.Outputs, want)
	}
	failing := map[string]int{}
	for _, a := range r.Assertions {
		failing[a.Name] = a.Failing
		if a.Name == "unknown" && (a.Made() != 0 || a.Why == "") {
			t.Errorf("what is undecided on the outputs takes no part: %+v", a)
		}
		if (a.Name == "stop" || a.Name == "quick") && (a.Made() != 0 || a.NotRun != "it does not look at the text of an output") {
			t.Errorf("what looks at no text is not run: %+v", a)
		}
	}
	if failing["excludes_unfortunately"] != 1 || failing["ends_with_your_bakers"] != 1 || failing["no_markdown"] != 0 {
		t.Errorf("failing: %v", failing)
	}
	o.Outputs = 1
	if r := run(t, list, o); r.Outputs.Usable != 1 || r.Outputs.Over() != 1 {
		t.Errorf("at most one: %+v", r.Outputs)
	}
	undecided := &score.Set{Prompt: bakery, Assertions: assertions(t, "- {id: a, type: icontains, value: x, when: vars.missing > 1.0}\n")}
	if r := run(t, outputs(undecided, answers...), o); r.Outputs.Undecided != 1 || r.Made() != 0 {
		t.Errorf("nothing can be decided: %+v", r.Outputs)
	}
}

// TestUndecided has an assertion that cannot decide some mutants. They are neither killed
// nor survived, unless another assertion kills them.
func TestUndecided(t *testing.T) {
	t.Parallel()
	o := judging(t, &rude{broken: true})
	for _, test := range []struct {
		without string
		want    score.Counts // of "Be friendly."
	}{
		{"friendly", score.Counts{Undecided: 3}}, {"", score.Counts{Killed: 3}},
	} {
		set := &score.Set{Prompt: bakery, Assertions: assertions(t, suite+judged, test.without)}
		r := run(t, outputs(set, answers[:2]...), o)
		if got := r.Instructions[1].Counts; got != test.want {
			t.Errorf("without %q: %+v, want %+v", test.without, got, test.want)
		}
	}
}

// TestSeed checks that the same seed gives the same report.
func TestSeed(t *testing.T) {
	t.Parallel()
	set := &score.Set{Prompt: bakery, Assertions: assertions(t, suite, "no_markdown")}
	report := func(seed uint64, concurrency int) string {
		o := options(t)
		o.Seed, o.Outputs, o.Try.Concurrency = seed, 2, concurrency
		text, err := run(t, outputs(set, answers...), o).JSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := report(1, 1)
	if again := report(1, 4); again != first {
		t.Errorf("the same seed gave\n%s\nand\n%s", first, again)
	}
	if report(3, 1) == first {
		t.Error("another seed gave the same report")
	}
}

const judged = "- {id: judged, type: llm-rubric, value: The answer is friendly.}\n"

// rude is a judge that calls an output friendly unless it contains "stupid". If broken, it
// cannot judge such an output. It counts its questions.
type rude struct {
	broken bool
	asked  atomic.Int32
}

func (g *rude) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	g.asked.Add(1)
	pass := !strings.Contains(q.Output, "stupid")
	if g.broken && !pass {
		return proviso.Grade{}, errors.New("the judge is broken")
	}
	return proviso.Grade{Pass: pass, Score: 1}, nil
}

// judging are the options with a judge.
func judging(t *testing.T, judge proviso.Grader) score.Options {
	t.Helper()
	e, err := engine.Open(context.Background(), nil, engine.Options{Policy: engine.Policy{Trusted: true}, Judge: engine.Judge{Grader: judge}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	o := options(t)
	o.Try.Compiler, o.Judge = e.Compiler(nil), true
	return o
}

// TestJudged checks that an assertion that asks a model runs only on request, and then only
// on mutants that nothing else kills.
func TestJudged(t *testing.T) {
	t.Parallel()
	judge := &rude{}
	o := judging(t, judge)
	o.Judge = false
	set := &score.Set{Prompt: bakery, Assertions: assertions(t, suite+judged, "friendly")}
	r := run(t, outputs(set, answers...), o)
	if got := surviving(r); !slices.Equal(got, []string{"Be friendly."}) || r.NotRun != 1 || judge.asked.Load() != 0 {
		t.Errorf("without a judge: %q survive, %d not run, %d asked", got, r.NotRun, judge.asked.Load())
	}
	o.Judge = true
	r = run(t, outputs(set, answers...), o)
	if got := surviving(r); len(got) > 0 || r.NotRun != 0 {
		t.Errorf("with a judge: %q survive, %d not run", got, r.NotRun)
	}
	if asked, friendly := int(judge.asked.Load()), r.Instructions[1]; asked >= r.Made() || asked < friendly.Killed+3 {
		t.Errorf("%d questions about %d mutants, of which nothing else kills %d", asked, r.Made(), friendly.Killed)
	}
}

// scripted is a model that answers questions for mutants.
type scripted func(question string) string

func (s scripted) ID() string { return "scripted" }

func (s scripted) Answer(_ context.Context, q proviso.Ask) (proviso.Output, error) {
	return proviso.Output{Value: s(q.Prompt), Usage: proviso.Usage{Prompt: 10, Completion: 5, Total: 15}}, nil
}

// TestModel checks that a model's mutants have the basis claimed, that mutants refuted by a
// check or without a change are dropped, and that an unreadable answer does not end the
// run.
func TestModel(t *testing.T) {
	t.Parallel()
	set := &score.Set{Prompt: bakery, Assertions: assertions(t, suite)}
	o := options(t)
	o.Asked = 1
	entry := func(n int, text string) string { return fmt.Sprintf(`{"n": %d, "output": %q}`, n, text) }
	var question string
	ask1 := func(reply string) *score.Report {
		o.Model = &ask.Model{Provider: scripted(func(q string) string { question = q; return reply })}
		return run(t, outputs(set, answers[0]), o)
	}
	// Instructions that no rule breaks come first: the role, then the others in order.
	r := ask1(`{"mutants": [` + strings.Join([]string{
		entry(1, "Ask somebody else. Your bakers"), entry(2, answers[0]), entry(3, "It is open. Your bakers"), entry(4, "One. Two. Three. Four. Your bakers"),
	}, ", ") + `]}`)
	claimed, checked := r.Instructions[0].By[mutate.Claimed], r.Instructions[3].By[mutate.Checked]
	if claimed.Survived != 1 || r.Refuted != 1 || checked.Killed < 4 || r.Model != "scripted" || r.Spent.Calls != 1 {
		t.Errorf("claimed %+v, refuted %d, checked %+v, model %q, spent %+v", claimed, r.Refuted, checked, r.Model, r.Spent)
	}
	for _, part := range []string{"Be friendly.", answers[0], "When do you open?"} {
		if !strings.Contains(question, part) {
			t.Errorf("the question lacks %q:\n%s", part, question)
		}
	}
	before := r.Made()
	for _, reply := range []string{"", "I cannot do that.", `{"mutants": [{"n": 99, "output": "a"}]}`, `{"mutants": [{"n": 1}]}`, `{"mutants": [` + entry(1, "a") + "," + entry(1, "b") + `]}`} {
		if r := ask1(reply); len(r.ModelErrs) != 1 || r.Made() >= before {
			t.Errorf("%q: %q, %d mutants", reply, r.ModelErrs, r.Made())
		}
	}
}

// TestEnds checks that Run ends with its context, and with an error of the outputs.
func TestEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	set := &score.Set{Prompt: bakery, Assertions: assertions(t, suite)}
	if _, err := score.Run(ctx, outputs(set, answers...), options(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, err := score.Run(context.Background(), func(yield func(score.Output, error) bool) { yield(score.Output{}, broken) }, options(t)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
