package jsonschema

import (
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// listRules are the keywords for arrays.
type listRules struct {
	maxItems, minItems bound
	items              *node   // schema of every item
	tuple              []*node // schemas of the first items; nil accepts anything
	closed             bool    // additionalItems: false
	rest               *node   // schema of the items after the tuple
	contains           *node
	containsAny        bool // contains: a schema that accepts everything
	unique             bool
	scalar             types // the types of items if none is array or object; decides how Ajv searches for equal items
}

func (r *listRules) check(n *node, v []any, s *state) bool {
	length := float64(len(v))
	if r.maxItems.set && length > r.maxItems.n {
		return s.counted(n, "maxItems", "more", "items", r.maxItems.n)
	}
	if r.minItems.set && length < r.minItems.n {
		return s.counted(n, "minItems", "fewer", "items", r.minItems.n)
	}
	if r.closed && len(v) > len(r.tuple) {
		return s.fail(n, "additionalItems", func() (string, *value.Object) {
			limit := float64(len(r.tuple))
			return "must NOT have more than " + value.FormatNumber(limit) + " items", value.ObjectOf("limit", limit)
		})
	}
	return r.each(v, s) && r.holds(n, v, s) && (!r.unique || r.distinct(n, v, s))
}

// each checks the items by their own schemas.
func (r *listRules) each(v []any, s *state) bool {
	if r.rest != nil {
		for i := len(r.tuple); i < len(v); i++ {
			if !s.item(r.rest, v, i) {
				return false
			}
		}
	}
	for i, sub := range r.tuple {
		if i < len(v) && sub != nil && !s.item(sub, v, i) {
			return false
		}
	}
	if r.items != nil {
		for i := range v {
			if !s.item(r.items, v, i) {
				return false
			}
		}
	}
	return true
}

func (s *state) item(sub *node, v []any, i int) bool {
	mark := len(s.errs)
	if sub.check(v[i], s) {
		return true
	}
	if len(s.errs) > mark {
		s.within(mark, strconv.Itoa(i))
	}
	return false
}

// holds implements contains.
func (r *listRules) holds(n *node, v []any, s *state) bool {
	if r.contains == nil && !r.containsAny || r.containsAny && len(v) > 0 {
		return true
	}
	mark, was := len(s.errs), s.compose()
	for i := 0; i < len(v) && !r.containsAny; i++ {
		if s.item(r.contains, v, i) {
			s.errs, s.composite = s.errs[:mark], was
			return true
		}
	}
	if s.composite = was; !was {
		s.errs = s.errs[:mark]
	}
	return s.fail(n, "contains", func() (string, *value.Object) {
		return "must contain at least 1 valid item(s)", value.ObjectOf("minContains", 1.0)
	})
}

func (r *listRules) distinct(n *node, v []any, s *state) bool {
	var i, j int
	var ok bool
	if r.scalar != 0 {
		i, j, ok = equalScalars(v, r.scalar)
	} else {
		i, j, ok = equalItems(v, s)
	}
	return !ok || s.fail(n, "uniqueItems", func() (string, *value.Object) {
		return "must NOT have duplicate items (items ## " + strconv.Itoa(j) + " and " + strconv.Itoa(i) + " are identical)",
			value.ObjectOf("i", float64(i), "j", float64(j))
	})
}
