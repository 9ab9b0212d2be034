package check

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// pending is a question that is asked together with others.
type pending struct {
	question proviso.Question
	// finding reads the answer. Of one without a verdict the finding has what was
	// spent.
	finding func(proviso.Graded) (Finding, error)
}

// deferred is a check that counts first and then asks a model, so that several
// can ask together.
type deferred interface {
	Check
	// begin returns the question; or none, and what was decided without.
	begin(ctx context.Context, s *Subject) (*pending, Finding, error)
}

// batch collects the questions about one row.
type batch struct {
	waiting []waiting
	sets    []func() // what has to wait for the answers, in order
}

// waiting is an assertion without an answer.
type waiting struct {
	m *compiled
	v *proviso.Verdict
	p *pending
}

// close asks everything and settles the verdicts.
func (b *batch) close(ctx context.Context) {
	for len(b.waiting) > 0 {
		// Transforms and scopes make assertions look at different outputs.
		same := func(w waiting) bool {
			first := b.waiting[0].p.question
			return w.p.question.Input == first.Input && w.p.question.Output == first.Output
		}
		var now, later []waiting
		for _, w := range b.waiting {
			if same(w) {
				now = append(now, w)
			} else {
				later = append(later, w)
			}
		}
		settleAll(ctx, now)
		b.waiting = later
	}
	for _, set := range b.sets {
		set()
	}
}

// settleAll asks questions about one output together, if the grader can.
func settleAll(ctx context.Context, list []waiting) {
	grader := list[0].m.c.Grader
	answers := make([]proviso.Graded, 0, len(list))
	if set, ok := grader.(proviso.SetGrader); ok {
		questions := make([]proviso.Question, len(list))
		for i, w := range list {
			questions[i] = w.p.question
		}
		answers = set.GradeSet(ctx, questions)
	} else {
		for _, w := range list {
			grade, err := grader.Grade(ctx, w.p.question)
			answers = append(answers, proviso.Graded{Grade: grade, Err: err})
		}
	}
	for i, w := range list {
		g := proviso.Graded{Err: proviso.Errorf(proviso.Internal, "the judge answered %d of %d questions", len(answers), len(list))}
		if i < len(answers) {
			g = answers[i]
		}
		f, err := w.p.finding(g)
		*w.v = w.m.conclude(*w.v, f, err)
	}
}

// conclude turns what was found, or why nothing was, into a verdict.
func (m *compiled) conclude(v proviso.Verdict, f Finding, err error) proviso.Verdict {
	if err == nil {
		return m.settle(v, f)
	}
	v = undecided(v, err)
	v.Criteria, v.Usage, v.Cost, v.Cached, v.Judge = f.Criteria, f.Usage, f.Cost, f.Cached, f.Judge
	return v
}

// tooManyParts is the error of a judge that would be asked about every line of a
// long output.
func tooManyParts(each string, n int) error {
	return proviso.Errorf(proviso.Limit, "the output has %d %ss, and a judge is asked about at most %d", n, each, maxJudgedParts)
}
