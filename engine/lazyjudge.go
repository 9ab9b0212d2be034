package engine

import (
	"context"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
)

// lazyJudge creates the judge for the first question, so that a suite without judged
// assertions needs neither a judge nor a key.
type lazyJudge struct {
	made func() (*judge.Judge, error)

	mu   sync.Mutex
	used *judge.Judge
}

var (
	_ proviso.EachGrader = (*lazyJudge)(nil)
	_ proviso.Preparer   = (*lazyJudge)(nil)
	_ proviso.Forecaster = (*lazyJudge)(nil)
	_ proviso.Chooser    = (*lazyJudge)(nil)
)

func (l *lazyJudge) get() (*judge.Judge, error) {
	j, err := l.made()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = j
	return j, err
}

// identity returns the identity of the judge, or "" if it was not needed yet.
func (l *lazyJudge) identity() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used == nil {
		return ""
	}
	return l.used.Identity()
}

// Prepare returns an error if a question cannot be graded.
func (l *lazyJudge) Prepare(q proviso.Question) error {
	j, err := l.get()
	if err != nil {
		return err
	}
	return j.Prepare(q)
}

// Forecast estimates the calls that grading will make.
func (l *lazyJudge) Forecast(qs []proviso.Question) []proviso.Forecast {
	j, err := l.get()
	if err != nil {
		return nil
	}
	return j.Forecast(qs)
}

// Grade answers one question.
func (l *lazyJudge) Grade(ctx context.Context, q proviso.Question) (proviso.Grade, error) {
	j, err := l.get()
	if err != nil {
		return proviso.Grade{}, err
	}
	return j.Grade(ctx, q)
}

// GradeSet answers several questions about one output.
func (l *lazyJudge) GradeSet(ctx context.Context, qs []proviso.Question) []proviso.Graded {
	return l.GradeEach(ctx, qs, nil)
}

// GradeEach answers several questions about one output, and calls known with each answer.
func (l *lazyJudge) GradeEach(ctx context.Context, qs []proviso.Question, known func(i int, g proviso.Graded)) []proviso.Graded {
	j, err := l.get()
	if err != nil {
		out := make([]proviso.Graded, len(qs))
		for i := range out {
			out[i].Err = err
		}
		return out
	}
	return j.GradeEach(ctx, qs, known)
}

// Choose compares several outputs.
func (l *lazyJudge) Choose(ctx context.Context, q proviso.Question) (int, proviso.Grade, error) {
	j, err := l.get()
	if err != nil {
		return 0, proviso.Grade{}, err
	}
	return j.Choose(ctx, q)
}
