package suite

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// maxSetDepth limits the nesting of assertions.
const maxSetDepth = 8

// assertionHints explain common keys that do not exist.
var assertionHints = map[string]string{
	"asserts": "assert", "assertions": "assert", "expected": "value", "values": "value", "name": "metric",
	"score": "threshold", "min": "value: {min: …}", "max": "value: {max: …}", "rubric": "value",
	"model": "provider", "schema": "value", "pattern": "value", "label": "metric",
}

// assertions decodes a list of assertions and records its mistakes. Assertions with
// mistakes are kept as broken, so that further mistakes in them are found.
func (r *reading) assertions(doc *document.Document, pointer string, v any) []*proviso.Assertion {
	d := decoder{promptfoo: r.promptfoo, facts: r.options.Facts, trust: r.trust, files: r.files, load: r.yaml, report: r.recordIn(doc)}
	return d.assertions(r.at(doc, pointer), v)
}

// decoder turns the objects of a suite into assertions and cases. It passes pointers
// through; report knows what they are relative to.
type decoder struct {
	promptfoo bool // unknown keys are warnings
	facts     proviso.Facts
	trust     *Trust                                        // limits of an untrusted suite
	files     *Files                                        // files that it may read
	load      func(name string) (*document.Document, error) // reads a file of the suite; nil if there is none
	report    func(*proviso.Error)                          // receives every mistake
	enough    func() bool                                   // whether the limit of mistakes is reached; nil if there is no limit
	depth     int                                           // nesting of assertions
	failed    bool                                          // a mistake that is not a warning was reported
	last      []*proviso.Assertion                          // the previous list, whose equal assertions are shared
	providers map[string]any                                // by name of files that were read
}

func (d *decoder) mistake(at, format string, args ...any) {
	d.failed = true
	e := proviso.Errorf(proviso.Invalid, format, args...)
	e.Pointer = at
	d.report(e)
}

func (d *decoder) warn(at, format string, args ...any) {
	e := proviso.Errorf(proviso.Invalid, format, args...)
	e.Pointer, e.Warning = at, true
	d.report(e)
}

// unknownKey reports an unknown key: an error, but a warning in a suite of
// promptfoo's shape, where such keys are ignored.
func (d *decoder) unknownKey(at, key, of string, valid []string, hint string) {
	if d.enough != nil && d.enough() {
		d.failed = d.failed || !d.promptfoo
		return // finding the nearest name takes time
	}
	e := proviso.Errorf(proviso.Invalid, "unknown key %q in %s", key, of)
	e.Pointer, e.Valid, e.Warning = document.Join(at, key)+keyMark, nearest(key, valid), d.promptfoo
	if hint != "" {
		e.Message += "; write " + hint
		e.Valid = nil
	}
	d.failed = d.failed || !d.promptfoo
	d.report(e)
}

// nearest reduces the valid names to the one that was probably meant, if one is near.
func nearest(name string, valid []string) []string {
	if near := document.Nearest(name, valid); near != "" {
		return []string{near}
	}
	return valid
}

// assertions decodes the list of assertions at a pointer.
func (d *decoder) assertions(at string, v any) []*proviso.Assertion {
	list, ok := v.([]any)
	switch {
	case ok:
	case v == nil:
		return nil
	case isAssertionLike(v):
		d.mistake(at, "expected a list of assertions; put a dash before the first key")
		return nil
	default:
		d.mistake(at, "expected a list of assertions, got %s", kindOf(v))
		return nil
	}
	if len(list) == 0 {
		return nil
	}
	return d.members(at, list)
}

