package jsonschema

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// objectRules are the keywords for objects.
type objectRules struct {
	maxProperties, minProperties bound
	required                     []string
	names                        *node // propertyNames
	extra                        *extraRule
	dependencies                 []dependency
	properties                   []member
	patterns                     []patternRule
}

// member is a property with its schema.
type member struct {
	key string
	sub *node
}

// patternRule is one entry of patternProperties; sub is nil if it accepts anything.
type patternRule struct {
	match Matcher
	sub   *node
}

// extraRule is additionalProperties: deny, or a schema.
type extraRule struct {
	sub      *node // nil: none is allowed
	declared map[string]struct{}
	patterns []patternRule
}

// dependency is what the presence of a property requires: other properties, or a
// schema.
type dependency struct {
	key   string
	needs []string
	sub   *node
}

func (r *objectRules) check(n *node, v *value.Object, s *state) bool {
	size := float64(v.Len())
	if r.maxProperties.set && size > r.maxProperties.n {
		return s.counted(n, "maxProperties", "more", "properties", r.maxProperties.n)
	}
	if r.minProperties.set && size < r.minProperties.n {
		return s.counted(n, "minProperties", "fewer", "properties", r.minProperties.n)
	}
	for _, key := range r.required {
		if !v.Has(key) {
			return s.fail(n, "required", func() (string, *value.Object) {
				return "must have required property '" + key + "'", value.ObjectOf("missingProperty", key)
			})
		}
	}
	if r.names != nil && !r.named(n, v, s) {
		return false
	}
	if r.extra != nil && !r.extra.check(n, v, s) {
		return false
	}
	for i := range r.dependencies {
		if !r.dependencies[i].check(n, v, s) {
			return false
		}
	}
	for i := range r.properties {
		m := &r.properties[i]
		if value, ok := v.Get(m.key); ok && !s.member(m.sub, m.key, value) {
			return false
		}
	}
	return len(r.patterns) == 0 || r.patterned(v, s)
}

func (s *state) member(sub *node, key string, value any) bool {
	mark := len(s.errs)
	if sub.check(value, s) {
		return true
	}
	s.within(mark, key)
	return false
}

func (r *objectRules) named(n *node, v *value.Object, s *state) bool {
	for _, key := range v.Keys() {
		was, outer, named := s.compose(), s.name, s.named
		s.name, s.named = key, true
		ok := r.names.check(key, s)
		s.composite, s.name, s.named = was, outer, named
		if ok {
			continue
		}
		return s.fail(n, "propertyNames", func() (string, *value.Object) {
			return "property name must be valid", value.ObjectOf("propertyName", key)
		})
	}
	return true
}

func (r *objectRules) patterned(v *value.Object, s *state) bool {
	for i := range r.patterns {
		p := &r.patterns[i]
		if p.sub == nil {
			continue
		}
		for key, value := range v.All() {
			if s.matches(p.match, key) && !s.member(p.sub, key, value) {
				return false
			}
		}
	}
	return true
}

func (r *extraRule) check(n *node, v *value.Object, s *state) bool {
	for _, key := range v.Keys() {
		if _, ok := r.declared[key]; ok || r.matched(key, s) {
			continue
		}
		if r.sub == nil {
			return s.fail(n, "additionalProperties", func() (string, *value.Object) {
				return "must NOT have additional properties", value.ObjectOf("additionalProperty", key)
			})
		}
		if !s.member(r.sub, key, v.At(key)) {
			return false
		}
	}
	return true
}

func (r *extraRule) matched(key string, s *state) bool {
	for i := range r.patterns {
		if s.matches(r.patterns[i].match, key) {
			return true
		}
	}
	return false
}

func (d *dependency) check(n *node, v *value.Object, s *state) bool {
	if !v.Has(d.key) {
		return true
	}
	if d.sub != nil {
		return d.sub.check(v, s)
	}
	for _, need := range d.needs {
		if v.Has(need) {
			continue
		}
		return s.fail(n, "dependencies", func() (string, *value.Object) {
			noun, all := "property", strings.Join(d.needs, ", ")
			if len(d.needs) != 1 {
				noun = "properties"
			}
			return "must have " + noun + " " + all + " when property " + d.key + " is present",
				value.ObjectOf("property", d.key, "missingProperty", need, "depsCount", float64(len(d.needs)), "deps", all)
		})
	}
	return true
}
