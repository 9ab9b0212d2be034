package check

import (
	"context"

	"github.com/proviso-eval/proviso/value"
)

// stepCheck is a check of the steps of an agent. decide also returns the steps that
// support the verdict.
type stepCheck struct {
	c      *Compiler
	spec   *Spec
	decide func(steps []Step) (Finding, []Step)
}

// Decide implements [Check].
func (k stepCheck) Decide(ctx context.Context, s *Subject) (Finding, error) {
	spans, err := k.c.spans(ctx, s, k.spec.Base)
	if err != nil {
		return Finding{}, err
	}
	f, about := k.decide(k.c.stepsOf(s, spans))
	f.Always = true
	if f.Pass == k.spec.Not {
		if len(about) > 0 {
			spans = spansOf(about)
		}
		f.Evidence = worst(spans)
	}
	return f, nil
}

// newGoalSuccess is `trajectory:goal-success`: a model decides whether the agent
// reached a goal.
func newGoalSuccess(c *Compiler, s *Spec) (Check, error) {
	goal := s.Value
	if o, ok := goal.(*value.Object); ok {
		goal = o.At("goal")
	}
	text, _ := goal.(string)
	if text = value.TrimSpace(text); text == "" {
		return nil, s.badValue("a text, or an object with a goal,")
	}
	s.Value = text
	return newGraded(c, s)
}
