package check

import (
	"context"
	"sync"

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

// decideNow decides without waiting for other questions.
func decideNow(ctx context.Context, d deferred, c *Compiler, s *Subject) (Finding, error) {
	p, f, err := d.begin(ctx, s)
	if p == nil {
		return f, err
	}
	grade, err := c.Grader.Grade(ctx, p.question)
	return p.finding(proviso.Graded{Grade: grade, Err: err})
}

// batch collects the questions about one row.
type batch struct {
	waiting []waiting
	sets    []func() // functions that wait for the answers, in order
	*observer
}

// waiting is an assertion that waits for an answer.
type waiting struct {
	m *compiled
	v *proviso.Verdict
	p *pending
}

// close sends all questions and settles the verdicts.
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
		b.settleAll(ctx, now)
		b.waiting = later
	}
	for _, set := range b.sets {
		set()
	}
}

// settleAll sends questions about one output together, if the grader supports that.
func (b *batch) settleAll(ctx context.Context, list []waiting) {
	answers, settled := ask(ctx, list, b.observer)
	for i, w := range list {
		g := proviso.Graded{Err: proviso.Errorf(proviso.Internal, "the judge answered %d of %d questions", len(answers), len(list))}
		if i < len(answers) {
			g = answers[i]
		}
		if !settled[i] {
			w.settle(g)
			b.tell(w.v)
		}
	}
}

// ask sends questions and returns the answers. With an observer, it settles a
// question as soon as the grader reports its answer, and returns which questions
// were settled.
func ask(ctx context.Context, list []waiting, o *observer) (answers []proviso.Graded, settled map[int]bool) {
	grader := list[0].m.c.Grader
	set, ok := grader.(proviso.SetGrader)
	if !ok {
		for _, w := range list {
			grade, err := grader.Grade(ctx, w.p.question)
			answers = append(answers, proviso.Graded{Grade: grade, Err: err})
		}
		return answers, nil
	}
	questions := make([]proviso.Question, len(list))
	for i, w := range list {
		questions[i] = w.p.question
	}
	each, ok := grader.(proviso.EachGrader)
	if o == nil || !ok {
		return set.GradeSet(ctx, questions), nil
	}
	settled = map[int]bool{}
	answers = each.GradeEach(ctx, questions, func(i int, g proviso.Graded) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if !settled[i] {
			settled[i] = true
			list[i].settle(g)
			o.tell(list[i].v)
		}
	})
	return answers, settled
}

// settle turns an answer into the verdict that waits for it.
func (w waiting) settle(g proviso.Graded) {
	f, err := w.p.finding(g)
	w.m.conclude(w.v, &f, err)
}

// observer receives the final verdicts of a set. A nil observer receives none.
type observer struct {
	mu      sync.Mutex // serializes answers, which come from several goroutines
	decided func(i int, v *proviso.Verdict)
	places  map[*proviso.Verdict]int // indexes of the verdicts of the set itself
}

// observes registers a verdict of which the observer is notified.
func (o *observer) observes(v *proviso.Verdict, i int) {
	if o != nil {
		o.places[v] = i
	}
}

// tell notifies the observer of a final verdict. Members of an assert-set are part
// of the set's verdict.
func (o *observer) tell(v *proviso.Verdict) {
	if o == nil {
		return
	}
	if i, ok := o.places[v]; ok {
		o.decided(i, v)
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
