package check

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/expr"
	"github.com/proviso-eval/proviso/internal/ngram"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/value"
)

// Compiler turns assertions into checks. It is safe for concurrent use and caches
// what several assertions share: patterns, schemas, scripts.
type Compiler struct {
	Options

	mu         sync.Mutex
	functions  map[functionKey]*compiling
	own        bool // the engines belong to this compiler
	conditions *recent.Cache[string, *expr.Condition]
	refs       *recent.Cache[string, *reference] // shared by the metrics of a case with the same text
	words      ngram.Memory
	schemas    *recent.Cache[string, compiledSchema] // by JSON text
	lastSchema atomic.Pointer[schemaOfObject]
	mention    traceMention
	last       atomic.Pointer[Set] // the set compiled last, if assertions are frozen
}

type functionKey struct {
	language, name, text, entry, params, file string
	form                                      proviso.Form
	purpose                                   proviso.Purpose
}

// compiling is a script that is being compiled or is compiled.
type compiling struct {
	done chan struct{} // closed when fn and err are set
	fn   proviso.Function
	err  error
}

// maxShared limits each cache of a compiler.
const maxShared = 4096

// New returns a compiler; see [Compiler.Close].
func New(o Options) *Compiler {
	c := &Compiler{Options: o, functions: map[functionKey]*compiling{},
		conditions: recent.New[string](recent.Options[*expr.Condition]{Entries: maxShared}),
		refs:       recent.New[string](recent.Options[*reference]{Entries: maxReferences}),
		schemas:    recent.New[string](recent.Options[compiledSchema]{Entries: maxShared}),
	}
	if c.own = c.Engines == nil; c.own {
		c.Engines = NewEngines()
	}
	return c
}

// Set is the compiled assertions of a case. It is safe for concurrent use.
type Set struct {
	members []*compiled
	scoring *scoreScript
}

// compiled is one assertion, ready to be decided.
type compiled struct {
	*proviso.Assertion
	c         *Compiler
	kind      *Kind
	base      string
	not       bool
	broken    error // why it is always undecided
	clean     bool  // without mistakes, which are reported for each case
	check     Check // nil if the value is computed for each row
	made      Spec  // the Spec from which check was made
	value     operand
	when      *expr.Condition
	transform *Transform
	threshold float64
	hasLimit  bool
	bound     float64
	compared  *float64    // bound, if the type compares with a threshold
	members   []*compiled // members of an assert-set
}

// Compile compiles the assertions of a case. Mistakes have the pointer of the
// assertion. The set is usable even with mistakes: assertions that could not be
// compiled are undecided.
func (c *Compiler) Compile(list []*proviso.Assertion) (*Set, []*proviso.Error) {
	return c.CompileContext(context.Background(), list)
}

// CompileContext is [Compiler.Compile] with a context. Assertions that are not
// compiled when ctx ends are mistakes, with the cause of ctx. If assertions are frozen,
// those that the previous list had at the same position are not compiled again.
func (c *Compiler) CompileContext(ctx context.Context, list []*proviso.Assertion) (*Set, []*proviso.Error) {
	set := &Set{members: make([]*compiled, len(list))}
	last, fresh := c.last.Load(), 0
	for i, a := range list {
		if set.members[i] = last.compiled(i, a); set.members[i] == nil {
			fresh++
		}
	}
	if fresh == 0 {
		return set, nil
	}
	made := make([]compiled, fresh)
	var mistakes []*proviso.Error
	for i, a := range list {
		if set.members[i] != nil {
			continue
		}
		m := &made[0]
		made, set.members[i] = made[1:], m
		found := c.compile(ctx, a, m)
		m.clean = len(found) == 0
		mistakes = append(mistakes, found...)
	}
	if c.Frozen {
		c.last.Store(set)
	}
	return set, mistakes
}

// compiled returns the compiled form of a at position i of the set, or nil.
func (s *Set) compiled(i int, a *proviso.Assertion) *compiled {
	if s == nil || i >= len(s.members) || s.members[i].Assertion != a || !s.members[i].clean {
		return nil
	}
	return s.members[i]
}

// fromGo returns an assertion that a Go program may have built, with its value and
// threshold in the form of suites. A program that sets no value leaves nil, which in a
// suite is null.
func fromGo(a *proviso.Assertion) *proviso.Assertion {
	absent := a.Raw == nil && a.Value == nil
	if !absent && value.Valid(a.Value) && value.Valid(a.Threshold) {
		return a
	}
	made := *a
	made.Value, made.Threshold = value.Of(a.Value), value.Of(a.Threshold)
	if absent {
		made.Value = value.Undefined{}
	}
	return &made
}

