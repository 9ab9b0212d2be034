package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// checksNothing is the end of a warning about an assertion that promptfoo runs
// although it has no effect.
const checksNothing = ": it checks nothing"

// pointless explains why an assertion does not check what it is meant to: its value
// has the wrong shape or unknown keys. The value is the one to compare with.
func (m *compiled) pointless(val any) []*proviso.Error {
	var all []*proviso.Error
	add := func(e *proviso.Error, at string) {
		e.Pointer = m.Pointer + "/" + at
		all = append(all, e)
	}
	if m.kind.Type == proviso.TypeSet && len(m.Assert) == 0 && !m.Broken {
		add(proviso.Errorf(proviso.Invalid, "\"assert-set\" has no assertions under assert"), "type")
	}
	switch v := val.(type) {
	case value.Undefined:
		if m.kind.Text {
			add(proviso.Errorf(proviso.Invalid, "%q has no value to compare with", m.Type), "type")
		}
	case []any:
		if len(v) == 0 && !m.kind.Empty {
			add(proviso.Errorf(proviso.Invalid, "the list of %q is empty", m.Type), "value")
		}
	case *value.Object:
		if m.kind.Keys != "" {
			for _, e := range m.objectShape(v) {
				add(e, "value/"+e.Pointer)
			}
		}
	}
	return all
}

// objectShape finds unknown keys of the value, and texts in place of numbers. The
// pointers are relative to the value.
func (m *compiled) objectShape(o *value.Object) []*proviso.Error {
	known, numbers := strings.Fields(m.kind.Keys), strings.Fields(m.kind.Numbers)
	var all []*proviso.Error
	for key, v := range o.All() {
		var e *proviso.Error
		_, isNumber := v.(float64)
		switch {
		case !slices.Contains(known, key):
			e = unknownKey(key, "the value of \""+m.Type+"\"", known)
		case slices.Contains(numbers, key) && !isNumber && v != nil:
			if e = m.noNumber(key, v); e == nil {
				continue
			}
		default:
			continue
		}
		e.Pointer = document.Join("", key)[1:]
		all = append(all, e)
	}
	for i, step := range stepsOf(o) {
		for key := range step.All() {
			if known := []string{"name", "pattern", "type"}; !slices.Contains(known, key) {
				e := unknownKey(key, "a step of \""+m.Type+"\"", known)
				e.Pointer = "steps/" + strconv.Itoa(i) + "/" + document.Join("", key)[1:]
				all = append(all, e)
			}
		}
	}
	if inner, ok := o.At("assert").(*value.Object); ok && slices.Contains(known, "assert") {
		for _, e := range assertionShape(inner) {
			e.Pointer = "assert/" + e.Pointer
			all = append(all, e)
		}
	}
	return all
}

// noNumber returns the mistake of a value that must be a number; nil if the type
// itself refuses it.
func (m *compiled) noNumber(key string, v any) *proviso.Error {
	e := proviso.Errorf(proviso.Invalid, "%s of %q must be a number, not %s", key, m.Type, value.Stringify(v))
	if !m.kind.Coerced {
		return e
	}
	f := value.ToNumber(v)
	if text, ok := v.(string); !ok || f != f || strings.TrimSpace(text) == "" {
		return nil
	}
	if m.c.Lenient {
		e.Message, e.Warning = e.Message+"; it is read as "+value.FormatNumber(f), true
	}
	return e
}

// present returns a value without the keys that hold null, because these count as
// absent. The value to compare with may itself be null.
func (k *Kind) present(val any) any {
	o, ok := val.(*value.Object)
	if !ok || k.Keys == "" {
		return val
	}
	clean := o
	for key, v := range o.All() {
		if v != nil || key == "equals" || key == "args" || key == "arguments" {
			continue
		}
		if clean == o {
			clean = o.Clone()
		}
		clean.Delete(key)
	}
	return clean
}

// stepsOf returns the members of steps; those that are not objects are nil.
func stepsOf(o *value.Object) []*value.Object {
	list, _ := o.At("steps").([]any)
	steps := make([]*value.Object, len(list))
	for i, v := range list {
		steps[i], _ = v.(*value.Object)
	}
	return steps
}

// assertionShape finds the unknown keys, and values of the wrong kind, of an
// assertion in the value of another. For all other assertions package suite does
// that.
func assertionShape(o *value.Object) []*proviso.Error {
	var all []*proviso.Error
	for key, v := range o.All() {
		var e *proviso.Error
		switch k := assertion.KeyOf(key); {
		case k == nil:
			e = unknownKey(key, "an assertion", assertion.Keys())
		case !k.Kind.Has(v):
			e = proviso.Errorf(proviso.Invalid, "%s takes %s, not %s", key, kindsWanted(k.Kind), kindOf(v))
		default:
			continue
		}
		e.Pointer = document.Join("", key)[1:]
		all = append(all, e)
	}
	return all
}

// kindsWanted names the kinds of value that a key takes.
func kindsWanted(kinds kind.Set) string {
	if kinds == kind.Boolean {
		return "true or false"
	}
	return kinds.String()
}

func unknownKey(key, of string, known []string) *proviso.Error {
	return &proviso.Error{Code: proviso.Invalid, Message: "unknown key \"" + key + "\" in " + of, Valid: known}
}