// members decodes the assertions of a list. If the previous list had the same object
// at this position, the assertion is reused.
func (d *decoder) members(at string, list []any) []*proviso.Assertion {
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
			if !d.assertion(a, pointers.at(i), e) {
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
func (d *decoder) before(i int, e any) *proviso.Assertion {
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

// assertion decodes one assertion into a and reports whether it has a type.
func (d *decoder) assertion(a *proviso.Assertion, at string, v any) bool {
	o, ok := v.(*value.Object)
	if !ok {
		d.notAssertion(at, v)
		return false
	}
	before := d.failed
	d.failed = false
	a.Raw, a.Pointer = redact(d.facts.Types, o), at
	a.Value, a.Threshold = value.Undefined{}, value.Undefined{}
	for key, m := range o.All() {
		if !d.commonKey(a, at, key, m) && !d.ownKey(a, at, key, m) && !d.isTypeForKey(o, key) {
			d.unknownKey(at, key, "an assertion", proviso.AssertionKeys(), assertionHints[key])
		}
	}
	d.checkType(a, at)
	d.guard().assertion(at, o)
	a.Broken = d.failed
	d.failed = d.failed || before
	return a.Type != ""
}

// commonKey decodes the keys that promptfoo also has.
func (d *decoder) commonKey(a *proviso.Assertion, at, key string, m any) bool {
	switch key {
	case "type":
		if s, ok := m.(string); ok {
			a.Type = s
		} else {
			d.mistake(at+"/type", "expected the name of an assertion type, got %s", kindOf(m))
		}
	case "value":
		a.Value = m
	case "threshold":
		a.Threshold = d.threshold(at+"/threshold", m)
	case "weight":
		if f, ok := m.(float64); ok {
			a.Weight = &f
		} else if m != nil {
			d.mistake(at+"/weight", "expected a number, got %s", kindOf(m))
		}
	case "metric":
		a.Metric = d.label(at+"/metric", m)
	case "provider":
		a.Provider = d.grader(at+"/provider", m)
	case "rubricPrompt":
		a.RubricPrompt = m
	case "transform":
		a.Transform = d.text(at+"/transform", m)
	case "contextTransform":
		a.ContextTransform = d.text(at+"/contextTransform", m)
	case "config":
		a.Config = d.object(at+"/config", m)
	case "assert":
		a.Assert = d.nested(at+"/assert", m)
	default:
		return false
	}
	return true
}

// ownKey decodes the keys that proviso adds, and accepts those that one type reads
// from Raw.
func (d *decoder) ownKey(a *proviso.Assertion, at, key string, m any) bool {
	switch key {
	case "id":
		a.ID = d.label(at+"/id", m)
	case "scope":
		a.Scope = d.scope(at+"/scope", m)
	case "ignoreCase":
		a.IgnoreCase = d.flag(at+"/ignoreCase", m)
	case "when":
		a.When = d.text(at+"/when", m)
	case "severity":
		a.Severity = proviso.Severity(d.oneOf(at+"/severity", m, severities))
	case "instruction":
		a.Instruction = d.text(at+"/instruction", m)
	case "criteria":
		a.Criteria = d.criteria(at+"/criteria", m)
	case "check":
		if m == nil {
			return true
		}
		if list := d.nested(at+"/check", []any{m}); len(list) == 1 {
			a.Check = list[0]
			a.Check.Pointer = at + "/check"
		}
	case "description", "alpha", "beta", "gamma":
	default:
		return false
	}
	return true
}

var severities = []string{string(proviso.Must), string(proviso.Should), string(proviso.Info)}

// nested decodes assertions within an assertion.
func (d *decoder) nested(at string, m any) []*proviso.Assertion {
	if d.depth >= maxSetDepth {
		d.mistake(at, "assertions nest deeper than %d", maxSetDepth)
		return nil
	}
	d.depth++
	defer func() { d.depth-- }()
	return d.assertions(at, m)
}

// checkType checks that an assertion has a type. A judged assertion does not need
// one.
func (d *decoder) checkType(a *proviso.Assertion, at string) {
	if a.Type != "" {
		return
	}
	if t, ok := a.Raw.Get("type"); ok {
		if t == "" || t == nil {
			d.mistake(at+"/type", "the type is empty")
		}
		return
	}
	if a.Instruction != "" || len(a.Criteria) > 0 || a.Raw.At("check") != nil {
		a.Type = proviso.TypeJudge
		return
	}
	for key := range a.Raw.All() {
		if d.isTypeForKey(a.Raw, key) {
			d.mistake(at, "an assertion needs a type; write {type: %s, value: …}", key)
			return
		}
	}
	if a.Raw.Has("value") {
		d.mistake(at, "an assertion needs a type, such as {type: contains, value: …}")
		return
	}
	d.mistake(at, "an assertion needs a type")
}

// isTypeForKey reports whether an assertion without a type has the name of one
// as a key, as in {contains: Paris}.
func (d *decoder) isTypeForKey(o *value.Object, key string) bool {
	if o.Has("type") {
		return false
	}
	return d.facts.Types.Of(key) != nil
}

func (d *decoder) notAssertion(at string, v any) {
	s, ok := v.(string)
	if !ok {
		d.mistake(at, "expected an assertion, got %s", kindOf(v))
		return
	}
	if len(s) < 200 {
		if a := Cells(d.facts.Types).parseTyped(s); a != nil {
			d.mistake(at, "expected an assertion, got a text; write {type: %s, value: …}", a.At("type"))
			return
		}
	}
	d.mistake(at, "expected an assertion such as {type: contains, value: …}, got a text")
}

// threshold accepts a number, or a text that the type may parse as one.
func (d *decoder) threshold(at string, m any) any {
	switch m.(type) {
	case float64, string, value.Undefined:
		return m
	case nil:
		return value.Undefined{}
	}
	d.mistake(at, "expected a number, got %s", kindOf(m))
	return value.Undefined{}
}