// assertion compiles one assertion and the members of a set.
func (c *Compiler) assertion(ctx context.Context, a *proviso.Assertion) (*compiled, []*proviso.Error) {
	m := new(compiled)
	return m, c.compile(ctx, a, m)
}

// compile compiles an assertion into m, which is zero.
func (c *Compiler) compile(ctx context.Context, a *proviso.Assertion, m *compiled) []*proviso.Error {
	m.Assertion, m.c = fromGo(a), c
	if !value.Valid(m.Value) {
		m.base, m.not = splitType(m.Type)
		return m.wrong(nil, "value", proviso.Errorf(proviso.Invalid, "the value of %q, a %T, has no JSON form, or is nested too deep", m.Type, m.Value))
	}
	mistakes := m.prepare(ctx)
	if a.Broken {
		mistakes = slices.DeleteFunc(mistakes, m.lacks)
	}
	if m.kind == nil {
		return mistakes
	}
	for _, inner := range a.Assert {
		im, err := c.assertion(ctx, inner)
		if im.kind != nil && im.kind.Type == proviso.TypeSet {
			im.broken = proviso.Errorf(proviso.Invalid, "an assert-set cannot hold another assert-set")
			err = append(err, mistakeAt(inner, "type", im.broken))
		}
		mistakes = append(mistakes, err...)
		m.members = append(m.members, im)
	}
	return mistakes
}

// mistakeAt is [proviso.WithPointer] for a part of an assertion.
func mistakeAt(a *proviso.Assertion, part string, err error) *proviso.Error {
	return proviso.WithPointer(a.Pointer+"/"+part, err)
}

// lacks reports whether a mistake is about a missing key. In a broken assertion, that
// follows from a mistake that was already reported, such as a misspelled key.
func (m *compiled) lacks(e *proviso.Error) bool {
	part, ok := strings.CutPrefix(e.Pointer, m.Pointer+"/")
	part, _, _ = strings.Cut(part, "/")
	return ok && !m.Raw.Has(part)
}

// prepare compiles the parts of an assertion and returns their mistakes. The first
// mistake is the reason why it is undecided.
func (m *compiled) prepare(ctx context.Context) []*proviso.Error {
	if ctx.Err() != nil {
		return m.wrong(nil, "type", context.Cause(ctx))
	}
	if err := m.lookup(); err != nil {
		return m.wrong(nil, "type", err)
	}
	var all []*proviso.Error
	var err error
	if m.hasLimit, m.threshold, err = limitOf(m.Threshold); err != nil {
		all = m.wrong(all, "threshold", err)
	} else {
		all = m.limits(all)
	}
	all = m.weighs(all)
	if m.When != "" {
		if m.when, err = m.c.condition(m.When); err != nil {
			all = m.wrong(all, "when", err)
		}
	}
	if m.Transform != "" {
		if m.transform, err = m.c.Transform(m.Transform); err != nil {
			all = m.wrong(all, "transform", err)
		}
	}
	if err := checkScope(m.Scope); err != nil {
		all = m.wrong(all, "scope", err)
	}
	if m.IgnoreCase && !m.kind.Folds {
		all = m.wrong(all, "ignoreCase", proviso.Errorf(proviso.Invalid, "ignoreCase has no effect on %q", m.base))
	}
	if m.WholeWords && !m.kind.Words {
		all = m.wrong(all, "wholeWords", proviso.Errorf(proviso.Invalid, "wholeWords has no effect on %q", m.base))
	}
	if m.base != proviso.TypeJudge && m.Check != nil {
		all = m.wrong(all, "check", proviso.Errorf(proviso.Invalid, "check belongs to a judged assertion, not to %q", m.base))
	}
	if m.base != proviso.TypeJudge && len(m.Criteria) > 0 {
		all = m.wrong(all, "criteria", proviso.Errorf(proviso.Invalid, "criteria belong to a judged assertion, not to %q", m.base))
	}
	return m.prepareCheck(ctx, all)
}

