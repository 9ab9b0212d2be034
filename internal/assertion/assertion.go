// Package assertion reads assertions from the objects of suites, requests and results
// of scripts. Start at [Decoder], or at [Of] for an object that needs no checking.
package assertion

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// maxDepth limits the nesting of assertions.
const maxDepth = 8

// Decoder turns objects into assertions and reports every mistake. It passes pointers
// through; Report knows what they are relative to.
type Decoder struct {
	Lenient bool                 // unknown keys are warnings, as in a suite of promptfoo's shape
	Report  func(*proviso.Error) // receives every mistake
	Enough  func() bool          // whether the limit of mistakes is reached; nil if there is no limit
	Owner   Owner                // the reader of the whole suite; nil if there is none
	Failed  bool                 // a mistake that is not a warning was reported

	unchecked bool                 // nothing is reported; see [Of]
	depth     int                  // nesting of assertions
	last      []*proviso.Assertion // the previous list, whose equal assertions are shared
}

// Owner is the reader of the suite that assertions are in.
type Owner interface {
	// Redact returns an assertion without its secrets.
	Redact(o *value.Object) *value.Object
	// Guard reports the parts of an assertion that its suite may not have.
	Guard(at string, o *value.Object)
	// Provider reads the provider of an assertion.
	Provider(at string, v any) any
	// IsType reports whether there is a type with a name, which may begin with "not-".
	IsType(name string) bool
	// TypeOf returns the type that a text such as "contains: Paris" names, or "".
	TypeOf(text string) string
}

// Of reads an assertion without reporting mistakes: it leaves out unknown keys and
// values of the wrong kind, and keeps values that types check themselves. pointer is
// the pointer of the object.
func Of(o *value.Object, pointer string) *proviso.Assertion {
	d := Decoder{unchecked: true}
	a := &proviso.Assertion{}
	d.Assertion(a, pointer, o)
	return a
}

// List decodes the list of assertions at a pointer.
func (d *Decoder) List(at string, v any) []*proviso.Assertion {
	list, ok := v.([]any)
	switch {
	case ok:
	case v == nil:
		return nil
	case isAssertionLike(v):
		d.Mistake(at, "expected a list of assertions; put a dash before the first key")
		return nil
	default:
		d.Mistake(at, "expected a list of assertions, got %s", kind.Shown(v))
		return nil
	}
	if len(list) == 0 {
		return nil
	}
	return d.members(at, list)
}

// members decodes the assertions of a list. If the previous list had the same
// object at this position, it reuses that assertion.
func (d *Decoder) members(at string, list []any) []*proviso.Assertion {
	fresh := 0
	for i, e := range list {
		if d.before(i, e) == nil {
			fresh++
		}
	}
	if fresh == 0 && len(list) == len(d.last) {
		return d.last
	}
	decoded := make([]proviso.Assertion, fresh)
	out := make([]*proviso.Assertion, 0, len(list))
	pointers := memberPointers(at, len(list))
	for i, e := range list {
		a := d.before(i, e)
		if a == nil {
			a, decoded = &decoded[0], decoded[1:]
			if !d.Assertion(a, pointers.at(i), e) {
				continue
			}
		}
		out = append(out, a)
	}
	if d.depth == 0 {
		d.last = out
	}
	return out
}

// before returns the assertion that e was decoded to in the previous list, or nil.
func (d *Decoder) before(i int, e any) *proviso.Assertion {
	if d.depth > 0 || i >= len(d.last) || d.last[i].Broken { // a mistake is reported at each of its places
		return nil
	}
	if o, ok := e.(*value.Object); ok && d.last[i].Raw == o {
		return d.last[i]
	}
	return nil
}

func isAssertionLike(v any) bool {
	o, ok := v.(*value.Object)
	return ok && o.Has("type")
}

// Assertion decodes one assertion into a and reports whether it has a type.
func (d *Decoder) Assertion(a *proviso.Assertion, at string, v any) bool {
	o, ok := v.(*value.Object)
	if !ok {
		d.notAssertion(at, v)
		return false
	}
	before := d.Failed
	d.Failed = false
	a.Raw, a.Pointer = o, at
	if d.Owner != nil {
		a.Raw = d.Owner.Redact(o)
	}
	a.Value, a.Threshold = value.Undefined{}, value.Undefined{}
	for key, m := range o.All() {
		if k := KeyOf(key); k != nil {
			d.member(a, k, at, m)
		} else if !d.unchecked && !d.isTypeForKey(o, key) {
			d.UnknownKey(at, key, "an assertion", Keys(), hints[key])
		}
	}
	if d.unchecked {
		return true
	}
	d.checkType(a, at)
	if d.Owner != nil {
		d.Owner.Guard(at, o)
	}
	a.Broken = d.Failed
	d.Failed = d.Failed || before
	return a.Type != ""
}

