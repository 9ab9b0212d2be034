package check

import (
	"context"
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/value"
)

// passed is the reason of an assertion that passes and has nothing to add, in
// promptfoo and thus in every report.
const passed = "Assertion passed"

// waits are the needs of types that may wait while they decide. These types do not
// hold a compute slot for the whole decision; the engines that they use take one
// for their own work.
const waits = needsGrader | NeedsCode | NeedsNetwork | NeedsTrace | NeedsGroup

// Eval decides every assertion of the set on row, in order. Assertions that need all
// outputs of a case at once are left out. The caller owns the verdicts.
func (s *Set) Eval(ctx context.Context, row *Row) []proviso.Verdict {
	var b batch
	verdicts := s.start(ctx, row, &b)
	b.close(ctx)
	return verdicts
}

// EvalEach is [Set.Eval]. It also calls decided for each verdict as soon as it is
// final, with its index among the verdicts. The calls come one at a time, from any
// goroutine, and block the evaluation; decided must not keep v or change it.
func (s *Set) EvalEach(ctx context.Context, row *Row, decided func(i int, v *proviso.Verdict)) []proviso.Verdict {
	b := batch{observer: &observer{decided: decided, places: make(map[*proviso.Verdict]int, len(s.members))}}
	verdicts := s.start(ctx, row, &b)
	b.close(ctx)
	return verdicts
}

// EvalBoth is Eval for two sets on one row. It sends the questions of both sets to
// the model together. Either set may be nil.
func EvalBoth(ctx context.Context, row *Row, first, second *Set) (a, b []proviso.Verdict) {
	var together batch
	if first != nil {
		a = first.start(ctx, row, &together)
	}
	if second != nil {
		b = second.start(ctx, row, &together)
	}
	together.close(ctx)
	return a, b
}

// start decides every assertion except those that need a model, which are settled
// when b is closed.
func (s *Set) start(ctx context.Context, row *Row, b *batch) []proviso.Verdict {
	row.fromGo()
	verdicts := make([]proviso.Verdict, 0, len(s.members)) // never grows, so that pointers to members stay right
	var later []func()
	for _, m := range s.members {
		if m.kind != nil && m.kind.Needs&NeedsGroup != 0 && m.broken == nil {
			continue
		}
		verdicts = verdicts[:len(verdicts)+1]
		v := &verdicts[len(verdicts)-1]
		b.observes(v, len(verdicts)-1)
		if b.observer != nil && m.Scope != nil && m.Scope.Each != "" {
			later = append(later, func() { m.startTelling(ctx, row, v, b) }) // it may ask a model about each part
			continue
		}
		m.startTelling(ctx, row, v, b)
	}
	for _, start := range later {
		start()
	}
	return verdicts
}

// startTelling starts an assertion, and notifies the observer if it is decided.
func (m *compiled) startTelling(ctx context.Context, row *Row, v *proviso.Verdict, b *batch) {
	waiting := len(b.waiting)
	if m.start(ctx, row, v, b); len(b.waiting) == waiting {
		b.tell(v)
	}
}

// eval decides one assertion alone.
func (m *compiled) eval(ctx context.Context, row *Row) proviso.Verdict {
	var b batch
	var v proviso.Verdict
	row.fromGo()
	m.start(ctx, row, &v, &b)
	b.close(ctx)
	return v
}

// start decides an assertion into v. If it needs a model, it is settled when b is
// closed.
func (m *compiled) start(ctx context.Context, row *Row, v *proviso.Verdict, b *batch) {
	v.Assertion, v.Threshold = m.Assertion, m.compared
	if m.kind != nil && m.kind.Type != proviso.TypeSet && m.kind.Needs&waits == 0 {
		turn, done, err := turns.Enter(ctx)
		if err != nil {
			*v = undecided(*v, err)
			return
		}
		defer done()
		ctx = turn
	}
	applies, err := m.applies(ctx, row, v)
	switch {
	case err != nil:
		*v = undecided(*v, err)
		return
	case !applies:
		return
	case m.kind.Type == proviso.TypeSet:
		m.startSet(ctx, row, v, b)
		return
	}
	f, p, err := m.decide(ctx, row, v)
	if p != nil {
		b.waiting = append(b.waiting, waiting{m, v, p})
		return
	}
	m.conclude(v, &f, err)
}

