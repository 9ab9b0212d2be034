package check

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Part is one part of a criterion: a question for the judge, or a check, which is
// decided without a model.
type Part struct {
	Text  string             // the question; "" for a check
	Check *proviso.Assertion // the check; nil for a question
}

// judged is an assertion with criteria. Deterministic parts are decided first and are
// never sent to a model; the rest is one question.
type judged struct {
	c    *Compiler
	spec *Spec
	// clauses are all requirements: the check, then the criteria.
	clauses   []clause
	templates bool // the instruction or the criteria contain templates
}

// clause is one requirement.
type clause struct {
	criterion proviso.Criterion
	key       string    // its place in the assertion
	counted   *compiled // nil if the judge decides it
}

// mistakes are several mistakes in one assertion.
type mistakes []*proviso.Error

func (m mistakes) Error() string { return m[0].Error() }

// maxJudgedParts limits how many parts of an output, selected by scope, a judge is
// asked about. Each part is a separate question.
const maxJudgedParts = 100

// newJudged is `judge`: an instruction with criteria, a check, or both.
func newJudged(c *Compiler, s *Spec) (Check, error) {
	j := &judged{c: c, spec: s}
	var all mistakes
	wrong := func(key, format string, args ...any) {
		all = append(all, mistakeAt(s.Assertion, key, proviso.Errorf(proviso.Invalid, format, args...)))
	}
	if !isNone(s.Value) {
		wrong("value", "%q has no value: the question belongs under instruction and criteria", s.Type)
	}
	if s.HasThreshold {
		wrong("threshold", "%q has no threshold: every criterion has to be met", s.Type)
	}
	if s.RubricPrompt != nil {
		wrong("rubricPrompt", "the prompt of %q cannot be replaced", s.Type)
	}
	if s.Check == nil && len(s.Criteria) == 0 {
		wrong("criteria", "a judged assertion needs criteria, a check, or both")
	}
	j.count(&all)
	j.ask(&all)
	if len(all) > 0 {
		return nil, all
	}
	return j, nil
}

// count compiles the check. Scope and transform are applied before, so that the check
// sees the same text as the judge.
func (j *judged) count(all *mistakes) {
	if j.spec.Check == nil {
		return
	}
	m, wrong := j.counted(j.spec.Check)
	*all = append(*all, wrong...)
	j.clauses = append(j.clauses, clause{criterion: proviso.Criterion{Text: "check: " + j.spec.Check.Type}, counted: m})
}

// outer are the keys that a check of an assertion must not have. With them, a failed
// check could count as passed, or not at all.
var outer = [...]string{"when", "weight", "severity", "metric"}

// counted compiles an assertion that is decided without a model.
func (j *judged) counted(a *proviso.Assertion) (*compiled, []*proviso.Error) {
	m, wrong := nester(j.c).assertion(j.spec.context(), a)
	for _, key := range outer {
		if a.Raw.Has(key) {
			wrong = append(wrong, mistakeAt(a, key, proviso.Errorf(proviso.Invalid, "%s belongs to the assertion, not to its check, which only passes or fails", key)))
		}
	}
	if e := m.uncountable(); e != nil && len(wrong) == 0 {
		wrong = append(wrong, mistakeAt(a, "type", e))
	}
	return m, wrong
}

// uncountable returns why an assertion cannot be the check of a judged one.
func (m *compiled) uncountable() error {
	if m.kind == nil {
		return nil
	}
	if m.kind.Needs&(needsGrader|NeedsGroup) != 0 {
		return proviso.Errorf(proviso.Invalid, "a check is decided without a model and on one output; %q is not", m.base)
	}
	for _, inner := range m.members {
		if err := inner.uncountable(); err != nil {
			return err
		}
	}
	return nil
}

// ask reads the criteria.
func (j *judged) ask(all *mistakes) {
	j.text("instruction", j.spec.Instruction, all)
	for i, c := range j.spec.Criteria {
		at := "criteria/" + strconv.Itoa(i)
		parts, wrong := j.c.expand(c, j.spec.Pointer+"/"+at)
		*all = append(*all, wrong...)
		for _, p := range parts {
			cl := clause{criterion: c, key: at}
			if p.Check != nil {
				m, wrong := j.counted(p.Check)
				*all = append(*all, wrong...)
				cl.counted = m
				cl.criterion.Text = shippedName(c, p.Check)
			} else {
				if value.TrimSpace(p.Text) == "" {
					*all = append(*all, mistakeAt(j.spec.Assertion, at, proviso.Errorf(proviso.Invalid, "the criterion is empty")))
				}
				j.text(at, p.Text, all)
				cl.criterion.Text = p.Text
			}
			j.clauses = append(j.clauses, cl)
		}
	}
}

// shippedName returns the name of the check in a shipped criterion or in one of its
// parts.
func shippedName(c proviso.Criterion, check *proviso.Assertion) string {
	name := c.Template
	if c.Params.Len() > 0 {
		name += " " + value.Stringify(c.Params)
	}
	return name + " (check: " + check.Type + ")"
}

