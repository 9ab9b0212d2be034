// Package spadetest helps to test the steps of spade: a scripted model, and a compiler of
// assertions.
package spadetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

// Question is a question to a [Model].
type Question struct {
	Step     string // criteria, candidates or classify
	Repair   int    // of the sample
	Messages []string
	Parts    map[string]string // parts of the first message, by name
	Again    map[string]string // parts of the last message, if it has any
	Last     string
}

// Model is a model whose answers come from a function.
type Model struct {
	Reply func(q Question) (string, error)

	mu    sync.Mutex
	Asked []Question
}

// ID implements proviso.Provider.
func (s *Model) ID() string { return "scripted" }

// Answer implements proviso.Provider.
func (s *Model) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	if err := ctx.Err(); err != nil {
		return proviso.Output{}, err
	}
	v, err := value.ParseJSON(ask.Prompt)
	if err != nil {
		return proviso.Output{}, err
	}
	q := Question{Step: ask.Reply.Name, Repair: ask.Sample.Repair}
	for _, m := range v.([]any) {
		q.Messages = append(q.Messages, m.(*value.Object).At("content").(string))
	}
	q.Last = q.Messages[len(q.Messages)-1]
	q.Parts, q.Again = partsOf(q.Messages[1]), partsOf(q.Last)
	s.mu.Lock()
	s.Asked = append(s.Asked, q)
	s.mu.Unlock()
	text, err := s.Reply(q)
	return proviso.Output{Value: text, Usage: proviso.Usage{Prompt: 10, Completion: 5, Total: 15, Requests: 1}}, err
}

// partsOf returns the parts of a message by name.
func partsOf(message string) map[string]string {
	parts := map[string]string{}
	fence, found := strings.CutPrefix(strings.SplitN(message, "\n", 2)[0], "Fence: ")
	for _, name := range []string{"prompt", "removed", "sentences", "variables", "outputs", "known", "criteria", "changes", "problems"} {
		_, rest, ok := strings.Cut(message, "["+fence+" begin "+name+"]\n")
		if ok && found {
			parts[name], _, _ = strings.Cut(rest, "\n["+fence+" end "+name+"]")
		}
	}
	return parts
}

// Count returns how many questions were asked.
func (s *Model) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.Asked)
}

// Objects reads a part that is JSON Lines.
func Objects(text string) []*value.Object {
	var list []*value.Object
	for line := range strings.Lines(text) {
		v, _ := value.ParseJSON(strings.TrimSpace(line))
		o, _ := v.(*value.Object)
		list = append(list, o)
	}
	return list
}

// OneEach finds one criterion in every sentence, with the sentence as its quote.
func OneEach(q Question) string {
	var list []any
	for _, o := range Objects(q.Parts["sentences"]) {
		text := o.At("text").(string)
		list = append(list, value.ObjectOf("n", o.At("n"), "quote", text, "category", "Inclusion", "criterion", fmt.Sprintf("It keeps: %.60s", text), "vague", false))
	}
	return value.Stringify(value.ObjectOf("criteria", list))
}

// judgedEach makes a judged candidate for every criterion.
func judgedEach(q Question) string {
	var list []any
	for i, o := range Objects(q.Parts["criteria"]) {
		text := o.At("criterion").(string)
		list = append(list, value.ObjectOf("name", fmt.Sprintf("check %d", i+1), "description", text, "covers", []any{o.At("n")}, "type", "judge", "questions", []any{text}))
	}
	return value.Stringify(value.ObjectOf("candidates", list))
}

// Obedient answers every question correctly.
func Obedient(q Question) (string, error) {
	if q.Step == "criteria" {
		return OneEach(q), nil
	}
	return judgedEach(q), nil
}

// Compiler returns a compiler with templates for one test.
func Compiler(t testing.TB) *check.Compiler {
	t.Helper()
	templates := template.New(template.Options{})
	t.Cleanup(func() { _ = templates.Close() })
	return check.New(check.Options{Templates: templates})
}
