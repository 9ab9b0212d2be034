package judge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/value"
)

// difference is one way in which the output can differ from the expected answer.
type difference struct {
	letter string // the model's answer
	option string // key of the case option that sets the score
	score  float64
	words  string
}

// differences are the categories of OpenAI's evals (registry, fact.yaml).
func differences() []difference {
	return []difference{
		{"A", "subset", 1, "the output states a part of what is expected"},
		{"B", "superset", 1, "the output states all that is expected, and more"},
		{"C", "agree", 1, "the output states the same as is expected"},
		{"D", "disagree", 0, "the output contradicts what is expected"},
		{"E", "differButFactual", 1, "the output differs, but not in the facts"},
	}
}

// decideFactuality decides factuality: a model classifies how the facts differ. The
// output passes if the score of that category is above 0.
func decideFactuality(ctx context.Context, g *grading) (verdict, error) {
	pieces := []piece{{"expected", g.value()}}
	if g.q.Input != "" {
		pieces = append([]piece{{"input", g.q.Input}}, pieces...)
	}
	s := step{
		own: "factuality", pieces: append(pieces, piece{"output", g.q.Output}),
		reply:  shape.Reply("comparison", "reason", shape.Of("string"), "category", shape.Enum("A", "B", "C", "D", "E")),
		custom: g.q.Rubric,
		vars: func() *value.Object {
			return givenVars(g.q.Vars, false, "input", g.q.Input, "ideal", g.q.Value, "completion", parsedOr(g.q.Output))
		},
	}
	return ask(ctx, g, s, func(reply string) (verdict, error) {
		letter, reason, err := readCategory(reply)
		if err != nil {
			return verdict{}, err
		}
		for _, d := range differences() {
			if d.letter != letter {
				continue
			}
			score, err := d.worth(g.q.Case)
			if reason == "" {
				reason = "Category " + letter + ": " + d.words
			}
			return verdict{pass: score > 0, score: score, reason: reason}, err
		}
		return verdict{}, errors.New("the category is none of A, B, C, D and E: " + shown(letter))
	})
}

// worth returns the score of a difference: the case's, or the default.
func (d difference) worth(c *proviso.Case) (float64, error) {
	if c == nil {
		return d.score, nil
	}
	own, _ := c.Options.Extra.At("factuality").(*value.Object)
	v := own.At(d.option)
	if v == nil {
		return d.score, nil
	}
	f, ok := v.(float64)
	if !ok {
		err := proviso.Errorf(proviso.Invalid, "options.factuality.%s must be a number, found %s", d.option, value.Stringify(v))
		err.Pointer = c.Pointer + "/options/factuality"
		return 0, err
	}
	return f, nil
}

// checkWorth reports invalid scores for differences in a question's case.
func checkWorth(q proviso.Question) error {
	c := q.Case
	if c == nil {
		return nil
	}
	own, _ := c.Options.Extra.At("factuality").(*value.Object)
	var names []string
	for _, d := range differences() {
		names = append(names, d.option)
		if _, err := d.worth(c); err != nil {
			return err
		}
	}
	for key := range own.All() {
		if !slices.Contains(names, key) {
			return &proviso.Error{Code: proviso.Invalid, Valid: names, Pointer: c.Pointer + "/options/factuality",
				Message: "unknown key \"" + key + "\" in options.factuality", Warning: true}
		}
	}
	return nil
}

// category finds "(A)" or "A)" at the beginning of a reply, or one letter alone.
var category = pattern.Of(`(?is)^\s*(?:\(?([a-e])\)\s*[:.-]?\s*(.*)|([a-e])[.\s]*)$`)

// readCategory reads {category, reason}, or a letter in brackets, the format of older
// prompts for promptfoo.
func readCategory(reply string) (letter, reason string, err error) {
	if m := category.Get().FindStringSubmatch(reply); m != nil {
		return strings.ToUpper(m[1] + m[3]), strings.TrimSpace(m[2]), nil
	}
	o, err := gradedObject(reply, "category")
	if err != nil {
		return "", "", err
	}
	letter = o.Text("category")
	letter = strings.ToUpper(strings.Trim(strings.TrimSpace(letter), "()."))
	return letter, reasonIn(o, ""), nil
}

// decideClosedQA decides a model-graded-closedqa assertion: a model decides whether the
// output meets one criterion.
func decideClosedQA(ctx context.Context, g *grading) (verdict, error) {
	s := step{
		own: "model-graded-closedqa", pieces: g.pieces("criterion", g.value()),
		reply:  shape.Reply("verdict", "reason", shape.Of("string"), "pass", shape.Of("boolean")),
		custom: g.q.Rubric,
		vars: func() *value.Object {
			return givenVars(g.q.Vars, false, "input", g.q.Input, "criteria", g.q.Value, "completion", parsedOr(g.q.Output))
		},
	}
	return ask(ctx, g, s, func(reply string) (verdict, error) { return readYesOrNo(reply, g.q.Rubric != nil) })
}

// readYesOrNo reads {reason, pass}. With words it also accepts a reply that ends in Y or
// N, the format of prompts for promptfoo. That form is not valid for proviso's own
// prompt, because prose may end in a word from the output.
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
