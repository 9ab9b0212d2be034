package score

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a question for mutants.
const (
	maxTogether   = 12       // instructions per question
	maxAskedBytes = 24 << 10 // bytes of the mutants in one answer
	maxShown      = 8 << 10  // bytes of the longest output that a model is asked to break
	maxTokens     = 8192     // per answer
	maxErrors     = 3        // distinct errors in the report
)

// mutantsReply is the schema of the answer.
func mutantsReply() *proviso.Reply {
	return shape.Reply("mutants",
		"mutants", shape.List(shape.Object("n", shape.Of("integer"), "output", shape.Of("string"))),
	)
}

// askModel asks the model for mutants: one question for each of a few outputs, about
// several instructions. It records the error of a question without a usable answer, and
// asks the others.
func (s *scoring) askModel(ctx context.Context) error {
	if s.o.Model == nil {
		return nil
	}
	s.r.Model = s.o.Model.Label()
	var list []*subject
	for _, sub := range s.drawn {
		if sub.usable && len(sub.Text()) <= maxShown && len(list) < s.o.Asked {
			list = append(list, sub)
		}
	}
	results := make([]asking, len(list))
	var wait sync.WaitGroup
	free := make(chan struct{}, ask.DefaultQuestions)
	for i, sub := range list {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			results[i] = s.ask(ctx, sub, i)
		})
	}
	wait.Wait()
	for i, a := range results {
		list[i].model = a.list
		s.r.Spent.Add(a.spent)
		s.r.Refuted += a.refuted
		if a.asked {
			s.r.Questions++
		}
		if a.err == nil {
			continue
		}
		s.r.Unanswered++
		if text := a.err.Error(); len(s.r.ModelErrs) < maxErrors && !slices.Contains(s.r.ModelErrs, text) {
			s.r.ModelErrs = append(s.r.ModelErrs, text)
		}
	}
	return ctx.Err()
}

// asking is the result of one question.
type asking struct {
	list    []made
	asked   bool // there was something to ask
	refuted int
	spent   ask.Spent
	err     error
}

// ask asks about one output. Instructions that no rule breaks come first. If not all fit,
// later outputs ask about the others.
func (s *scoring) ask(ctx context.Context, sub *subject, turn int) asking {
	var out asking
	if out.err = ctx.Err(); out.err != nil {
		return out
	}
	text := sub.Text()
	list := s.askedOf(ctx, sub)
	most := min(maxTogether, max(1, maxAskedBytes/max(1, len(text))), len(list))
	if most == 0 {
		return out
	}
	out.asked = true
	if n := turn * most % len(list); most < len(list) {
		list = slices.Concat(list[n:], list[:n])[:most]
	}
	lines := make([]*value.Object, len(list))
	for i, a := range list {
		lines[i] = value.ObjectOf("n", float64(i+1), "text", excerpt.Head(a.in.Text, delta.MaxSentence))
	}
	d := ask.Begin(s.o.Model, "mutate", mutantsReply(), maxTokens, []ask.Piece{
		{Name: "prompt", Text: excerpt.Bytes(sub.Set.Prompt, ask.MaxPromptShown)}, {Name: "variables", Text: excerpt.Bytes(value.Stringify(sub.Vars), maxShown)},
		{Name: "output", Text: text}, {Name: "instructions", Text: ask.JSONLines(lines)},
	})
	var texts []string
	out.err = d.Ask(ctx, func(reply string) (err error) {
		texts, err = readMutants(reply, len(list))
		return err
	})
	out.spent = d.Spent
	c := s.checker(ctx, sub)
	for i, mutant := range texts {
		if strings.TrimSpace(mutant) == "" || slices.Equal(strings.Fields(mutant), strings.Fields(text)) || len(mutant) > mutate.MaxText {
			continue
		}
		m := mutate.Mutant{Operator: "model", Text: mutant, Basis: mutate.Claimed}
		st := c.stands(list[i], mutant)
		switch {
		case st.Known && !st.Broken:
			out.refuted++
			continue
		case st.Known:
			m.Basis = mutate.Checked
		}
		m.Also = st.Others
		out.list = append(out.list, made{list[i].at, m})
	}
	return out
}

// askedOf returns the instructions that an output keeps; those that no rule breaks come
// first.
func (s *scoring) askedOf(ctx context.Context, sub *subject) []*asked {
	c := s.checker(ctx, sub)
	byRules := map[int]bool{}
	for _, m := range s.broken(ctx, sub) {
		byRules[m.at] = true
	}
	var list []*asked
	for i := range sub.prompt.asked {
		if a := &sub.prompt.asked[i]; a.at >= 0 && !c.brokenAlready(a) {
			list = append(list, a)
		}
	}
	rank := func(a *asked) int {
		if byRules[a.at] {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b *asked) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// readMutants reads the mutants of n instructions; "" where the answer has none.
func readMutants(reply string, n int) ([]string, error) {
	_, list, err := ask.ListIn(reply, "mutants")
	if err != nil {
		return nil, err
	}
	texts := make([]string, n)
	for _, v := range list {
		entry, _ := v.(*value.Object)
		at, _ := entry.At("n").(float64)
		text, ok := entry.At("output").(string)
		switch {
		case at != float64(int(at)) || at < 1 || int(at) > n:
			return nil, fmt.Errorf("an entry of mutants has an n that is not one of 1 to %d", n)
		case !ok:
			return nil, errors.New("an entry of mutants has no text under output")
		case texts[int(at)-1] != "" && texts[int(at)-1] != text:
			return nil, fmt.Errorf("instruction %d has two mutants", int(at))
		}
		texts[int(at)-1] = text
	}
	return texts, nil
}
