package check

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Prepare returns the mistakes in the set that are not found in the assertions alone:
// models that cannot grade, variables that the case lacks, and, as warnings,
// assertions that pass with any score. It makes no calls. c is the case of the set,
// nil outside a suite. open means that a row may have variables that the case does
// not have.
func (s *Set) Prepare(c *proviso.Case, open bool) []*proviso.Error {
	var mistakes []*proviso.Error
	for _, m := range s.members {
		mistakes = append(mistakes, m.foresee(c, open)...)
	}
	return mistakes
}

func (m *compiled) foresee(c *proviso.Case, open bool) []*proviso.Error {
	var mistakes []*proviso.Error
	for _, inner := range m.members {
		mistakes = append(mistakes, inner.foresee(c, open)...)
	}
	if m.broken != nil || m.Broken {
		return mistakes
	}
	if j, ok := m.check.(*javascript); ok && j.unread != nil {
		w := proviso.Because(j.mistake, proviso.Invalid, "%v: it fails every output", j.mistake)
		w.Warning = true
		mistakes = append(mistakes, mistakeAt(m.Assertion, "value", w))
	}
	if w := m.vacuous(); w != nil {
		mistakes = append(mistakes, w)
	}
	if m.kind.Needs&NeedsTrace != 0 && m.c.Spans == nil {
		err := proviso.Errorf(proviso.Unavailable, "%q needs the spans of a trace: switch tracing on, or name a file of recorded traces under tracing.file", m.Type)
		mistakes = append(mistakes, mistakeAt(m.Assertion, "type", err))
	}
	if !open && c != nil {
		mistakes = append(mistakes, m.unset(c.Vars)...)
	}
	if j, ok := m.check.(*judged); m.kind.Needs&needsGrader == 0 || ok && !j.asks() {
		return mistakes
	}
	part := "type"
	if m.Provider != nil {
		part = "provider"
	}
	for _, err := range m.ungradable(c) {
		mistakes = append(mistakes, mistakeAt(m.Assertion, part, err))
	}
	if m.ContextTransform != "" && m.value.dynamic != nil { // otherwise it is compiled with the value
		if _, err := m.c.contextTransform(m.Assertion); err != nil {
			mistakes = append(mistakes, mistakeAt(m.Assertion, "contextTransform", err))
		}
	}
	if !open && c != nil {
		if err := m.missing(c); err != nil {
			mistakes = append(mistakes, mistakeAt(m.Assertion, "type", err))
		}
		if j, ok := m.check.(*judged); ok {
			mistakes = append(mistakes, j.unfilled(c.Vars)...)
		}
	}
	return mistakes
}

// unset warns of variables that the value prints and vars lack.
func (m *compiled) unset(vars *value.Object) []*proviso.Error {
	var all []*proviso.Error
	for _, name := range m.value.uses {
		if vars.Has(name) || name == "env" || strings.HasPrefix(name, "_") {
			continue
		}
		w := proviso.Errorf(proviso.Invalid, "{{ %s }} in the value renders as nothing: this case does not set %q", name, name)
		w.Warning = true
		if near := document.Nearest(name, vars.Keys()); near != "" {
			w.Valid = []string{near}
		}
		all = append(all, mistakeAt(m.Assertion, "value", w))
	}
	return all
}

// vacuous warns of an assertion that has the same result for any score.
func (m *compiled) vacuous() *proviso.Error {
	open := m.kind.Open && !m.hasLimit
	lowest := m.kind.Share && m.hasLimit && m.threshold <= 0
	if !open && !lowest {
		return nil
	}
	always := "passes"
	if m.not {
		always = "fails"
	}
	part, state := "type", "without a threshold"
	if lowest {
		part, state = "threshold", "with this threshold"
	}
	w := proviso.Errorf(proviso.Invalid, "%q %s %s whatever its score is; give it a threshold above 0", m.Type, state, always)
	w.Pointer, w.Warning = m.Pointer+"/"+part, true
	return w
}

// ungradable returns why no model can grade the assertion.
func (m *compiled) ungradable(c *proviso.Case) (wrong []error) {
	q := proviso.Question{Type: m.base, Assertion: m.Assertion, Case: c}
	q.Grader, q.Rubric = graderOf(m.Assertion, c)
	if m.kind.Needs&NeedsRubric != 0 && q.Rubric == nil && isNone(m.Value) {
		none := proviso.Errorf(proviso.Invalid, "%q needs a value, which says what is expected, or a rubricPrompt that does", m.Type)
		wrong = append(wrong, mistakeAt(m.Assertion, "type", none))
	}
	if m.c.Grader == nil {
		return append(wrong, m.kind.ungraded(m.Type))
	}
	p, ok := m.c.Grader.(proviso.Preparer)
	if !ok {
		return wrong
	}
	switch err := p.Prepare(q).(type) {
	case nil:
	case interface{ Unwrap() []error }:
		wrong = append(wrong, err.Unwrap()...)
	default:
		wrong = append(wrong, err)
	}
	return wrong
}

func isNone(v any) bool {
	if _, none := v.(value.Undefined); none || v == nil {
		return true
	}
	text, ok := v.(string)
	return ok && value.TrimSpace(text) == ""
}

// missing returns an error if the case lacks a variable that the type needs.
func (m *compiled) missing(c *proviso.Case) error {
	needs := m.kind.Needs
	if needs&NeedsContext != 0 && m.ContextTransform == "" && textsOf(c.Vars.At("context")) == nil {
		return proviso.Errorf(proviso.Invalid, "%q needs the variable context, a text or a list of texts, or contextTransform, which makes it of the output", m.Type)
	}
	if _, ok := c.Vars.At("query").(string); needs&NeedsQuery != 0 && !ok {
		return proviso.Errorf(proviso.Invalid, "%q needs the variable query: the question that was asked, as a text", m.Type)
	}
	return nil
}

// Choose asks which of outputs is the best by the value of a, an assertion that
// compares several. row has the variables and the prompt of one of them. The finding
// holds the usage, with or without an error.
func (c *Compiler) Choose(ctx context.Context, a *proviso.Assertion, row *Row, outputs []string) (int, Finding, error) {
	kind, ok := Lookup(a.Type)
	if !ok {
		return 0, Finding{}, unknownType(a.Type, a.Type)
	}
	chooser, ok := c.Grader.(proviso.Chooser)
	if !ok {
		return 0, Finding{}, kind.ungraded(a.Type)
	}
	if len(outputs) < 2 {
		return 0, Finding{}, proviso.Errorf(proviso.Undecided, "%s needs at least two outputs (prompts × providers) of a case to choose between", a.Type)
	}
	v, err := c.value(a, kind)
	if err == nil && v.dynamic != nil {
		v.static, err = v.dynamic(ctx, &Subject{Row: row})
	}
	if err != nil {
		return 0, Finding{}, err
	}
	q := questionOf(a, a.Type, row)
	if isNone(v.static) && q.Rubric == nil {
		return 0, Finding{}, proviso.Errorf(proviso.Undecided, "%q needs a text as its value, which says what makes an output the best", a.Type)
	}
	q.Value, q.Outputs = v.static, outputs
	best, grade, err := chooser.Choose(ctx, q)
	return best, findingOf(grade), err
}
