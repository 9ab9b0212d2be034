package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// graded returns the grading function of a type: decide, wrapped with what all types
// share. Types that use a text model are decided by the votes of all judges. Embedding,
// classification and moderation are deterministic and get one vote.
func graded(role Role, decide func(ctx context.Context, g *grading) (verdict, error)) func(context.Context, *Judge, proviso.Question) (proviso.Grade, error) {
	return func(ctx context.Context, j *Judge, q proviso.Question) (proviso.Grade, error) {
		gradings, err := j.poll(q, role)
		if err != nil {
			return proviso.Grade{}, err
		}
		verdicts := cast(ctx, gradings, decide)
		grade := took(gradings)
		most, err := majority(verdicts, func(v verdict) bool { return v.pass }, func(pass bool) string {
			if pass {
				return "pass"
			}
			return "fail"
		})
		if err != nil {
			return grade, undecided(err)
		}
		grade.Pass, grade.Reason = most[0].pass, most[0].reason
		for _, v := range most {
			grade.Score += v.score
		}
		grade.Score /= float64(len(most))
		if len(most) < len(gradings) {
			grade.Reason = fmt.Sprintf("%s (%d of %d votes)", grade.Reason, len(most), len(gradings))
		}
		return grade, nil
	}
}

// poll returns a grading for each vote on a question.
func (j *Judge) poll(q proviso.Question, role Role) ([]*grading, error) {
	if role != Text {
		seat, err := j.able(q, role)
		return []*grading{{j: j, q: q, seat: seat}}, err
	}
	judges, err := j.judgesOf(q)
	var gradings []*grading
	for _, seat := range judges {
		for vote := range j.o.Votes {
			own := q
			own.Sample.Vote = vote
			gradings = append(gradings, &grading{j: j, q: own, seat: seat})
		}
	}
	return gradings, err
}

// vote is the result of one grading.
type vote[T any] struct {
	value T
	err   error
}

// cast runs every grading.
func cast[T any](ctx context.Context, gradings []*grading, decide func(context.Context, *grading) (T, error)) []vote[T] {
	votes := make([]vote[T], len(gradings))
	aFew(len(gradings), func(i int) { votes[i].value, votes[i].err = decide(ctx, gradings[i]) })
	return votes
}

// majority returns the values of the votes that share the same key, if they are more
// than half of all votes. Failed votes count as votes, but for no key.
func majority[T any, K comparable](votes []vote[T], key func(T) K, name func(K) string) ([]T, error) {
	if len(votes) == 1 {
		return []T{votes[0].value}, votes[0].err
	}
	counts := map[K][]T{}
	var order []K
	var failed error
	failures := 0
	for _, v := range votes {
		if v.err != nil {
			failures++
			failed = v.err
			continue
		}
		k := key(v.value)
		if counts[k] == nil {
			order = append(order, k)
		}
		counts[k] = append(counts[k], v.value)
	}
	var counted []string
	for _, k := range order {
		if 2*len(counts[k]) > len(votes) {
			return counts[k], nil
		}
		counted = append(counted, fmt.Sprintf("%d %s", len(counts[k]), name(k)))
	}
	if failures == len(votes) {
		return nil, failed
	}
	if failures > 0 {
		counted = append(counted, fmt.Sprintf("%d without a verdict", failures))
	}
	text := fmt.Sprintf("no majority of %d votes: %s", len(votes), strings.Join(counted, ", "))
	if failed != nil {
		return nil, proviso.Because(failed, proviso.Undecided, "%s: %v", text, failed)
	}
	return nil, errors.New(text)
}

// took returns a grade without a verdict: the total usage and cost of the votes and the
// judges' identity.
func took(gradings []*grading) proviso.Grade {
	grade := gradings[0].took()
	names := []string{grade.Judge}
	for _, g := range gradings[1:] {
		one := g.took()
		grade.Usage.Add(one.Usage)
		grade.Cost += one.Cost
		grade.Cached = grade.Cached && one.Cached
		names = append(names, one.Judge)
	}
	if len(names) > 1 {
		grade.Judge = jointName(names)
	}
	return grade
}

// jointName returns one name for the judges of several votes: the models, and a hash of
// their identities.
func jointName(names []string) string {
	var models []string
	for _, name := range names {
		model, _, _ := strings.Cut(name, "#")
		if !slices.Contains(models, model) {
			models = append(models, model)
		}
	}
	return strings.Join(models, "+") + "#" + blobs.Key(names...)[:12]
}
