package jsonschema

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// groupOf returns the type whose group of keywords contains keyword, 0 if the
// keyword applies to any type. The keyword format is in two groups. rule is false
// for a keyword that Ajv does not use in validation: a schema with only such
// keywords accepts everything.
func groupOf(keyword string) (group types, rule bool) {
	switch keyword {
	case "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf":
		return typeNumber, true
	case "maxLength", "minLength", "pattern", "formatMaximum", "formatMinimum", "formatExclusiveMaximum", "formatExclusiveMinimum":
		return typeString, true
	case "format":
		return typeNumber | typeString, true
	case "maxItems", "minItems", "additionalItems", "items", "contains", "uniqueItems":
		return typeArray, true
	case "maxProperties", "minProperties", "required", "propertyNames", "additionalProperties", "dependencies",
		"properties", "patternProperties":
		return typeObject, true
	case "$comment", "id", "$ref", "type", "nullable", "const", "enum", "not", "anyOf", "oneOf", "allOf", "if", "then", "else":
		return 0, true
	}
	return 0, false
}

func isRule(keyword string) bool {
	_, rule := groupOf(keyword)
	return rule
}

// isAnnotation reports whether Ajv knows keyword but ignores it.
func isAnnotation(keyword string) bool {
	switch keyword {
	case "$async", "$schema", "$id", "$defs", "$vocabulary", "definitions", "title", "description", "default",
		"deprecated", "readOnly", "writeOnly", "examples", "contentMediaType", "contentEncoding", "contentSchema":
		return true
	}
	return false
}

// checkKeywords refuses unknown keywords.
func (c *compiler) checkKeywords(s *value.Object) error {
	if s.Has("id") {
		return invalid(`NOT SUPPORTED: keyword "id", use "$id" for schema ID`)
	}
	if c.Lax {
		return nil
	}
	for _, k := range s.Keys() {
		if !isRule(k) && !isAnnotation(k) {
			return &proviso.Error{Code: proviso.Invalid, Err: &KeywordError{k}}
		}
	}
	return nil
}

// checkCombination refuses keywords that have no effect with, or without, others.
func (c *compiler) checkCombination(s *value.Object) error {
	if c.Lax {
		return nil
	}
	for _, branch := range []string{"then", "else"} {
		if s.Has(branch) && !s.Has("if") {
			return invalid("strict mode: %q without \"if\" is ignored", branch)
		}
	}
	if s.Has("if") && !s.Has("then") && !s.Has("else") {
		return invalid(`strict mode: "if" without "then" and "else" is ignored`)
	}
	if s.Has("additionalItems") {
		if _, ok := s.At("items").([]any); !ok {
			return invalid(`strict mode: "additionalItems" is ignored when "items" is not an array of schemas`)
		}
	}
	return nil
}

// acceptsAll reports whether a schema accepts everything. Ajv leaves such a schema
// out of the validation.
func (c *compiler) acceptsAll(schema any) (bool, error) {
	switch s := schema.(type) {
	case bool:
		return s, nil
	case *value.Object:
		if s.Len() == 0 {
			return true, nil
		}
		if err := c.checkKeywords(s); err != nil {
			return false, err
		}
		if slices.ContainsFunc(s.Keys(), isRule) {
			return false, nil
		}
		return true, nil
	}
	return false, nil
}

// onlyRef reports whether a schema contains only $ref.
func onlyRef(s *value.Object) bool {
	for _, k := range s.Keys() {
		if k != "$ref" && isRule(k) {
			return false
		}
	}
	return s.Has("$ref")
}

// typesOfSchema reads type and nullable.
func typesOfSchema(s *value.Object) (types, error) {
	var set types
	names, isList := s.At("type").([]any)
	if !isList && s.Has("type") {
		names = []any{s.At("type")}
	}
	for _, name := range names {
		text, _ := name.(string)
		t := typeNamed(text)
		if t == 0 {
			return 0, invalid("type must be JSONType or JSONType[]: %s", value.ToString(s.At("type")))
		}
		set |= t
	}
	nullable, has := s.Get("nullable")
	if !has {
		return set, nil
	}
	yes, ok := nullable.(bool)
	switch {
	case !ok:
		return 0, invalid(`nullable value must be "boolean"`)
	case set&typeNull != 0 && !yes:
		return 0, invalid(`"type: null" contradicts "nullable: false"`)
	case set == 0:
		return 0, invalid(`"nullable" cannot be used without "type"`)
	case yes:
		set |= typeNull
	}
	return set, nil
}

// groupsOf returns the groups of which s has keywords.
func groupsOf(s *value.Object) types {
	var set types
	for _, k := range s.Keys() {
		group, _ := groupOf(k)
		set |= group
	}
	return set
}

// typeText is the type in the form for messages.
func typeText(raw any) string {
	list, ok := raw.([]any)
	if !ok {
		return value.ToString(raw)
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = value.ToString(t)
	}
	return strings.Join(names, ",")
}
