package suiteschema

import (
	"strings"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// computed is the pattern of a text that stands for another value: a file or a
// template.
const computed = `^file://|` + template

// template is the pattern of a text with a template.
const template = `\{\{|\{%|\{#`

// number is the pattern of a text that is read as a number.
const number = `^\s*([-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?)?\s*$`

// assertions defines assertions and their parts: each type, and its values.
func (b *builder) assertions() {
	b.define("section", fields("section"))
	b.define("criterion", fields("criterion"))
	scope := fields("scope")
	b.set(scope, "section", ref("section"))
	b.define("scope", scope)

	a := fields("assertion")
	b.set(a, "scope", ref("scope"))
	b.set(a, "check", ref("assertion"))
	b.set(a, "assert", listOf(ref("assertion"), ref("reference")))
	b.set(a, "criteria", value.ObjectOf("anyOf", []any{value.ObjectOf("type", types(kind.Text|kind.Null)), listOf(value.ObjectOf("type", "string"), ref("criterion"))}))
	b.set(a, "type", value.ObjectOf("anyOf", typeNames()))
	properties := a.At("properties").(*value.Object)
	properties.Set("$ref", value.ObjectOf("type", "string"))
	required := []any{}
	for _, key := range [...]string{"type", "instruction", "criteria", "check", "$ref"} {
		required = append(required, value.ObjectOf("required", []any{key}))
	}
	a.Set("anyOf", required)
	a.Set("allOf", valuesByType())
	b.define("assertion", a)
}

// set replaces the schema of a property and keeps its description.
func (b *builder) set(object *value.Object, key string, form *value.Object) {
	p := object.At("properties").(*value.Object).At(key).(*value.Object)
	p.Delete("type")
	p.Set("anyOf", []any{form, value.ObjectOf("type", "null")})
}

// typeNames lists every type, with a description of its value, and every negated
// type.
func typeNames() []any {
	var all, negated []any
	for _, k := range check.Kinds() {
		all = append(all, value.ObjectOf("const", k.Type, "description", "value: "+k.Value))
		negated = append(negated, "not-"+k.Type)
	}
	return append(all, value.ObjectOf("enum", negated, "description", "the negation of a type"))
}

// valuesByType describes the value of each type that reads one. Types whose values
// have the same form share a rule.
func valuesByType() []any {
	type rule struct {
		form  *value.Object
		names []any
		needs bool
	}
	var rules []*rule
	byForm := map[string]*rule{}
	for _, k := range check.Kinds() {
		if k.Takes == 0 || k.Takes == kind.Any {
			continue
		}
		form := valueForm(&k)
		needs := k.Takes&kind.Null == 0
		id := value.Stringify(form)
		r := byForm[id]
		if r == nil {
			r = &rule{form: form, needs: needs}
			byForm[id] = r
			rules = append(rules, r)
		}
		r.names = append(r.names, k.Type, "not-"+k.Type)
	}
	var all []any
	for _, r := range rules {
		then := value.ObjectOf("properties", value.ObjectOf("value", r.form))
		if r.needs {
			then.Set("required", []any{"value"})
		}
		all = append(all, value.ObjectOf("if", value.ObjectOf("required", []any{"type"}, "properties", value.ObjectOf("type", value.ObjectOf("enum", r.names))), "then", then))
	}
	return all
}

// valueForm describes the values that a type accepts.
func valueForm(k *check.Kind) *value.Object {
	var forms []any
	if rest := k.Takes &^ kind.Object; rest != 0 {
		forms = append(forms, value.ObjectOf("type", types(rest)))
	}
	if k.Takes&kind.Object != 0 {
		forms = append(forms, objectForm(k))
	}
	if k.Takes&kind.Text == 0 {
		pattern := computed
		if k.Coerced {
			pattern += "|" + number
		}
		forms = append(forms, value.ObjectOf("type", "string", "pattern", pattern))
	}
	if len(forms) == 1 {
		return forms[0].(*value.Object)
	}
	return value.ObjectOf("anyOf", forms)
}

// objectForm describes the keys of a value that is an object.
func objectForm(k *check.Kind) *value.Object {
	s := value.ObjectOf("type", "object")
	if k.Keys == "" {
		return s
	}
	properties := value.NewObject(0)
	numbers := " " + k.Numbers + " "
	for key := range strings.FieldsSeq(k.Keys) {
		member := value.NewObject(0)
		if strings.Contains(numbers, " "+key+" ") {
			number := value.ObjectOf("type", types(kind.Number|kind.Null))
			if member = number; k.Coerced { // it may be a variable of the case
				member = value.ObjectOf("anyOf", []any{number, value.ObjectOf("type", "string", "pattern", template)})
			}
		}
		properties.Set(key, member)
	}
	properties.Set("$ref", value.ObjectOf("type", "string"))
	s.Set("properties", properties)
	s.Set("additionalProperties", false)
	return s
}
