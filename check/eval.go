package check

import (
	"context"
	"errors"
	"math"

	"github.com/proviso-eval/proviso"
)

// passed is what promptfoo, and thus every report, says of an assertion that
// holds and has nothing to add.
const passed = "Assertion passed"

// Len returns how many assertions the set has.
func (s *Set) Len() int { return len(s.members) }

// Eval decides every assertion of the set on row, in order. Assertions that need
// all outputs of a case at once are left out. The verdicts of a set belong to the
// caller.
func (s *Set) Eval(ctx context.Context, row *Row) []proviso.Verdict {
	verdicts := make([]proviso.Verdict, 0, len(s.members))
	for _, m := range s.members {
		if m.kind != nil && m.kind.Needs&NeedsGroup != 0 && m.broken == nil {
			continue
		}
		verdicts = append(verdicts, m.eval(ctx, row))
	}
	return verdicts
}

func (m *compiled) eval(ctx context.Context, row *Row) proviso.Verdict {
	v := proviso.Verdict{Assertion: m.Assertion}
	if m.broken != nil {
		return undecided(v, m.broken)
	}
	if m.when != nil {
		var metadata *proviso.Object
		if row.Case != nil {
			metadata = row.Case.Metadata
		}
		holds, err := m.when.Holds(ctx, row.Vars, metadata)
		if err != nil {
			return undecided(v, err)
		}
		if !holds {
			v.Status, v.Reason = proviso.Skip, "Does not apply: when "+m.When
			return v
		}
	}
	if m.kind.Type == "assert-set" {
		return m.evalSet(ctx, row, v)
	}
	f, err := m.decide(ctx, row, &v)
	if err != nil {
		return undecided(v, err)
	}
	return m.settle(v, f)
}

// undecided makes v an error. It has no score and is never negated.
func undecided(v proviso.Verdict, err error) proviso.Verdict {
	v.Status, v.Score, v.Reason = proviso.Errored, 0, err.Error()
	return v
}

// decide runs transform, templates, scope and the check itself.
func (m *compiled) decide(ctx context.Context, row *Row, v *proviso.Verdict) (Finding, error) {
	s, err := m.subject(ctx, row)
	if err != nil {
		return Finding{}, err
	}
	check := m.check
	if m.value.dynamic != nil {
		if check, err = m.rendered(ctx, s, v); err != nil {
			return Finding{}, err
		}
	}
	if check == nil {
		return Finding{}, proviso.Errorf(proviso.Unsupported, "%q cannot be decided on one output", m.Type)
	}
	if most := m.kind.Most; most > 0 && len(s.Text) > most {
		return Finding{}, proviso.Errorf(proviso.Limit, "the output is longer than the %d MiB that %q reads", most>>20, m.base)
	}
	if m.Scope != nil {
		return scoped(ctx, check, m, s)
	}
	return check.Decide(ctx, s)
}

func (m *compiled) subject(ctx context.Context, row *Row) (*Subject, error) {
	if m.transform == nil {
		return &Subject{Text: row.text(), Value: row.Output.Value, Row: row}, nil
	}
	out, err := m.transform.Apply(ctx, row.Output.Value, row)
	if err != nil {
		return nil, err
	}
	o := proviso.Output{Value: out}
	return &Subject{Text: o.Text(), Value: out, Row: row}, nil
}

type textKey struct{}

// text returns the output as text; structures are written once a row.
func (r *Row) text() string {
	if s, ok := r.Output.Value.(string); ok {
		return s
	}
	return memo(&Subject{Row: r}, textKey{}, r.Output.Text)
}

// rendered makes the value of this row and the check for it.
func (m *compiled) rendered(ctx context.Context, s *Subject, v *proviso.Verdict) (Check, error) {
	value, err := m.value.dynamic(ctx, s)
	if err != nil {
		return nil, err
	}
	if text, ok := value.(string); ok {
		if written, _ := m.Value.(string); written != text {
			v.Rendered, v.HasValue = text, true
		}
	}
	return m.kind.New(m.c, m.spec(value))
}

// settle turns a finding into the verdict: negation, the reason, weight 0.
func (m *compiled) settle(v proviso.Verdict, f Finding) proviso.Verdict {
	pass, score := f.Pass, f.Score
	if m.not && !f.Final {
		pass = !pass
		score = m.kind.Not.score(score, pass)
	}
	v.Status, v.Score, v.Reason = proviso.Fail, score, f.Reason
	if pass || m.weight() == 0 {
		v.Status = proviso.Pass
	}
	if pass && (!f.Always || f.Reason == "") {
		v.Reason = passed
	}
	v.Evidence, v.Components, v.Named = f.Evidence, f.Components, f.Named
	v.Usage, v.Cost, v.Cached, v.Judge = f.Usage, f.Cost, f.Cached, f.Judge
	return v
}

func (n Negation) score(score float64, pass bool) float64 {
	switch n {
	case Complement:
		return 1 - score
	case PassOnly:
		return score
	}
	if pass {
		return 1
	}
	return 0
}

func (m *compiled) weight() float64 { return weightOf(m.Assertion) }

func weightOf(a *proviso.Assertion) float64 {
	if a.Weight == nil {
		return 1
	}
	return *a.Weight
}

// evalSet decides an assert-set: its members, then their weighted mean.
func (m *compiled) evalSet(ctx context.Context, row *Row, v proviso.Verdict) proviso.Verdict {
	for _, inner := range m.members {
		if inner.broken == nil && inner.kind.Needs&NeedsGroup != 0 {
			continue
		}
		v.Components = append(v.Components, inner.eval(ctx, row))
	}
	var threshold *float64
	if m.hasLimit && !math.IsNaN(m.threshold) {
		if _, number := m.Threshold.(float64); number {
			threshold = &m.threshold
		}
	}
	a := m.c.aggregate(ctx, row, v.Components, threshold)
	v.Status, v.Score, v.Reason, v.Named = a.Status, a.Score, a.Reason, a.Named
	if len(v.Components) == 0 {
		v.Score = 0
	}
	return v
}

// Decide compiles one assertion and decides it on row. A set or a comparison of
// several outputs is not one assertion.
func (c *Compiler) Decide(ctx context.Context, a *proviso.Assertion, row *Row) proviso.Verdict {
	m, mistakes := c.assertion(a)
	if len(mistakes) > 0 {
		return undecided(proviso.Verdict{Assertion: a}, errors.New(mistakes[0].Error()))
	}
	if m.kind.New == nil {
		return undecided(proviso.Verdict{Assertion: a}, proviso.Errorf(proviso.Invalid, "%q is not decided by itself", a.Type))
	}
	return m.eval(ctx, row)
}
