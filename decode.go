package proviso

import (
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// AssertionKeys returns the keys of an assertion in a suite. Only one type uses
// alpha, beta and gamma.
func AssertionKeys() []string {
	return []string{
		"type", "value", "threshold", "weight", "metric", "provider", "rubricPrompt", "transform", "contextTransform",
		"config", "assert", "id", "scope", "ignoreCase", "when", "severity", "instruction", "criteria", "check",
		"description", "alpha", "beta", "gamma",
	}
}

// AssertionOf reads an assertion from an object of a suite. It ignores what it does
// not know: package suite reports the mistakes. pointer is the pointer of the object
// itself; members get theirs below it.
func AssertionOf(o *value.Object, pointer string) *Assertion {
	a := &Assertion{Value: value.Undefined{}, Threshold: value.Undefined{}, Raw: o, Pointer: pointer}
	for key, v := range o.All() {
		a.set(key, v)
	}
	return a
}

// set reads one member of the object. Members of the wrong kind are left out.
func (a *Assertion) set(key string, v any) {
	switch key {
	case "value":
		a.Value = v
	case "threshold":
		a.Threshold = v
	case "provider":
		a.Provider = v
	case "rubricPrompt":
		a.RubricPrompt = v
	case "weight":
		if f, ok := v.(float64); ok {
			a.Weight = &f
		}
	case "ignoreCase":
		a.IgnoreCase, _ = v.(bool)
	case "config":
		a.Config, _ = v.(*value.Object)
	case "assert":
		a.Assert = assertionsOf(v, a.Pointer+"/assert")
	case "scope":
		a.Scope = scopeOf(v)
	case "check":
		if o, ok := v.(*value.Object); ok {
			a.Check = AssertionOf(o, a.Pointer+"/check")
		}
	case "criteria":
		a.Criteria = criteriaOf(v)
	default:
		a.setText(key, v)
	}
}

func (a *Assertion) setText(key string, v any) {
	text, ok := v.(string)
	if !ok {
		return
	}
	switch key {
	case "id":
		a.ID = text
	case "type":
		a.Type = text
	case "metric":
		a.Metric = text
	case "transform":
		a.Transform = text
	case "contextTransform":
		a.ContextTransform = text
	case "when":
		a.When = text
	case "severity":
		a.Severity = Severity(text)
	case "instruction":
		a.Instruction = text
	}
}

func assertionsOf(v any, pointer string) []*Assertion {
	list, _ := v.([]any)
	out := make([]*Assertion, 0, len(list))
	for i, e := range list {
		if o, ok := e.(*value.Object); ok {
			out = append(out, AssertionOf(o, pointer+"/"+strconv.Itoa(i)))
		}
	}
	return out
}

// scopeOf reads a scope of a suite; nil if v is not an object.
func scopeOf(v any) *Scope {
	o, ok := v.(*value.Object)
	if !ok {
		return nil
	}
	text := func(o *value.Object, key string) string {
		s, _ := o.At(key).(string)
		return s
	}
	section, _ := o.At("section").(*value.Object)
	return &Scope{
		Of: text(o, "of"), Each: text(o, "each"), Match: text(o, "match"),
		From: text(section, "from"), To: text(section, "to"),
	}
}

// criteriaOf reads criteria: texts, or objects that name a shipped template with its
// parameters.
func criteriaOf(v any) []Criterion {
	list, _ := v.([]any)
	var out []Criterion
	for _, e := range list {
		switch e := e.(type) {
		case string:
			out = append(out, Criterion{Text: e})
		case *value.Object:
			c := Criterion{}
			c.Text, _ = e.At("text").(string)
			c.Template, _ = e.At("template").(string)
			c.Params, _ = e.At("params").(*value.Object)
			out = append(out, c)
		}
	}
	return out
}
