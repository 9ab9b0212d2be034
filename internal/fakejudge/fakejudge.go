// Package fakejudge is a judge model for tests: it reads the prompt of a judge strictly,
// as a model would, and answers by the wording of the criteria.
package fakejudge

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Call is a call as the model understands it.
type Call struct {
	Ask                  proviso.Ask
	System, User, Fence  string
	Input, Output        string
	Context              string // "" if the call has none
	Assertions           []Assertion
	Turns                int // number of messages
	AssertionText, After string
	Variables            *value.Object // nil if the call has none
}

// Assertion is an assertion in a call.
type Assertion struct {
	ID, Instruction string
	N               []int
	Text            []string
}

// Model is a provider that judges. Reply creates the text of its answer; nil means
// [Honest].
type Model struct {
	Name  string // "fake" if empty
	Reply func(c Call) string
	Fail  func(c Call) error                // ends the call with an error
	Edit  func(c Call, out *proviso.Output) // changes the answer

	mu    sync.Mutex
	calls []Call
}

// ID implements [proviso.Provider].
func (f *Model) ID() string {
	if f.Name == "" {
		return "fake"
	}
	return f.Name
}

// Answer implements [proviso.Provider].
func (f *Model) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	if err := ctx.Err(); err != nil {
		return proviso.Output{}, err
	}
	c, err := Understand(ask)
	if err != nil {
		return proviso.Output{}, err
	}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.Fail != nil {
		if err := f.Fail(c); err != nil {
			return proviso.Output{}, err
		}
	}
	text := Honest(c)
	if f.Reply != nil {
		text = f.Reply(c)
	}
	cost := 0.01
	out := proviso.Output{Value: text, Cost: &cost, Usage: proviso.Usage{Prompt: 1000, Completion: 100, Cached: 900, Total: 1100, Requests: 1}}
	if f.Edit != nil {
		f.Edit(c, &out)
	}
	return out, nil
}

// Calls returns the calls so far, in any order.
func (f *Model) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Call(nil), f.calls...)
}

// Count returns how many calls there were.
func (f *Model) Count() int { return len(f.Calls()) }

// Understand reads a call as a model would that respects the fence around data.
func Understand(ask proviso.Ask) (Call, error) {
	c := Call{Ask: ask}
	v, err := value.ParseJSON(ask.Prompt)
	list, ok := v.([]any)
	if err != nil || !ok || len(list) < 2 {
		return c, fmt.Errorf("the prompt is no chat: %v", err)
	}
	c.Turns = len(list)
	c.System = list[0].(*value.Object).Text("content")
	c.User = list[1].(*value.Object).Text("content")
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
	c.Input = part("input")
	marks := 7
	if strings.HasPrefix(rest, "\n["+c.Fence+" begin context]\n") {
		c.Context = part("context")
		marks += 2
	}
	c.Output = part("output")
	if strings.HasPrefix(rest, "\n["+c.Fence+" begin variables]\n") {
		v, _ := value.ParseJSON(part("variables"))
		c.Variables, _ = v.(*value.Object)
		marks += 2
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
		a := Assertion{}
		a.ID = o.Text("id")
		a.Instruction = o.Text("instruction")
		for _, e := range o.At("criteria").([]any) {
			n, _ := e.(*value.Object).At("n").(float64)
			text := e.(*value.Object).Text("text")
			a.N, a.Text = append(a.N, int(n)), append(a.Text, text)
		}
		c.Assertions = append(c.Assertions, a)
	}
	return c, err
}

// Honest decides by the wording of the criteria: a criterion that begins with "no:" is not
// met.
func Honest(c Call) string {
	return Answered(c, func(_ Assertion, text string) bool { return Met(text) })
}

// Met reports whether [Honest] finds a criterion met.
func Met(text string) bool { return !strings.HasPrefix(text, "no:") }

// Answered returns a reply in which met decides every criterion. Canaries, which no test
// writes, are never met.
func Answered(c Call, met func(a Assertion, text string) bool) string {
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
