package judge

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a trajectory in the prompt.
const (
	maxSteps    = 24  // half from the start, half from the end
	maxStepName = 400 // characters
)

// decideGoal decides trajectory:goal-success: from the steps in the trace and the answer,
// a model decides whether an agent reached its goal.
func decideGoal(ctx context.Context, g *grading) (verdict, error) {
	steps := summary(check.Steps(g.q.Spans, g.j.o.Check.CommandTools))
	trajectory := string(value.AppendJSON(nil, steps))
	return ask(ctx, g, step{
		own:    "trajectory-goal-success",
		pieces: []piece{{"goal", g.value()}, {"trajectory", trajectory}, {"output", g.q.Output}},
		custom: g.q.Rubric, reply: verdictReply(),
		vars: func() *value.Object {
			return givenVars(g.q.Vars, true, "goal", g.value(), "output", parsedOr(g.q.Output), "trajectory", trajectory)
		},
	}, g.readVerdict)
}

// summary describes the steps of an agent. It merges equal neighbours and omits the
// middle of a long list. It omits arguments, because they may contain private data or a
// prompt injection.
func summary(steps []check.Step) *value.Object {
	var list []any
	var last *value.Object
	for i := range steps {
		o := stepObject(i+1, &steps[i])
		if last != nil && sameStep(last, o) {
			n, _ := last.At("repeated").(float64)
			last.Set("repeated", max(n, 1)+1)
			continue
		}
		list, last = append(list, o), o
	}
	kept := float64(len(list))
	if len(list) > maxSteps {
		left := value.ObjectOf("omitted", kept-maxSteps)
		list = slices.Concat(list[:maxSteps/2], []any{left}, list[len(list)-maxSteps/2:])
	}
	return value.ObjectOf("stepCount", float64(len(steps)), "steps", list)
}

// stepObject describes one step for the model.
func stepObject(index int, s *check.Step) *value.Object {
	o := value.ObjectOf("index", float64(index), "type", s.Type, "name", excerpt.Runes(s.Name, maxStepName))
	if s.Span.Name != s.Name {
		o.Set("spanName", excerpt.Runes(s.Span.Name, maxStepName))
	}
	if s.Span.StatusCode == 2 {
		o.Set("failed", true)
	}
	return o
}

func sameStep(a, b *value.Object) bool {
	for _, key := range [...]string{"type", "name", "spanName", "failed"} {
		if a.At(key) != b.At(key) {
			return false
		}
	}
	return true
}
