package judge

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/value"
)

// decideClosedQA decides a model-graded-closedqa assertion: a model decides whether the
// output meets one criterion.
func decideClosedQA(ctx context.Context, g *grading) (verdict, error) {
	s := step{
		own: "model-graded-closedqa", pieces: g.pieces("criterion", g.value()),
		reply:  shapeOf("verdict", "reason", ofType("string"), "pass", ofType("boolean")),
		custom: g.q.Rubric,
		vars: func() *value.Object {
			return givenVars(g.q.Vars, false, "input", g.q.Input, "criteria", g.q.Value, "completion", parsedOr(g.q.Output))
		},
	}
	return ask(ctx, g, s, func(reply string) (verdict, error) { return readYesOrNo(reply, g.q.Rubric != nil) })
}

// readYesOrNo reads {reason, pass}. With words it also accepts a reply that ends in Y
// or N, which prompts for promptfoo ask for. That form is not valid for proviso's own
// prompt, because prose may end in a word of the output.
func readYesOrNo(reply string, words bool) (verdict, error) {
	o, err := gradedObject(reply, "pass")
	switch {
	case err == nil:
		return plainVerdict(o)
	case !words || duplicate(err) != nil:
		return verdict{}, err
	}
	return readLastWord(reply)
}

// readLastWord reads a reply that ends in Y or N.
func readLastWord(reply string) (verdict, error) {
	words := strings.FieldsFunc(reply, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	switch last {
	case "Y", "Yes", "YES", "yes":
		return verdict{pass: true, score: 1, reason: "The submission meets the criterion:\n" + reply}, nil
	case "N", "No", "NO", "no":
		return verdict{reason: "The submission does not meet the criterion:\n" + reply}, nil
	}
	return verdict{}, errors.New("there is neither a JSON object with pass in it, nor Y or N at its end")
}

// plainVerdict reads pass and reason.
func plainVerdict(o *value.Object) (verdict, error) {
	pass, ok := truth(o.At("pass"))
	if !ok {
		return verdict{}, errors.New("pass is neither true nor false: " + shown(value.Stringify(o.At("pass"))))
	}
	v := verdict{pass: pass, reason: reasonIn(o, "The criterion is not met")}
	if pass {
		v.score, v.reason = 1, reasonIn(o, "The criterion is met")
	}
	return v, nil
}
