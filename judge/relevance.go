package judge

import (
	"context"
	"errors"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// questionsAsked is how many questions are derived from an answer if the suite has its
// own prompt.
const questionsAsked = 3

// decideRelevance decides answer-relevance (Es et al. 2023, RAGAS, arXiv 2309.15217,
// section 3): a model writes the questions that the output answers; the score is the
// mean cosine between their embeddings and that of the actual question.
func decideRelevance(ctx context.Context, g *grading) (verdict, error) {
	embedder, err := g.j.able(g.q, Embedding)
	if err != nil {
		return verdict{}, err
	}
	questions, err := g.questions(ctx)
	if err != nil {
		return verdict{}, err
	}
	query, ok := g.q.Vars.At("query").(string)
	if !ok {
		query = g.q.Input
	}
	if strings.TrimSpace(query) == "" {
		return verdict{}, proviso.Errorf(proviso.Undecided, "there is no question to compare with: give the variable query")
	}
	vectors, err := g.embedWith(ctx, embedder, append([]string{query}, questions...))
	if err != nil {
		return verdict{}, err
	}
	mean := 0.0
	for _, v := range vectors[1:] {
		c, err := cosine(vectors[0], v)
		if err != nil {
			return verdict{}, err
		}
		mean += c / float64(len(questions))
	}
	threshold := g.threshold()
	v := verdict{pass: mean >= threshold-epsilon, score: mean}
	relation := " is less than threshold "
	if v.pass {
		relation = " is greater than threshold "
	}
	v.reason = "Relevance " + toFixed(mean) + relation + value.FormatNumber(threshold)
	return v, nil
}

// questions returns the questions that the output answers. Proviso's own prompt asks for
// all of them at once, so that they differ; a prompt of the suite yields one per reply.
func (g *grading) questions(ctx context.Context) ([]string, error) {
	s := step{
		own: "answer-relevance", pieces: []piece{{"output", g.q.Output}}, reply: shapeOf("questions", "questions", listOf(ofType("string"))),
		custom: g.q.Rubric, vars: func() *value.Object { return givenVars(nil, true, "answer", parsedOr(g.q.Output)) },
	}
	if s.custom == nil {
		return ask(ctx, g, s, func(reply string) ([]string, error) {
			o, err := gradedObject(reply, "questions")
			if err != nil {
				return nil, err
			}
			list, err := textsIn(o.At("questions"))
			if err == nil && len(list) == 0 {
				err = errors.New("it has no questions")
			}
			return list, err
		})
	}
	return inParallel(ctx, questionsAsked, func(ctx context.Context, i int) (string, error) {
		own := s
		own.nth, own.of = i, questionsAsked
		return ask(ctx, g, own, func(reply string) (string, error) { return strings.TrimSpace(reply), nil })
	})
}