// text looks for templates in the instruction or a criterion. Without a renderer, the
// text is used unchanged.
func (j *judged) text(key, text string, all *mistakes) {
	if !hasTemplate(text) || j.c.Templates == nil {
		return
	}
	j.templates = true
	if _, err := j.c.Templates.Needs(text); err != nil {
		*all = append(*all, mistakeAt(j.spec.Assertion, key, err))
	}
}

// expand returns the parts of a criterion.
func (c *Compiler) expand(criterion proviso.Criterion, pointer string) ([]Part, []*proviso.Error) {
	switch {
	case c.Expand != nil:
		return c.Expand(criterion, pointer)
	case criterion.Template != "":
		return nil, []*proviso.Error{proviso.ErrorAt(pointer, proviso.Unavailable, "templates of criteria are not available")}
	}
	return []Part{{Text: criterion.Text}}, nil
}

// asks reports whether the judge is needed.
func (j *judged) asks() bool {
	return slices.ContainsFunc(j.clauses, func(cl clause) bool { return cl.counted == nil })
}

// Decide decides one part of an output alone.
func (j *judged) Decide(ctx context.Context, s *Subject) (Finding, error) {
	return decideNow(ctx, j, j.c, s)
}

// begin decides the deterministic parts and makes the question for the rest. If a
// deterministic part fails, the assertion fails and no question is sent.
func (j *judged) begin(ctx context.Context, s *Subject) (*pending, Finding, error) {
	done, failed, err := j.tally(ctx, s)
	if failed || err != nil || !j.asks() {
		return nil, done, err
	}
	if j.c.Grader == nil {
		return nil, done, j.spec.kind.ungraded(j.spec.Type)
	}
	q, filled, err := j.question(ctx, s)
	if err != nil {
		return nil, done, err
	}
	verdicts := done.Criteria
	return &pending{question: q, finding: func(g proviso.Graded) (Finding, error) { return j.finding(verdicts, filled, g) }}, Finding{}, nil
}

// tally decides the deterministic parts. A failed one decides the whole, even if
// another is undecided.
func (j *judged) tally(ctx context.Context, s *Subject) (f Finding, failed bool, err error) {
	f = Finding{Pass: true, Score: 1, Always: true, Criteria: make([]proviso.CriterionVerdict, len(j.clauses))}
	row := rowOf(s)
	decided := false
	for i, cl := range j.clauses {
		f.Criteria[i] = proviso.CriterionVerdict{Criterion: cl.criterion, Status: proviso.Skip, Reasoning: "not asked"}
		if cl.counted == nil {
			continue
		}
		v := cl.counted.eval(ctx, row)
		if v.Status == proviso.Pass && v.Reason == passed {
			v.Reason = "The check " + cl.counted.Type + " holds"
		}
		f.Criteria[i].Status, f.Criteria[i].Reasoning = v.Status, v.Reason
		switch {
		case v.Status == proviso.Fail && !failed:
			failed = true
			f.Pass, f.Score, f.Reason = false, 0, v.Reason
		case v.Status == proviso.Errored && err == nil:
			err = errors.New(v.Reason)
		case v.Status == proviso.Pass && !failed:
			f.Reason = v.Reason
		}
		if len(j.clauses) == 1 {
			f.Score = v.Score
		}
		decided = decided || v.Status != proviso.Skip
	}
	switch {
	case failed:
		err = nil
	case err == nil && !decided && !j.asks():
		err = proviso.Errorf(proviso.Undecided, "no part of the check applied, and there is nothing else to decide by")
	}
	return f, failed, err
}

// rowOf returns the row of a subject with the output after transform and scope, so
// that a check sees the same text as the judge.
func rowOf(s *Subject) *Row {
	was, whole := s.Row.Output.Value.(string)
	if is, ok := s.Value.(string); ok && whole && is == was {
		return s.Row
	}
	row, out := *s.Row, *s.Row.Output
	out.Value = s.Value
	row.Output, row.memo = &out, nil
	return &row
}

// finding combines the deterministic verdicts with those of the judge.
func (j *judged) finding(verdicts []proviso.CriterionVerdict, filled []string, g proviso.Graded) (Finding, error) {
	f := findingOf(g.Grade)
	answers := g.Grade.Criteria
	met, of := 0, 0
	for i, cl := range j.clauses {
		if cl.counted == nil && len(answers) > 0 {
			verdicts[i], answers = answers[0], answers[1:]
			verdicts[i].Criterion.Text, filled = filled[0], filled[1:]
		}
		switch verdicts[i].Status {
		case proviso.Pass:
			met++
			of++
		case proviso.Fail:
			of++
		}
	}
	f.Criteria = verdicts
	if g.Err == nil && of > 0 {
		f.Score = float64(met) / float64(of)
	}
	return f, g.Err
}
