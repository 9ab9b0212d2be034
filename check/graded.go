package check

import (
	"context"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// needsGrader are the needs that a [proviso.Grader] provides.
const needsGrader = NeedsJudge | NeedsEmbedder | NeedsClassifier | NeedsModerator

// grader describes which of those the type needs; "" for a type that is decided
// without a model.
func (n Needs) grader() string {
	switch {
	case n&NeedsEmbedder != 0 && n&NeedsJudge == 0:
		return "a model that embeds"
	case n&NeedsClassifier != 0:
		return "a classifier"
	case n&NeedsModerator != 0:
		return "a moderator"
	case n&NeedsJudge != 0:
		return "a model that judges"
	}
	return ""
}

// graded is a check that a model decides.
type graded struct {
	c       *Compiler
	spec    *Spec
	kind    *Kind
	context *Transform // extracts the passages from the output; nil if a variable holds them
}

// newGraded makes a type whose value is not used.
func newGraded(c *Compiler, s *Spec) (Check, error) {
	g := &graded{c: c, spec: s, kind: s.kind}
	if s.ContextTransform != "" && g.kind.Needs&(NeedsContext|TakesContext) != 0 {
		t, err := c.contextTransform(s.Assertion)
		if err != nil {
			return nil, err
		}
		g.context = t
	}
	return g, nil
}

// contextTransform compiles the script that extracts the passages from an output.
func (c *Compiler) contextTransform(a *proviso.Assertion) (*Transform, error) {
	t, err := c.Transform(a.ContextTransform)
	if err != nil {
		return nil, mistakeAt(a, "contextTransform", err)
	}
	return t, nil
}

// newRubric makes a type whose value is a rubric: a text, or an object or a list that
// the prompt gets as JSON. Without a value the prompt must contain it.
func newRubric(c *Compiler, s *Spec) (Check, error) {
	switch s.Value.(type) {
	case string, *value.Object, []any, nil, value.Undefined:
		return newGraded(c, s)
	}
	return nil, s.badValue("a text")
}

// newGradedText makes a type whose value is a text.
func newGradedText(c *Compiler, s *Spec) (Check, error) {
	if text, ok := s.Value.(string); !ok || value.TrimSpace(text) == "" {
		return nil, s.badValue("a text")
	}
	return newGraded(c, s)
}

// newGradedTexts makes a type whose value is a text or a list of texts.
func newGradedTexts(c *Compiler, s *Spec) (Check, error) {
	list, ok := s.Value.([]any)
	if !ok {
		return newGradedText(c, s)
	}
	if len(list) == 0 {
		return nil, proviso.Errorf(proviso.Invalid, "the list of texts of %q is empty", s.Type)
	}
	if !allTexts(list) {
		return nil, s.badValue("a text or a list of texts")
	}
	return newGraded(c, s)
}

func allTexts(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool {
		text, ok := v.(string)
		return !ok || value.TrimSpace(text) == ""
	})
}

// newGoalSuccess is `trajectory:goal-success`: a model decides whether the agent
// reached a goal.
func newGoalSuccess(c *Compiler, s *Spec) (Check, error) {
	goal := s.Value
	if o, ok := goal.(*value.Object); ok {
		goal = o.At("goal")
	}
	text, _ := goal.(string)
	if text = value.TrimSpace(text); text == "" {
		return nil, s.badValue("a text, or an object with a goal,")
	}
	s.Value = text
	return newGraded(c, s)
}

// newClassifier is `classifier`: the class that is expected, or any.
func newClassifier(c *Compiler, s *Spec) (Check, error) {
	switch v := s.Value.(type) {
	case value.Undefined, nil:
	case string:
		if v == "" {
			return nil, s.badValue("the name of a class, or none for any,")
		}
	default:
		return nil, s.badValue("the name of a class, or none for any,")
	}
	return newGraded(c, s)
}

// newModeration is `moderation`: the categories that count, or all.
func newModeration(c *Compiler, s *Spec) (Check, error) {
	switch v := s.Value.(type) {
	case value.Undefined, nil:
	case []any:
		if !allTexts(v) {
			return nil, s.badValue("a list of categories, or none for all,")
		}
	default:
		return nil, s.badValue("a list of categories, or none for all,")
	}
	return newGraded(c, s)
}

// Decide asks the grader.
func (g *graded) Decide(ctx context.Context, s *Subject) (Finding, error) {
	return decideNow(ctx, g, g.c, s)
}

// begin makes the question, so that several can be asked together.
func (g *graded) begin(ctx context.Context, s *Subject) (*pending, Finding, error) {
	if g.c.Grader == nil {
		return nil, Finding{}, g.kind.ungraded(g.spec.Type)
	}
	q, err := g.question(ctx, s)
	if err != nil {
		return nil, Finding{}, err
	}
	return &pending{question: q, finding: func(g proviso.Graded) (Finding, error) { return findingOf(g.Grade), g.Err }}, Finding{}, nil
}

// ungraded is the error of a type for which there is no model.
func (k *Kind) ungraded(name string) *proviso.Error {
	return proviso.Errorf(proviso.Unavailable, "%q needs %s, and none is available", name, k.Needs.grader())
}

// findingOf converts a grade to a finding. A grade without a verdict keeps its usage.
func findingOf(g proviso.Grade) Finding {
	return Finding{
		Pass: g.Pass, Score: g.Score, Reason: g.Reason, Always: true, Evidence: g.Evidence,
		Usage: g.Usage, Cost: g.Cost, Cached: g.Cached, Judge: g.Judge,
	}
}

