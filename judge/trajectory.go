package judge

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// Bounds of what a model is told of a trajectory.
const (
	maxSteps    = 24  // the first and the last of them
	maxStepName = 400 // characters
)

// decideGoal is trajectory:goal-success: a model says whether an agent reached its
// goal, by the steps that its trace shows and by its answer.
func decideGoal(ctx context.Context, g *grading) (verdict, error) {
	steps := summary(check.Steps(g.q.Spans, g.j.o.Check.CommandTools))
	trajectory := string(proviso.AppendJSON(nil, steps))
	return ask(ctx, g, step{
		own:    "trajectory-goal-success",
		pieces: []piece{{"goal", g.value()}, {"trajectory", trajectory}, {"output", g.q.Output}},
		custom: g.q.Rubric, reply: verdictReply(),
		vars: func() *proviso.Object {
			return givenVars(g.q.Vars, true, "goal", g.value(), "output", parsedOr(g.q.Output), "trajectory", trajectory)
		},
	}, g.readVerdict)
}

// summary tells the steps of an agent: equal neighbours once, and of many the first
// and the last. Arguments are left out: they may hold what is nobody's business, and
// would be a way to talk to the model.
func summary(steps []check.Step) *proviso.Object {
	var list []any
	var last *proviso.Object
	for i := range steps {
		o := told(i+1, &steps[i])
		if last != nil && sameStep(last, o) {
			n, _ := last.At("repeated").(float64)
			last.Set("repeated", max(n, 1)+1)
			continue
		}
		list, last = append(list, o), o
	}
	kept := float64(len(list))
	if len(list) > maxSteps {
		left := proviso.ObjectOf("omitted", kept-maxSteps)
		list = slices.Concat(list[:maxSteps/2], []any{left}, list[len(list)-maxSteps/2:])
	}
	return proviso.ObjectOf("stepCount", float64(len(steps)), "steps", list)
}

// told is one step for a model.
func told(index int, s *check.Step) *proviso.Object {
	o := proviso.ObjectOf("index", float64(index), "type", s.Type, "name", stepName(s.Name))
	if s.Span.Name != s.Name {
		o.Set("spanName", stepName(s.Span.Name))
	}
	if s.Span.StatusCode == 2 {
		o.Set("failed", true)
	}
	return o
}

func sameStep(a, b *proviso.Object) bool {
	for _, key := range [...]string{"type", "name", "spanName", "failed"} {
		if a.At(key) != b.At(key) {
			return false
		}
	}
	return true
}

// stepName bounds a name.
func stepName(s string) string {
	if r := []rune(s); len(r) > maxStepName {
		return string(r[:maxStepName]) + "…"
	}
	return s
}