// member decodes the value of one key.
func (d *Decoder) member(a *proviso.Assertion, k *Key, at string, v any) {
	if k.member == nil {
		return
	}
	if k.Kind == kind.Any && k.Name != "provider" {
		*k.member(a).(*any) = v
		return
	}
	if p, ok := k.member(a).(*string); ok {
		if s, ok := v.(string); ok {
			*p = s
			return
		}
	}
	at = document.Join(at, k.Name)
	switch p := k.member(a).(type) {
	case *string:
		*p = d.textOf(k, at, v)
	case *any:
		*p = d.anyOf(k, at, v)
	case **float64:
		*p = d.number(at, v)
	case *bool:
		*p = d.Flag(at, v)
	case **value.Object:
		*p = d.Object(at, v)
	case *proviso.Severity:
		*p = proviso.Severity(d.oneOf(at, v, severities))
	case **proviso.Scope:
		*p = d.scope(at, v)
	case *[]proviso.Criterion:
		*p = d.criteria(at, v)
	case *[]*proviso.Assertion:
		*p = d.nested(at, v)
	case **proviso.Assertion:
		*p = d.check(at, v)
	}
}

var severities = []string{string(proviso.Must), string(proviso.Should), string(proviso.Info)}

// textOf decodes the value of a key whose value is a text.
func (d *Decoder) textOf(k *Key, at string, v any) string {
	switch {
	case k.Name == "type":
		d.Mistake(at, "expected the name of an assertion type, got %s", kind.Shown(v))
		return ""
	case k.Kind == label:
		return d.Label(at, v)
	}
	return d.Text(at, v)
}

// anyOf decodes a provider or a threshold. A threshold is a number, or a text that the
// type may parse as one.
func (d *Decoder) anyOf(k *Key, at string, v any) any {
	if k.Name == "provider" {
		if d.Owner != nil {
			return d.Owner.Provider(at, v)
		}
		return v
	}
	switch {
	case d.unchecked:
		return v
	case v == nil:
		return value.Undefined{}
	case !k.Kind.Has(v):
		d.Mistake(at, "expected a number, got %s", kind.Shown(v))
		return value.Undefined{}
	}
	return v
}

// nested decodes assertions within an assertion.
func (d *Decoder) nested(at string, v any) []*proviso.Assertion {
	if !d.enter(at) {
		return nil
	}
	defer func() { d.depth-- }()
	return d.List(at, v)
}

// check decodes the one assertion of a check.
func (d *Decoder) check(at string, v any) *proviso.Assertion {
	if v == nil || !d.enter(at) {
		return nil
	}
	defer func() { d.depth-- }()
	a := &proviso.Assertion{}
	if !d.Assertion(a, at, v) {
		return nil
	}
	return a
}

// enter increases the depth, unless it is at its limit.
func (d *Decoder) enter(at string) bool {
	if d.depth >= maxDepth && !d.unchecked {
		d.Mistake(at, "assertions nest deeper than %d", maxDepth)
		return false
	}
	d.depth++
	return true
}

// checkType checks that an assertion has a type. A judged assertion does not need
// one.
func (d *Decoder) checkType(a *proviso.Assertion, at string) {
	if a.Type != "" {
		return
	}
	if t, ok := a.Raw.Get("type"); ok {
		if t == "" || t == nil {
			d.Mistake(at+"/type", "the type is empty")
		}
		return
	}
	if a.Instruction != "" || len(a.Criteria) > 0 || a.Raw.At("check") != nil {
		a.Type = proviso.TypeJudge
		return
	}
	for key := range a.Raw.All() {
		if d.isTypeForKey(a.Raw, key) {
			d.Mistake(at, "an assertion needs a type; write {type: %s, value: …}", key)
			return
		}
		if !d.Lenient && KeyOf(key) == nil && document.Nearest(key, []string{"type"}) != "" {
			return // the misspelled key was reported
		}
	}
	if a.Raw.Has("value") {
		d.Mistake(at, "an assertion needs a type, such as {type: contains, value: …}")
		return
	}
	d.Mistake(at, "an assertion needs a type")
}

// isTypeForKey reports whether an assertion without a type has the name of one
// as a key, as in {contains: Paris}.
func (d *Decoder) isTypeForKey(o *value.Object, key string) bool {
	return d.Owner != nil && !o.Has("type") && d.Owner.IsType(key)
}

func (d *Decoder) notAssertion(at string, v any) {
	s, ok := v.(string)
	if !ok {
		d.Mistake(at, "expected an assertion, got %s", kind.Shown(v))
		return
	}
	if d.Owner != nil && len(s) < 200 {
		if name := d.Owner.TypeOf(s); name != "" {
			d.Mistake(at, "expected an assertion, got a text; write {type: %s, value: …}", name)
			return
		}
	}
	d.Mistake(at, "expected an assertion such as {type: contains, value: …}, got a text")
}