// spend adds the usage and cost of another finding.
func (f *Finding) spend(other Finding) {
	f.Usage.Add(other.Usage)
	f.Cost += other.Cost
	f.Cached = f.Cached || other.Cached
	if f.Judge == "" {
		f.Judge = other.Judge
	}
}

// question returns the question for the grader.
func (g *graded) question(ctx context.Context, s *Subject) (proviso.Question, error) {
	q := questionOf(g.spec.Assertion, g.spec.Base, s.Row)
	q.Value, q.Output = g.spec.Value, s.Text
	if limit, ok := g.spec.kind.limit(g.spec.HasThreshold, g.spec.Threshold); ok {
		q.Threshold = &limit
	}
	var err error
	switch {
	case g.kind.Needs&(NeedsContext|TakesContext) != 0:
		q.Context, err = g.passages(ctx, s.Row)
	case g.kind.Needs&TakesTurns != 0:
		q.Turns, err = turnsOf(s)
	case g.kind.Needs&NeedsTrace != 0:
		q.Spans, err = g.c.spans(ctx, s, g.spec.Base)
	}
	if err == nil && g.kind.Needs&NeedsQuery != 0 {
		if _, ok := s.Row.Vars.At("query").(string); !ok {
			err = g.lacks("query", "the question that was asked, as a text")
		}
	}
	return q, err
}

// questionOf fills in the fields that every question about a row has.
func questionOf(a *proviso.Assertion, base string, row *Row) proviso.Question {
	q := proviso.Question{Type: base, Assertion: a, Input: row.Prompt, Vars: row.Vars, Case: row.Case}
	q.Grader, q.Rubric = graderOf(a, row.Case)
	if row.Case != nil {
		q.Sample.Repeat = row.Case.Repeat
	}
	return q
}

// graderOf returns the grader and its prompt: the assertion's own, or else the
// case's.
func graderOf(a *proviso.Assertion, c *proviso.Case) (grader, rubric any) {
	grader, rubric = a.Provider, a.RubricPrompt
	if c == nil {
		return grader, rubric
	}
	if grader == nil {
		grader = c.Options.Grader
	}
	if rubric == nil {
		rubric = c.Options.RubricPrompt
	}
	return grader, rubric
}

func (g *graded) lacks(name, what string) error {
	return proviso.Errorf(proviso.Undecided, "%q needs the variable %s: %s", g.spec.Type, name, what)
}

// passages returns what the answer should be based on: the result of
// contextTransform, or the variable context. Without either, context-recall uses the
// prompt.
func (g *graded) passages(ctx context.Context, row *Row) ([]string, error) {
	var list []string
	if g.context != nil {
		v, err := g.context.Apply(ctx, untransformed(row.Output), row)
		if err != nil {
			return nil, proviso.Errorf(proviso.Undecided, "contextTransform: %w", err)
		}
		if list = textsOf(v); list == nil {
			return nil, proviso.Errorf(proviso.Undecided, "contextTransform must return a text or a list of texts, found %s", kindOf(v))
		}
	} else if list = textsOf(row.Vars.At("context")); list == nil && g.kind.Needs&NeedsContext == 0 && row.Prompt != "" {
		list = []string{row.Prompt}
	}
	if len(list) == 0 {
		return nil, g.lacks("context", "a text or a list of texts; contextTransform can make it of the output")
	}
	return list, nil
}

// textsOf returns a text or a list of texts that is not empty; nil for anything else.
func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		if value.TrimSpace(v) != "" {
			return []string{v}
		}
	case []any:
		var list []string
		for _, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil
			}
			if value.TrimSpace(text) != "" {
				list = append(list, text)
			}
		}
		return list
	}
	return nil
}

// untransformed returns an output before the case's transform.
func untransformed(o *proviso.Output) any {
	if o.Untransformed != nil {
		return o.Untransformed
	}
	return o.Value
}

// turnsOf returns the conversation that an answer belongs to: that of the case,
// unchanged, or else the earlier turns and the answer.
func turnsOf(s *Subject) ([]proviso.Turn, error) {
	list, _ := s.Row.Vars.At("_conversation").([]any)
	turns := make([]proviso.Turn, 0, len(list)+1)
	for i, v := range list {
		o, _ := v.(*value.Object)
		input, output := o.At("input"), o.At("output")
		if input == nil || output == nil {
			return nil, proviso.Errorf(proviso.Undecided, "_conversation: turn %d has not both input and output", i+1)
		}
		turns = append(turns, proviso.Turn{Input: textOf(input), Output: textOf(output)})
	}
	if c := s.Row.Case; len(turns) > 0 && c != nil && c.Vars.Has("_conversation") {
		return turns, nil
	}
	return append(turns, proviso.Turn{Input: lastMessage(s.Row.Prompt), Output: s.Text}), nil
}

// textOf returns a text unchanged, and anything else as JSON.
func textOf(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return value.Stringify(v)
}

// lastMessage returns the last message of a prompt: the content of the last message
// of a chat, or the prompt itself.
func lastMessage(prompt string) string {
	if !strings.HasPrefix(value.TrimSpace(prompt), "[") {
		return prompt
	}
	v, err := value.ParseJSON(prompt)
	list, _ := v.([]any)
	if err != nil || len(list) == 0 {
		return prompt
	}
	o, _ := list[len(list)-1].(*value.Object)
	if content := o.At("content"); content != nil {
		return textOf(content)
	}
	return prompt
}