// prepareCheck makes the check of the type, or the function that makes its value for
// each row.
func (m *compiled) prepareCheck(ctx context.Context, all []*proviso.Error) []*proviso.Error {
	var err error
	if m.value, err = m.c.value(m.Assertion, m.kind); err != nil {
		return m.wrong(all, "value", err)
	}
	if m.value.dynamic != nil {
		return m.notes(all, m.pointless(m.Value)) // the value is checked when it is made
	}
	notes := m.pointless(m.value.static)
	if len(notes) > 0 && !m.c.Lenient {
		return m.notes(all, notes)
	}
	if m.kind.New == nil {
		return m.notes(all, notes)
	}
	m.made = m.spec(ctx, m.kind.present(m.value.static))
	spec := &m.made
	if m.check, err = m.kind.New(m.c, spec); err != nil {
		return m.wrong(all, "value", err)
	}
	if why := spec.vacuous + spec.trivial; why != "" {
		notes = append(notes, mistakeAt(m.Assertion, "value", proviso.Errorf(proviso.Invalid, "%s", why)))
	}
	return m.notes(all, notes)
}

// notes adds the reasons why the assertion has no effect: as mistakes, or as warnings
// if the verdicts must match promptfoo.
func (m *compiled) notes(all, notes []*proviso.Error) []*proviso.Error {
	for _, e := range notes {
		if e.Warning {
			continue // the verdict itself reports it
		}
		if m.c.Lenient {
			e.Message, e.Warning = e.Message+checksNothing, true
		} else if m.broken == nil {
			m.broken = e
		}
	}
	return append(all, notes...)
}

// wrong adds the mistake in a part of the assertion.
func (m *compiled) wrong(all []*proviso.Error, part string, err error) []*proviso.Error {
	if m.broken == nil {
		m.broken = err
	}
	var several mistakes
	if errors.As(err, &several) {
		return append(all, several...)
	}
	return append(all, mistakeAt(m.Assertion, part, err))
}

func (m *compiled) lookup() error {
	m.base, m.not = splitType(m.Type)
	kind, ok := Lookup(m.base)
	if !ok {
		return unknownType(m.Type, m.base)
	}
	if m.not && kind.New == nil {
		return proviso.Errorf(proviso.Invalid, "%q cannot be negated", m.base)
	}
	m.kind = kind
	return nil
}

// unknownType explains a type that is not in the table.
func unknownType(name, base string) error {
	switch {
	case base == "f-score":
		return proviso.Errorf(proviso.Invalid, "there is no type %q: give javascript assertions the metrics tp, fp and fn with weight 0 and add the derived metric {name: f1, value: 2*tp/(2*tp+fp+fn)}", name)
	case strings.HasPrefix(base, "not-"):
		return proviso.Errorf(proviso.Invalid, "unknown assertion type %q: not- may occur only once", name)
	}
	if needs, ok := Unsupported(base); ok {
		return proviso.Errorf(proviso.Unsupported, "%q is not supported in this version: it needs %s", name, needs)
	}
	valid := Types()
	if base != name {
		for i, t := range valid {
			valid[i] = "not-" + t
		}
	}
	return &proviso.Error{Code: proviso.Invalid, Message: "unknown assertion type \"" + name + "\"", Valid: valid}
}

func (m *compiled) spec(ctx context.Context, v any) Spec {
	return Spec{Assertion: m.Assertion, Base: m.base, Not: m.not, Value: v, Threshold: m.threshold, HasThreshold: m.hasLimit, kind: m.kind, ctx: ctx}
}

func (c *Compiler) condition(text string) (*expr.Condition, error) {
	if p, ok := c.conditions.Get(text); ok {
		return p, nil
	}
	p, err := expr.Compile(text)
	if err == nil {
		c.conditions.Add(text, p)
	}
	return p, err
}

// function compiles a script once, regardless of how many assertions have it.
// Starting an interpreter takes time, so other scripts are compiled in the
// meantime.
func (c *Compiler) function(src proviso.Source) (proviso.Function, error) {
	key := functionKey{src.Language, src.Name, src.Text, src.Entry, strings.Join(src.Params, ","), src.File, src.Form, src.Purpose}
	c.mu.Lock()
	known, ok := c.functions[key]
	if ok {
		c.mu.Unlock()
		<-known.done
		return known.fn, known.err
	}
	mine := &compiling{done: make(chan struct{})}
	if len(c.functions) < maxShared {
		c.functions[key] = mine
	}
	c.mu.Unlock()
	mine.fn, mine.err = c.Code.Compile(context.Background(), src)
	close(mine.done)
	if mine.err != nil {
		c.mu.Lock()
		delete(c.functions, key) // a missing part may exist at the next attempt
		c.mu.Unlock()
	}
	return mine.fn, mine.err
}
