package subsume

import (
	"slices"

	"github.com/proviso-eval/proviso/internal/jsonschema"
	"github.com/proviso-eval/proviso/value"
)

// schemaFact requires JSON with a schema, or XML with elements.
type schemaFact struct {
	within bool        // somewhere in the output; otherwise the whole output
	schema *schemaForm // nil means any JSON
	moves  bool        // the schema's meaning depends on its place
	paths  []string    // required elements; nil for JSON
}

// stricter reports whether everything that conforms to s conforms to t.
func (s *schemaFact) stricter(t *schemaFact) bool {
	switch {
	case s.within != t.within || (s.paths == nil) != (t.paths == nil):
		return false
	case s.paths != nil:
		return containsEvery(s.paths, t.paths)
	case t.schema == nil:
		return true
	case s.schema == nil:
		return false
	}
	return s.schema.text == t.schema.text || !s.moves && !t.moves && s.schema.stricter(t.schema)
}

// schemaForm is a parsed schema, for many comparisons.
type schemaForm struct {
	text       string // equal texts are equal schemas
	everything bool   // the schema is true, or has no keyword
	never      bool   // the schema is false
	object     *value.Object
	simple     bool  // all keywords can be compared
	values     []any // the only allowed values, if listed
	listed     bool
	compiled   *jsonschema.Schema // nil if it does not compile by itself

	types      []string
	required   []string
	named      bool // required is a list of names
	names      []string
	properties map[string]*schemaForm
	rest       *schemaForm // additionalProperties; nil if absent
	items      *schemaForm // nil if absent, or a list
}

// maxSchemaDepth bounds how deeply schemas are read.
const maxSchemaDepth = 64

// readSchema reads a schema.
func readSchema(schema any, depth int) *schemaForm {
	f := &schemaForm{text: canonical(schema)}
	switch s := schema.(type) {
	case bool:
		f.everything, f.never = s, !s
	case *value.Object:
		f.object = s
	}
	if f.object == nil || depth > maxSchemaDepth {
		return f
	}
	f.simple, f.everything = true, true
	for key := range f.object.All() {
		known := slices.Contains(compared, key)
		remark := slices.Contains(remarks, key)
		f.simple = f.simple && (known || remark)
		f.everything = f.everything && remark
	}
	if v, ok := f.object.Get("const"); ok {
		f.values, f.listed = []any{v}, true
	} else {
		f.values, f.listed = f.object.At("enum").([]any)
	}
	f.types, _ = textsOf(f.object.At("type"))
	if list, ok := f.object.At("required").([]any); ok {
		f.required, f.named = textsOf(list)
	}
	f.compiled, _ = jsonschema.Compile(schema, jsonschema.Options{}) // patterns are compiled elsewhere
	f.parts(depth)
	return f
}

// parts reads the nested schemas of a schema.
func (f *schemaForm) parts(depth int) {
	if list, ok := f.object.At("properties").(*value.Object); ok {
		f.properties = map[string]*schemaForm{}
		for name, sub := range list.All() {
			f.properties[name] = readSchema(sub, depth+1)
			f.names = append(f.names, name)
		}
	}
	if sub, ok := f.object.Get("additionalProperties"); ok {
		f.rest = readSchema(sub, depth+1)
	}
	if sub, ok := f.object.Get("items"); ok {
		if _, tuple := sub.([]any); tuple {
			f.simple = false
		} else {
			f.items = readSchema(sub, depth+1)
		}
	}
}

// anything is the schema that accepts everything.
var anything = &schemaForm{text: "true", everything: true}

// refers reports whether the meaning of a schema, or of a part of it, depends on its place: it
// has references or reference targets.
func refers(schema any) bool {
	switch s := schema.(type) {
	case *value.Object:
		for key, v := range s.All() {
			switch key {
			case "$ref", "$id", "$schema", "$async", "$defs", "definitions", "$anchor", "$dynamicRef", "$recursiveRef", "$vocabulary":
				return true
			}
			if refers(v) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(s, refers)
	}
	return false
}

// compared are the keywords that [schemaForm.stricter] compares, and remarks those without
// effect.
var (
	compared = []string{
		"type", "enum", "const", "required", "properties", "additionalProperties", "items", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "pattern", "format",
		"multipleOf", "uniqueItems",
	}
	remarks = []string{"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"}
)

// stricter reports whether every value of schema f is valid under schema t, as far as this
// follows from keywords whose meaning does not depend on other keywords. A schema with other
// keywords is only compared with an equal one.
func (f *schemaForm) stricter(t *schemaForm) bool {
	switch {
	case t.everything || f.never || f.text == t.text:
		return true
	case f.listed:
		return t.hasAll(f.values)
	case !f.simple && !f.everything || !t.simple:
		return false
	}
	for key := range t.object.All() {
		if !slices.Contains(remarks, key) && !f.implies(key, t) {
			return false
		}
	}
	return true
}

// hasAll reports whether all values are valid under a schema.
func (f *schemaForm) hasAll(values []any) bool {
	return f.compiled != nil && !slices.ContainsFunc(values, func(v any) bool {
		mistakes, err := f.compiled.Validate(v)
		return err != nil || mistakes != nil
	})
}

// implies reports whether f implies keyword key of t.
func (f *schemaForm) implies(key string, t *schemaForm) bool {
	a, b := f.object, t.object
	switch key {
	case "type":
		return typesWithin(f.types, t.types)
	case "required":
		return t.named && containsEvery(f.required, t.required)
	case "properties":
		return f.properly(t)
	case "additionalProperties":
		return f.barely(t)
	case "items":
		return f.items != nil && t.items != nil && f.items.stricter(t.items)
	case "minimum":
		return reaches(a, key, b, key) || reaches(a, "exclusiveMinimum", b, key)
	case "maximum":
		return reaches(b, key, a, key) || reaches(b, key, a, "exclusiveMaximum")
	case "exclusiveMinimum", "minLength", "minItems", "minProperties":
		return reaches(a, key, b, key)
	case "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		return reaches(b, key, a, key)
	case "uniqueItems":
		return b.At(key) == false || a.At(key) == true
	}
	v, ok := a.Get(key) // pattern, format, multipleOf, enum, const
	return ok && canonical(v) == canonical(b.At(key))
}

// reaches reports whether the number under k in o is at least the number under l in p.
func reaches(o *value.Object, k string, p *value.Object, l string) bool {
	x, ok := o.At(k).(float64)
	y, also := p.At(l).(float64)
	return ok && also && x >= y
}

// typesWithin reports whether the types of one schema are among those of another; a schema
// without types allows all.
func typesWithin(some, all []string) bool {
	for _, t := range some {
		if !slices.Contains(all, t) && !(t == "integer" && slices.Contains(all, "number")) {
			return false
		}
	}
	return len(some) > 0
}

// others returns the schema of properties that f does not name.
func (f *schemaForm) others() *schemaForm {
	if f.rest == nil {
		return anything
	}
	return f.rest
}

// properly compares the schemas of properties that t names.
func (f *schemaForm) properly(t *schemaForm) bool {
	for _, name := range t.names {
		theirs := t.properties[name]
		mine, ok := f.properties[name]
		if !ok {
			mine = f.others()
		}
		if !mine.stricter(theirs) {
			return false
		}
	}
	return true
}

// barely compares the schemas of properties that t does not name.
func (f *schemaForm) barely(t *schemaForm) bool {
	for _, name := range f.names {
		if _, ok := t.properties[name]; !ok && !f.properties[name].stricter(t.rest) {
			return false
		}
	}
	return f.others().stricter(t.rest)
}
