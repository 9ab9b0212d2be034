package judge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/value"
)

// questionsAsked is the number of questions derived from an answer with the suite's own
// prompt.
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

// questions returns the questions that the output answers. Proviso's own prompt requests
// all of them at once, so that they differ; a suite's prompt yields one per reply.
func (g *grading) questions(ctx context.Context) ([]string, error) {
	s := step{
		own: "answer-relevance", pieces: []piece{{"output", g.q.Output}}, reply: shape.Reply("questions", "questions", shape.List(shape.Of("string"))),
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

// Limits of conversation-relevance: the default number of turns that a model sees at
// once, and the maximum number of turns in a conversation.
const (
	defaultWindow = 5
	maxTurns      = 200
)

// decideConversation decides conversation-relevance: the share of turns whose answer fits
// the preceding conversation. Each call has one turn and those before it, up to the
// window size.
func decideConversation(ctx context.Context, g *grading) (verdict, error) {
	turns := g.q.Turns
	size, err := windowOf(g.q.Assertion)
	switch {
	case err != nil:
		return verdict{}, err
	case len(turns) == 0:
		return verdict{}, proviso.Errorf(proviso.Undecided, "the conversation has no turns")
	case len(turns) > maxTurns:
		return verdict{}, proviso.Errorf(proviso.Limit, "the conversation has %d turns, and at most %d are looked at", len(turns), maxTurns)
	}
	verdicts, err := inParallel(ctx, len(turns), func(ctx context.Context, i int) (verdict, error) {
		return g.fits(ctx, turns[max(0, i-size+1):i+1])
	})
	if err != nil {
		return verdict{}, err
	}
	fitting := 0
	var against []string
	for i, v := range verdicts {
		if v.pass {
			fitting++
		} else {
			against = append(against, fmt.Sprintf("turn %d: %s", i+1, v.reason))
		}
	}
	v := g.share("Relevance", float64(fitting)/float64(len(turns)), strings.Join(against, "; "))
	v.reason = fmt.Sprintf("%d out of %d answers fit. ", fitting, len(turns)) + v.reason
	return v, nil
}

// windowOf returns the number of turns that a model sees at once.
func windowOf(a *proviso.Assertion) (int, error) {
	if a == nil || a.Config.At("windowSize") == nil {
		return defaultWindow, nil
	}
	f, ok := a.Config.At("windowSize").(float64)
	if !ok || f < 1 || f > maxTurns || f != float64(int(f)) {
		return 0, proviso.Errorf(proviso.Invalid, "config.windowSize must be a whole number from 1 to %d, found %s", maxTurns, value.Stringify(a.Config.At("windowSize")))
	}
	return int(f), nil
}

// checkWindow reports an invalid window size.
func checkWindow(q proviso.Question) error {
	_, err := windowOf(q.Assertion)
	return inConfig(q, err)
}

// fits asks the model whether the answer in the last turn fits.
func (g *grading) fits(ctx context.Context, turns []proviso.Turn) (verdict, error) {
	var b strings.Builder
	messages := make([]any, len(turns))
	for i, t := range turns {
		b.WriteString("[" + strconv.Itoa(i+1) + "] user: " + barred(t.Input) + "\n    assistant: " + barred(t.Output) + "\n")
		messages[i] = value.ObjectOf("input", t.Input, "output", t.Output)
	}
	return ask(ctx, g, step{
		own: "conversation-relevance", pieces: []piece{{"conversation", b.String()}},
		reply: shape.Reply("verdict", "reason", shape.Of("string"), "pass", shape.Of("boolean")), custom: g.q.Rubric,
		vars: func() *value.Object {
			vars := g.q.Vars.Clone()
			vars.Set("messages", messages) // a list, so that templates can loop over it
			return vars
		},
	}, readFits)
}

// readFits reads {reason, pass}, or {reason, verdict}, the format of prompts for
// promptfoo.
func readFits(reply string) (verdict, error) {
	o, err := gradedObject(reply, "pass", "verdict")
	if err != nil {
		return verdict{}, err
	}
	if !o.Has("pass") {
		o = o.Clone()
		o.Set("pass", o.At("verdict"))
	}
	v, err := plainVerdict(o)
	v.reason = reasonIn(o, "the answer does not fit")
	return v, err
}
