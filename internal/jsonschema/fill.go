package jsonschema

import (
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

func (c *compiler) fillNumber(n *node, s *value.Object, _ place) error {
	r := &numberRules{
		maximum: boundOf(s, "maximum"), minimum: boundOf(s, "minimum"),
		below: boundOf(s, "exclusiveMaximum"), above: boundOf(s, "exclusiveMinimum"),
		multipleOf: boundOf(s, "multipleOf"),
	}
	f, err := c.format(n, s)
	if err != nil {
		return err
	}
	if f != nil && f.number != nil {
		r.format = f
	}
	n.number = r
	return nil
}

func (c *compiler) fillText(n *node, s *value.Object, _ place) error {
	r := &textRules{maxLength: boundOf(s, "maxLength"), minLength: boundOf(s, "minLength")}
	var err error
	if text, ok := s.At("pattern").(string); ok {
		r.patternText = text
		if r.pattern, err = c.pattern(text, "u"); err != nil {
			return err
		}
	}
	f, err := c.format(n, s)
	if err != nil {
		return err
	}
	if f != nil && f.text != nil {
		r.format = f
	}
	n.text = r
	return c.fillLimits(r, s, f)
}

// pattern compiles a regular expression of the schema.
func (c *compiler) pattern(text, flags string) (Matcher, error) {
	if err := c.ended(); err != nil {
		return nil, err
	}
	if c.Pattern == nil {
		return nil, proviso.Errorf(proviso.Unavailable, "JSON Schema: patterns cannot be compiled: no engine is available")
	}
	m, err := c.Pattern(text, flags)
	if err != nil {
		return nil, invalid("JSON Schema: invalid pattern %q: %w", text, err)
	}
	return m, nil
}

func (c *compiler) fillGeneral(n *node, s *value.Object, at place) (err error) {
	r := &generalRules{}
	if s.Has("$ref") {
		if r.ref, err = c.ref(s, at); err != nil {
			return err
		}
	}
	if v, ok := s.Get("const"); ok {
		r.constant = &v
	}
	if list, ok := s.At("enum").([]any); ok {
		r.allowed = newEnum(list)
	}
	if v, ok := s.Get("not"); ok {
		if r.not, err = c.useful(v, at.at("not")); err != nil {
			return err
		}
		r.notAny = r.not == nil
	}
	if err = c.fillCombined(r, s, at); err != nil {
		return err
	}
	if v, ok := s.Get("if"); ok {
		if r.cond, err = c.conditional(v, s, at); err != nil {
			return err
		}
	}
	if r.ref != nil || r.constant != nil || r.allowed != nil || r.not != nil || r.notAny || r.anyOf != nil || r.oneOf != nil || r.allOf != nil || r.cond != nil {
		n.general = r
	}
	return nil
}

func (c *compiler) fillCombined(r *generalRules, s *value.Object, at place) (err error) {
	if v, ok := s.Get("anyOf"); ok {
		all, err := c.someAcceptAll(v)
		if err != nil {
			return err
		}
		if !all {
			if r.anyOf, err = c.list(v, at.at("anyOf"), false); err != nil {
				return err
			}
		}
	}
	if v, ok := s.Get("oneOf"); ok {
		if r.oneOf, err = c.list(v, at.at("oneOf"), false); err != nil {
			return err
		}
	}
	if v, ok := s.Get("allOf"); ok {
		r.allOf, err = c.list(v, at.at("allOf"), true)
	}
	return err
}

// someAcceptAll reports whether a member of anyOf accepts everything.
func (c *compiler) someAcceptAll(v any) (bool, error) {
	list, _ := v.([]any)
	for _, s := range list {
		if all, err := c.acceptsAll(s); all || err != nil {
			return all, err
		}
	}
	return false, nil
}

func (c *compiler) conditional(test any, s *value.Object, at place) (*conditional, error) {
	r := &conditional{}
	var err error
	for _, branch := range []struct {
		name string
		to   **node
	}{{"then", &r.then}, {"else", &r.otherwise}} {
		if v, ok := s.Get(branch.name); ok {
			if *branch.to, err = c.useful(v, at.at(branch.name)); err != nil {
				return nil, err
			}
		}
	}
	if r.then == nil && r.otherwise == nil {
		return nil, nil
	}
	r.test, err = c.sub(test, at.at("if"))
	return r, err
}

func (c *compiler) fillList(n *node, s *value.Object, at place) (err error) {
	r := &listRules{maxItems: boundOf(s, "maxItems"), minItems: boundOf(s, "minItems")}
	n.list = r
	if err = c.fillItems(r, s, at); err != nil {
		return err
	}
	if v, ok := s.Get("contains"); ok {
		if r.contains, err = c.useful(v, at.at("contains")); err != nil {
			return err
		}
		r.containsAny = r.contains == nil
	}
	r.unique, _ = s.At("uniqueItems").(bool)
	if items, ok := s.At("items").(*value.Object); ok {
		if set, err := typesOfSchema(items); err == nil && set&(typeArray|typeObject) == 0 {
			r.scalar = set
		}
	}
	return nil
}

func (c *compiler) fillItems(r *listRules, s *value.Object, at place) (err error) {
	items, ok := s.Get("items")
	if !ok {
		return nil
	}
	tuple, isTuple := items.([]any)
	if !isTuple {
		r.items, err = c.useful(items, at.at("items"))
		return err
	}
	r.tuple = make([]*node, len(tuple))
	for i, sub := range tuple {
		if r.tuple[i], err = c.useful(sub, at.at("items", strconv.Itoa(i))); err != nil {
			return err
		}
	}
	rest, ok := s.Get("additionalItems")
	if !ok {
		return nil
	}
	if rest == false {
		r.closed = true
		return nil
	}
	r.rest, err = c.useful(rest, at.at("additionalItems"))
	return err
}

func (c *compiler) fillObject(n *node, s *value.Object, at place) (err error) {
	r := &objectRules{maxProperties: boundOf(s, "maxProperties"), minProperties: boundOf(s, "minProperties")}
	n.object = r
	r.required = textlist.Of(s.At("required"))
	if v, ok := s.Get("propertyNames"); ok {
		if r.names, err = c.useful(v, at.at("propertyNames")); err != nil {
			return err
		}
	}
	if r.patterns, err = c.patternRules(s, at); err != nil {
		return err
	}
	if v, ok := s.Get("additionalProperties"); ok {
		if r.extra, err = c.extra(v, s, r.patterns, at); err != nil {
			return err
		}
	}
	if r.dependencies, err = c.dependencies(s, at); err != nil {
		return err
	}
	members, _ := s.At("properties").(*value.Object)
	for key, v := range members.All() {
		sub, err := c.useful(v, at.at("properties", key))
		if err != nil {
			return err
		}
		if sub != nil {
			r.properties = append(r.properties, member{key, sub})
		}
	}
	return nil
}

// patternRules reads patternProperties. Like Ajv, it ignores patterns that cannot
// change the verdict.
func (c *compiler) patternRules(s *value.Object, at place) ([]patternRule, error) {
	patterns, _ := s.At("patternProperties").(*value.Object)
	var rules []patternRule
	useful := false
	for text, v := range patterns.All() {
		sub, err := c.useful(v, at.at("patternProperties", text))
		if err != nil {
			return nil, err
		}
		useful = useful || sub != nil
		rules = append(rules, patternRule{sub: sub})
	}
	if !useful {
		free, err := c.acceptsAll(s.At("additionalProperties"))
		if free || err != nil || !s.Has("additionalProperties") {
			return nil, err
		}
	}
	properties, _ := s.At("properties").(*value.Object)
	for i, text := range patterns.Keys() {
		match, err := c.pattern(text, "u")
		if err != nil {
			return nil, err
		}
		rules[i].match = match
		if useful && !c.Lax {
			if err := c.overlap(match, text, properties); err != nil {
				return nil, err
			}
		}
	}
	return rules, nil
}

// overlap refuses a pattern that matches a declared property.
func (c *compiler) overlap(match Matcher, text string, properties *value.Object) error {
	for _, key := range properties.Keys() {
		if err := c.ended(); err != nil {
			return err
		}
		if ok, err := match(c.Context, key); ok && err == nil {
			return invalid("strict mode: property %s matches pattern %s (use allowMatchingProperties)", key, text)
		}
	}
	return nil
}

func (c *compiler) extra(v any, s *value.Object, patterns []patternRule, at place) (*extraRule, error) {
	r := &extraRule{patterns: patterns}
	if v != false {
		sub, err := c.useful(v, at.at("additionalProperties"))
		if sub == nil || err != nil {
			return nil, err
		}
		r.sub = sub
	}
	properties, _ := s.At("properties").(*value.Object)
	r.declared = make(map[string]struct{}, properties.Len())
	for _, key := range properties.Keys() {
		r.declared[key] = struct{}{}
	}
	return r, nil
}

// dependencies puts dependencies that require properties before those with a
// schema.
func (c *compiler) dependencies(s *value.Object, at place) ([]dependency, error) {
	all, _ := s.At("dependencies").(*value.Object)
	var plain, deep []dependency
	for key, v := range all.All() {
		if list, ok := v.([]any); ok {
			plain = append(plain, dependency{key: key, needs: textlist.Of(list)})
			continue
		}
		sub, err := c.useful(v, at.at("dependencies", key))
		if err != nil {
			return nil, err
		}
		if sub != nil {
			deep = append(deep, dependency{key: key, sub: sub})
		}
	}
	return append(plain, deep...), nil
}