// applies reports whether there is anything to decide; otherwise v is a skip.
func (m *compiled) applies(ctx context.Context, row *Row, v *proviso.Verdict) (bool, error) {
	if m.broken != nil {
		return false, m.broken
	}
	if m.when != nil {
		var metadata *value.Object
		if row.Case != nil {
			metadata = row.Case.Metadata
		}
		holds, err := m.when.Holds(ctx, row.Vars, metadata)
		if err != nil {
			return false, err
		}
		if !holds {
			v.Status, v.Reason = proviso.Skip, "Does not apply: when "+m.When
			return false, nil
		}
	}
	return true, nil
}

// undecided turns v into an error. An error has no score and is never negated.
func undecided(v proviso.Verdict, err error) proviso.Verdict {
	v.Status, v.Score, v.Reason = proviso.Errored, 0, err.Error()
	return v
}

// decide runs transform, templates, scope and the check itself, or returns the
// question for a model.
func (m *compiled) decide(ctx context.Context, row *Row, v *proviso.Verdict) (Finding, *pending, error) {
	s, err := m.subject(ctx, row)
	if err != nil {
		return Finding{}, nil, err
	}
	check := m.check
	if m.value.dynamic != nil {
		if check, err = m.rendered(ctx, s, v); err != nil {
			return Finding{}, nil, err
		}
	}
	if check == nil {
		return Finding{}, nil, proviso.Errorf(proviso.Unsupported, "%q cannot be decided on one output", m.Type)
	}
	if most := m.kind.Most; most > 0 && len(s.Text) > most {
		return Finding{}, nil, proviso.Errorf(proviso.Limit, "the output is longer than the %d MiB that %q reads", most>>20, m.base)
	}
	if m.Scope != nil {
		return scoped(ctx, check, m, s)
	}
	return begin(ctx, check, s)
}

// begin decides, or returns the question of the check for a model.
func begin(ctx context.Context, check Check, s *Subject) (Finding, *pending, error) {
	if d, ok := check.(deferred); ok {
		p, f, err := d.begin(ctx, s)
		return f, p, err
	}
	f, err := check.Decide(ctx, s)
	return f, nil, err
}

func (m *compiled) subject(ctx context.Context, row *Row) (*Subject, error) {
	if m.transform == nil {
		if row.whole.Row != row || row.of != row.Output { // it may be the copy of a row
			row.whole, row.of = Subject{Text: row.text(), Value: row.Output.Value, Row: row}, row.Output
		}
		return &row.whole, nil
	}
	out, err := m.transform.Apply(ctx, row.Output.Value, row)
	if err != nil {
		return nil, err
	}
	o := proviso.Output{Value: out}
	return &Subject{Text: o.Text(), Value: out, Row: row}, nil
}

// fromGo converts an output from a Go program.
func (r *Row) fromGo() {
	if r.Output == nil || value.Valid(r.Output.Value) {
		return
	}
	out := *r.Output
	out.Value = value.Of(out.Value)
	r.Output = &out
}

type textKey struct{}

// text returns the output as text. Structures are encoded once per row.
func (r *Row) text() string {
	if s, ok := r.Output.Value.(string); ok {
		return s
	}
	return memo(&Subject{Row: r}, textKey{}, r.Output.Text)
}

