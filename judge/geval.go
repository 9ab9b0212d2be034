package judge

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// mostPoints is what an output gets that meets a criterion fully.
const mostPoints = 10

// decideGEval is g-eval (Liu et al. 2023, arXiv 2303.16634, without the weights
// by token probabilities): a model derives steps from a criterion, and then gives
// points by them. Of several criteria each has to reach the threshold; the score
// is their mean.
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

// points asks for steps and then for points.
func (g *grading) points(ctx context.Context, criterion string) (verdict, error) {
	steps, err := ask(ctx, g, step{
		own: "g-eval-steps", pieces: []piece{{"criterion", criterion}}, reply: shapeOf("steps", "steps", listOf(ofType("string"))),
		custom: rubricStep(g.q, "steps"), vars: func() *proviso.Object { return givenVars(nil, true, "criteria", criterion) },
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
		reply:  shapeOf("points", "reason", ofType("string"), "score", ofType("number")),
		custom: rubricStep(g.q, "evaluate"),
		vars: func() *proviso.Object {
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
	return verdict{score: f / mostPoints, reason: reasonIn(o, proviso.FormatNumber(f)+" of "+strconv.Itoa(mostPoints)+" points")}, nil
}

// numbered writes texts one below the other, each after its number in brackets.
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

// barred puts a bar in front of each further line of a text, so that no line of it
// can pass for the next text. Prompts that hold several texts say so.
func barred(text string) string {
	const bar = "\n    | "
	return strings.NewReplacer("\r\n", bar, "\n", bar, "\r", bar, "\v", bar, "\f", bar, "\u0085", bar, "\u2028", bar, "\u2029", bar).Replace(text)
}
