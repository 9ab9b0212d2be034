package jsonschema

import "github.com/proviso-eval/proviso/value"

// generalRules are the keywords that apply to any value.
type generalRules struct {
	ref      *node
	constant *any
	allowed  *enum
	not      *node
	notAny   bool // not: a schema that accepts everything
	anyOf    []*node
	oneOf    []*node
	allOf    []*node
	cond     *conditional
}

// conditional is if with then, else or both.
type conditional struct{ test, then, otherwise *node }

func (r *generalRules) check(n *node, v any, s *state) bool {
	if r.ref != nil && !r.refer(v, s) {
		return false
	}
	if r.constant != nil && !equal(v, *r.constant, s) {
		return s.fail(n, "const", func() (string, *value.Object) {
			return "must be equal to constant", value.ObjectOf("allowedValue", *r.constant)
		})
	}
	if r.allowed != nil && !r.allowed.has(v, s) {
		return s.fail(n, "enum", func() (string, *value.Object) {
			return "must be equal to one of the allowed values", value.ObjectOf("allowedValues", r.allowed.list)
		})
	}
	if (r.notAny || r.not != nil) && !r.negated(n, v, s) {
		return false
	}
	if r.anyOf != nil && !r.any(n, v, s) {
		return false
	}
	if r.oneOf != nil && !r.one(n, v, s) {
		return false
	}
	for _, sub := range r.allOf {
		if !sub.check(v, s) {
			return false
		}
	}
	return r.cond == nil || r.cond.check(n, v, s)
}

func (r *generalRules) refer(v any, s *state) bool {
	if r.ref.called {
		return s.call(r.ref, v)
	}
	return r.ref.check(v, s)
}

func (r *generalRules) negated(n *node, v any, s *state) bool {
	if !r.notAny {
		was := s.hush()
		ok := r.not.check(v, s)
		s.collect = was
		if !ok {
			return true
		}
	}
	return s.fail(n, "not", func() (string, *value.Object) { return "must NOT be valid", &value.Object{} })
}

func (r *generalRules) any(n *node, v any, s *state) bool {
	mark, was := len(s.errs), s.compose()
	ok := false
	for _, sub := range r.anyOf {
		if ok = sub.check(v, s); ok {
			break
		}
	}
	s.composite = was
	if ok {
		s.errs = s.errs[:mark]
		return true
	}
	return s.fail(n, "anyOf", func() (string, *value.Object) {
		return "must match a schema in anyOf", &value.Object{}
	})
}

// one stops at the second schema that matches, as Ajv does.
func (r *generalRules) one(n *node, v any, s *state) bool {
	mark, was := len(s.errs), s.compose()
	first, second := -1, -1
	for i, sub := range r.oneOf {
		if !sub.check(v, s) {
			continue
		}
		if first >= 0 {
			second = i
			break
		}
		first = i
	}
	s.composite = was
	if first >= 0 && second < 0 {
		s.errs = s.errs[:mark]
		return true
	}
	return s.fail(n, "oneOf", func() (string, *value.Object) {
		var passing any
		if first >= 0 {
			passing = []any{float64(first), float64(second)}
		}
		return "must match exactly one schema in oneOf", value.ObjectOf("passingSchemas", passing)
	})
}

func (c *conditional) check(n *node, v any, s *state) bool {
	was := s.hush()
	holds := c.test.check(v, s)
	s.collect = was
	branch, name := c.then, "then"
	if !holds {
		branch, name = c.otherwise, "else"
	}
	if branch == nil || branch.check(v, s) {
		return true
	}
	if s.left {
		return false
	}
	return s.fail(n, "if", func() (string, *value.Object) {
		return `must match "` + name + `" schema`, value.ObjectOf("failingKeyword", name)
	})
}
