package check

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// pending is a question that is asked together with others.
type pending struct {
	question proviso.Question
	// finding reads the answer. Without a verdict, the finding holds only the usage.
	finding func(proviso.Graded) (Finding, error)
}

// deferred is a check that first does its deterministic part and then asks a model,
// so that several questions can be asked together.
type deferred interface {
	Check
	// begin returns the question, or nil and the finding if no model is needed.
	begin(ctx context.Context, s *Subject) (*pending, Finding, error)
}

// batch collects the questions about one row.
type batch struct {
	waiting []waiting
	sets    []func() // functions that wait for the answers, in order
}

// waiting is an assertion that waits for an answer.
type waiting struct {
	m *compiled
	v *proviso.Verdict
	p *pending
}

// close asks everything and settles the verdicts.
func (b *batch) close(ctx context.Context) {
	for len(b.waiting) > 0 {
		// With transforms and scopes, assertions look at different outputs.
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
		w.m.conclude(w.v, &f, err)
	}
}

// conclude turns a finding, or an error, into the verdict v.
func (m *compiled) conclude(v *proviso.Verdict, f *Finding, err error) {
	if err == nil {
		m.settle(v, f)
		return
	}
	*v = undecided(*v, err)
	v.Criteria, v.Usage, v.Cost, v.Cached, v.Judge = f.Criteria, f.Usage, f.Cost, f.Cached, f.Judge
}

// tooManyParts is the error for a judge that would have to check every line of a long
// output.
func tooManyParts(each string, n int) error {
	return proviso.Errorf(proviso.Limit, "the output has %d %ss, and a judge is asked about at most %d", n, each, maxJudgedParts)
}
