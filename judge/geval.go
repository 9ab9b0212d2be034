package judge

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/value"
)

// mostPoints is the score of an output that fully meets a criterion.
const mostPoints = 10

// decideGEval decides g-eval (Liu et al. 2023, arXiv 2303.16634, without the weights from
// token probabilities): a model derives steps from a criterion, then scores the output by
// these steps. With several criteria, each must reach the threshold; the score is their
// mean.
func decideGEval(ctx context.Context, g *grading) (verdict, error) {
	criteria, _ := g.q.Value.([]any)
	if criteria == nil {
		criteria = []any{g.q.Value}
	}
	threshold := g.threshold()
	whole := verdict{pass: true}
	var reasons []string
	for _, c := range criteria {
		text, _ := c.(string)
		v, err := g.points(ctx, text)
		if err != nil {
			return verdict{}, err
		}
		whole.pass = whole.pass && v.score >= threshold
		whole.score += v.score / float64(len(criteria))
		reasons = append(reasons, v.reason)
	}
	whole.reason = strings.Join(reasons, "\n\n")
	return whole, nil
}

// points requests the steps, and then the score.
func (g *grading) points(ctx context.Context, criterion string) (verdict, error) {
	steps, err := ask(ctx, g, step{
		own: "g-eval-steps", pieces: []piece{{"criterion", criterion}}, reply: shape.Reply("steps", "steps", shape.List(shape.Of("string"))),
		custom: rubricStep(g.q, "steps"), vars: func() *value.Object { return givenVars(nil, true, "criteria", criterion) },
	}, func(reply string) ([]string, error) {
		o, err := gradedObject(reply, "steps")
		if err != nil {
			return nil, err
		}
		steps, err := textsIn(o.At("steps"))
		if err == nil && len(steps) == 0 {
			err = errors.New("it has no steps")
		}
		return steps, err
	})
	if err != nil {
		return verdict{}, err
	}
	pieces := []piece{{"criterion", criterion}, {"steps", numbered(steps)}}
	if g.q.Input != "" {
		pieces = append(pieces, piece{"input", g.q.Input})
	}
	return ask(ctx, g, step{
		own: "g-eval", pieces: append(pieces, piece{"output", g.q.Output}),
		reply:  shape.Reply("points", "reason", shape.Of("string"), "score", shape.Of("number")),
		custom: rubricStep(g.q, "evaluate"),
		vars: func() *value.Object {
			return givenVars(nil, true, "criteria", criterion, "steps", strings.Join(steps, "\n- "), "maxScore", strconv.Itoa(mostPoints),
				"input", parsedOr(g.q.Input), "output", parsedOr(g.q.Output))
		},
	}, readPoints)
}

func readPoints(reply string) (verdict, error) {
	o, err := gradedObject(reply, "score")
	if err != nil {
		return verdict{}, err
	}
	f, err := points(o.At("score"), 0, mostPoints)
	if err != nil {
		return verdict{}, err
	}
	return verdict{score: f / mostPoints, reason: reasonIn(o, value.FormatNumber(f)+" of "+strconv.Itoa(mostPoints)+" points")}, nil
}

// numbered writes one text per line, each after its number in brackets.
func numbered(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[" + strconv.Itoa(i+1) + "] " + barred(text))
	}
	return b.String()
}

// barred puts a bar in front of each line after the first, so that none of them can be
// mistaken for the next text. The prompts explain this notation.
func barred(text string) string {
	const bar = "\n    | "
	return strings.NewReplacer("\r\n", bar, "\n", bar, "\r", bar, "\v", bar, "\f", bar, "\u0085", bar, "\u2028", bar, "\u2029", bar).Replace(text)
}
