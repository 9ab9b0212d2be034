package judge

import (
	"context"
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// verdictReply is the schema of a verdict with a score. The reason comes first, so that
// the model reasons before it decides.
func verdictReply() *proviso.Reply {
	return shapeOf("verdict", "reason", ofType("string"), "score", ofType("number"), "pass", ofType("boolean"))
}

// decideRubric decides llm-rubric: a model decides whether the output meets a rubric.
// The output passes if the model passes it and its score reaches the threshold.
func decideRubric(ctx context.Context, g *grading) (verdict, error) {
	s := g.rubricStep("llm-rubric")
	s.reply = verdictReply()
	return ask(ctx, g, s, g.readVerdict)
}

// rubricStep returns the step for a rubric and an output.
func (g *grading) rubricStep(own string) step {
	return step{
		own: own, pieces: g.pieces("rubric", g.value()), custom: g.q.Rubric,
		vars: func() *value.Object {
			return givenVars(g.q.Vars, false, "output", parsedOr(g.q.Output), "rubric", g.q.Value)
		},
	}
}

// pieces returns the material of most prompts: the given piece, the input and the
// output.
func (g *grading) pieces(name, text string) []piece {
	list := []piece{{name, text}}
	if g.q.Input != "" {
		list = append(list, piece{"input", g.q.Input})
	}
	return append(list, piece{"output", g.q.Output})
}

// readVerdict reads {reason, score, pass}. With proviso's own prompt the score must be
// from 0 to 1; prompts of a suite may use any range. Without pass, score and threshold
// decide; without these, there is no verdict.
func (g *grading) readVerdict(reply string) (verdict, error) {
	o, err := gradedObject(reply, "pass", "score")
	if err != nil {
		return verdict{}, err
	}
	var v verdict
	given, scored := o.Get("pass")
	raw, hasScore := o.Get("score")
	if hasScore && raw != nil {
		most := 1.0
		if g.q.Rubric != nil {
			most = 0
		}
		if v.score, err = points(raw, 0, most); err != nil {
			return verdict{}, err
		}
	}
	hasScore = hasScore && raw != nil
	switch {
	case scored && given != nil:
		ok := false
		if v.pass, ok = truth(given); !ok {
			return verdict{}, errors.New("pass is neither true nor false: " + shown(value.Stringify(given)))
		}
		if !hasScore && v.pass {
			v.score = 1
		}
	case hasScore && g.q.Threshold != nil:
		v.pass = true
	default:
		return verdict{}, errors.New("it has no pass, so there is no verdict in it")
	}
	given = v.pass
	if g.q.Threshold != nil {
		v.pass = v.pass && v.score >= *g.q.Threshold
	}
	v.reason = reasonIn(o, "Grading passed")
	if !v.pass && v.reason == "Grading passed" {
		v.reason = "Grading failed"
	}
	if given == true && !v.pass {
		v.reason += " (score " + value.FormatNumber(v.score) + " is below the threshold " + value.FormatNumber(*g.q.Threshold) + ")"
	}
	return v, nil
}