// rendered makes the value for this row and the check with it.
func (m *compiled) rendered(ctx context.Context, s *Subject, v *proviso.Verdict) (Check, error) {
	val, err := m.value.dynamic(ctx, s)
	if err != nil {
		return nil, err
	}
	if text, ok := val.(string); ok {
		if written, _ := m.Value.(string); written != text {
			v.Rendered, v.HasValue = text, true
		}
	}
	spec := m.spec(ctx, m.kind.present(val))
	made, err := m.kind.New(m.c, &spec)
	if err != nil || m.c.Lenient {
		return made, err
	}
	if spec.vacuous != "" {
		return nil, proviso.Errorf(proviso.Undecided, "%s", spec.vacuous)
	}
	if o, ok := val.(*value.Object); ok && m.kind.Keys != "" {
		for _, e := range m.objectShape(o) {
			return nil, e
		}
	}
	return made, nil
}

// settle turns a finding into the verdict. It applies negation, the reason and weight
// 0.
func (m *compiled) settle(v *proviso.Verdict, f *Finding) {
	pass, score := f.Pass, f.Score
	if m.not && !f.Final {
		pass = !pass
		score = m.kind.Not.score(score, pass)
	}
	v.Status, v.Score, v.Reason = proviso.Fail, score, f.Reason
	if pass || m.weight() == 0 {
		v.Status, v.Waived = proviso.Pass, !pass
	}
	if pass && (!f.Always || f.Reason == "") {
		v.Reason = passed
	}
	v.Evidence, v.Components, v.Criteria, v.Named = f.Evidence, f.Components, f.Criteria, f.Named
	v.Usage, v.Cost, v.Cached, v.Judge, v.Threw = f.Usage, f.Cost, f.Cached, f.Judge, f.Threw
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

// idle reports whether an assertion cannot change the aggregate: one of severity
// info, or one of weight 0, which passes. As in promptfoo, a set of weight 0 can
// still fail.
func idle(a *proviso.Assertion) bool {
	return a.Severity == proviso.Info || weightOf(a) == 0 && a.Type != proviso.TypeSet
}

func weightOf(a *proviso.Assertion) float64 {
	if a.Weight == nil {
		return 1
	}
	return *a.Weight
}

// startSet decides the members of an assert-set. The set itself waits for the members
// that a model decides.
func (m *compiled) startSet(ctx context.Context, row *Row, v *proviso.Verdict, b *batch) {
	before := len(b.waiting)
	v.Components = make([]proviso.Verdict, 0, len(m.members)) // never grows, as in start
	for _, inner := range m.members {
		if inner.broken == nil && inner.kind.Needs&NeedsGroup != 0 {
			continue
		}
		v.Components = v.Components[:len(v.Components)+1]
		inner.start(ctx, row, &v.Components[len(v.Components)-1], b)
	}
	if len(b.waiting) == before {
		m.closeSet(ctx, row, v)
		return
	}
	b.sets = append(b.sets, func() {
		m.closeSet(ctx, row, v)
		b.tell(v)
	})
}

// closeSet makes the verdict on an assert-set from the weighted mean of its members.
func (m *compiled) closeSet(ctx context.Context, row *Row, v *proviso.Verdict) {
	a := m.c.aggregate(ctx, row, v.Components, m.compared)
	v.Status, v.Score, v.Unscored, v.Reason, v.Named = a.Status, a.Score, a.Unscored, a.Reason, a.Named
	if len(v.Components) == 0 {
		v.Score = 0
	}
}

// Decide compiles one assertion and decides it on row. It does not accept a set or a
// comparison of several outputs.
func (c *Compiler) Decide(ctx context.Context, a *proviso.Assertion, row *Row) proviso.Verdict {
	m, mistakes := c.assertion(ctx, a)
	for _, e := range mistakes {
		if !e.Warning {
			return undecided(proviso.Verdict{Assertion: a}, errors.New(e.Error()))
		}
	}
	if m.kind.New == nil {
		return undecided(proviso.Verdict{Assertion: a}, proviso.Errorf(proviso.Invalid, "%q cannot be decided on its own", a.Type))
	}
	return m.eval(ctx, row)
}
