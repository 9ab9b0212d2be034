package judge_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// seen is a call as a fake judge understood it.
type seen struct {
	Ask                          proviso.Ask
	System, User, Fence          string
	Input, Output                string
	Assertions                   []asserted
	Turns                        int // messages
	AssertionText, Before, After string
	Variables                    *value.Object // nil if the call has none
}

// asserted is an assertion in a call.
type asserted struct {
	ID, Instruction string
	N               []int
	Text            []string
}

// fake is a provider that judges. Reply makes the text of its answer; nil finds
// every criterion met that does not begin with "no:".
type fake struct {
	id    string
	reply func(c seen) string
	fail  func(c seen) error
	edit  func(c seen, out *proviso.Output)

	mu    sync.Mutex
	calls []seen
}

func (f *fake) ID() string {
	if f.id == "" {
		return "fake"
	}
	return f.id
}

func (f *fake) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	if err := ctx.Err(); err != nil {
		return proviso.Output{}, err
	}
	c, err := understand(ask)
	if err != nil {
		return proviso.Output{}, err
	}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.fail != nil {
		if err := f.fail(c); err != nil {
			return proviso.Output{}, err
		}
	}
	text := honest(c)
	if f.reply != nil {
		text = f.reply(c)
	}
	cost := 0.01
	out := proviso.Output{Value: text, Cost: &cost, Usage: proviso.Usage{Prompt: 1000, Completion: 100, Cached: 900, Total: 1100, Requests: 1}}
	if f.edit != nil {
		f.edit(c, &out)
	}
	return out, nil
}

// seen returns the calls so far, in no order that means something.
func (f *fake) asked() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seen(nil), f.calls...)
}

func (f *fake) count() int { return len(f.asked()) }

// understand reads a call as a model would that knows its fence.
func understand(ask proviso.Ask) (seen, error) {
	c := seen{Ask: ask}
	v, err := value.ParseJSON(ask.Prompt)
	list, ok := v.([]any)
	if err != nil || !ok || len(list) < 2 {
		return c, fmt.Errorf("the prompt is no chat: %v", err)
	}
	c.Turns = len(list)
	c.System, _ = list[0].(*value.Object).At("content").(string)
	c.User, _ = list[1].(*value.Object).At("content").(string)
	m := regexp.MustCompile(`^Fence: ([0-9a-f]{32})\n`).FindStringSubmatch(c.User)
	if m == nil {
		return c, errors.New("the message announces no fence")
	}
	c.Fence = m[1]
	rest := c.User
	part := func(name string) string {
		_, after, ok := strings.Cut(rest, "\n["+c.Fence+" begin "+name+"]\n")
		inner, after, ended := strings.Cut(after, "\n["+c.Fence+" end "+name+"]\n")
		if !ok || !ended {
			err = fmt.Errorf("no part %s", name)
		}
		rest = after
		return inner
	}
	c.Input, c.Output = part("input"), part("output")
	marks := 7
	if strings.HasPrefix(rest, "\n["+c.Fence+" begin variables]\n") {
		v, _ := value.ParseJSON(part("variables"))
		c.Variables, _ = v.(*value.Object)
		marks = 9
	}
	c.AssertionText = part("assertions")
	c.After = rest
	if n := strings.Count(c.User, c.Fence); n != marks {
		err = fmt.Errorf("the fence occurs %d times", n)
	}
	if err != nil {
		return c, err
	}
	v, err = value.ParseJSON(c.AssertionText)
	for _, e := range v.([]any) {
		o := e.(*value.Object)
		a := asserted{}
		a.ID, _ = o.At("id").(string)
		a.Instruction, _ = o.At("instruction").(string)
		for _, e := range o.At("criteria").([]any) {
			n, _ := e.(*value.Object).At("n").(float64)
			text, _ := e.(*value.Object).At("text").(string)
			a.N, a.Text = append(a.N, int(n)), append(a.Text, text)
		}
		c.Assertions = append(c.Assertions, a)
	}
	return c, err
}

// honest answers a call by the wording of its criteria.
func honest(c seen) string {
	return answered(c, func(_ asserted, text string) bool { return isMet(text) })
}

func isMet(text string) bool { return !strings.HasPrefix(text, "no:") }

// answered is the reply in which met decides every criterion. Canaries, which no
// test writes, are never met.
func answered(c seen, met func(a asserted, text string) bool) string {
	results := []any{}
	for _, a := range c.Assertions {
		criteria := []any{}
		for i, n := range a.N {
			verdict := "not_met"
			if met(a, a.Text[i]) && !strings.HasPrefix(a.Text[i], "The ") {
				verdict = "met"
			}
			criteria = append(criteria, value.ObjectOf("n", float64(n), "evidence", []any{}, "reasoning", "Because of "+a.Text[i]+".", "verdict", verdict))
		}
		results = append(results, value.ObjectOf("id", a.ID, "criteria", criteria))
	}
	return value.Stringify(value.ObjectOf("results", results))
}

// one is a judge with one fake seat.
func one(t testing.TB, f *fake, change ...func(*judge.Options)) *judge.Judge {
	t.Helper()
	o := judge.Options{Judges: []judge.Seat{seat(f)}}
	for _, c := range change {
		c(&o)
	}
	j, err := judge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func seat(f *fake) judge.Seat {
	return judge.Seat{Provider: f, Spec: proviso.ProviderSpec{ID: f.ID()}, Identity: f.ID()}
}

// wants is an assertion of texts.
func wants(id string, criteria ...string) judge.Assertion {
	a := judge.Assertion{ID: id, Instruction: "Do " + id + "."}
	for _, text := range criteria {
		a.Criteria = append(a.Criteria, judge.Criterion{Text: text})
	}
	return a
}

// evaluate evaluates assertions on one output.
func evaluate(t testing.TB, j *judge.Judge, list ...judge.Assertion) *judge.Response {
	t.Helper()
	return request(t, j, &judge.Request{Input: "What is new?", Output: "Nothing is “new” here.\nReally.", Assertions: list})
}

func request(t testing.TB, j *judge.Judge, r *judge.Request) *judge.Response {
	t.Helper()
	out, err := j.Evaluate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// statuses is the status of each result, in order.
func statuses(r *judge.Response) string {
	var all []string
	for _, res := range r.Results {
		all = append(all, res.ID+"="+res.Status)
	}
	return strings.Join(all, " ")
}
