package jsonschema

import (
	"math"

	"github.com/proviso-eval/proviso/value"
)

// node is one compiled schema. Its keywords are checked in Ajv's order, because only
// the first mistake is reported: those for any value, then those for numbers, strings,
// arrays and objects.
type node struct {
	path    string // path of the schema, for mistakes
	boolean bool   // a schema that is true or false
	accept  bool   // its value
	called  bool   // Ajv makes it a separate function, called through $ref

	types    types
	early    bool  // the type is checked before everything else
	late     types // otherwise the one type, checked with its own keywords
	typeText string
	typeRaw  any // as written in the schema

	general *generalRules
	number  *numberRules
	text    *textRules
	list    *listRules
	object  *objectRules
}

// check reports whether v conforms. If s collects mistakes, check adds them.
func (n *node) check(v any, s *state) bool {
	if n.boolean {
		return n.accept || s.fail(n, "false schema", func() (string, *value.Object) {
			return "boolean schema is false", &value.Object{}
		})
	}
	if !s.enter() {
		return false
	}
	ok := n.apply(v, s)
	s.depth--
	return ok
}

func (n *node) apply(v any, s *state) bool {
	if n.early && !n.typed(v, s) {
		// Ajv still checks the keywords for any value, but that is visible only inside
		// a composite part.
		if s.collect && s.composite && n.general != nil {
			n.general.check(n, v, s)
		}
		return false
	}
	if n.general != nil && !n.general.check(n, v, s) {
		return false
	}
	ok := true
	switch v := v.(type) {
	case float64:
		ok = n.number == nil || n.number.check(n, v, s)
	case string:
		ok = n.late&typeNumber != 0 || n.text == nil || n.text.check(n, v, s)
	case []any:
		ok = n.late&(typeNumber|typeString) != 0 || n.list == nil || n.list.check(n, v, s)
	case *value.Object:
		ok = n.late&(typeNumber|typeString|typeArray) != 0 || n.object == nil || n.object.check(n, v, s)
	}
	return ok && (n.late == 0 || n.typed(v, s))
}

func (n *node) typed(v any, s *state) bool {
	return n.types&typesOf(v) != 0 || s.fail(n, "type", func() (string, *value.Object) {
		return "must be " + n.typeText, value.ObjectOf("type", n.typeRaw)
	})
}

// bound is the number of a keyword, if the schema has the keyword.
type bound struct {
	n   float64
	set bool
}

// numberRules are the keywords for numbers.
type numberRules struct {
	maximum, minimum, above, below bound // above is exclusiveMinimum
	multipleOf                     bound
	format                         *format
}

func (r *numberRules) check(n *node, v float64, s *state) bool {
	if typesOf(v) == 0 {
		return true
	}
	switch {
	case r.maximum.set && v > r.maximum.n:
		return s.compared(n, "maximum", "<=", r.maximum.n)
	case r.minimum.set && v < r.minimum.n:
		return s.compared(n, "minimum", ">=", r.minimum.n)
	case r.below.set && v >= r.below.n:
		return s.compared(n, "exclusiveMaximum", "<", r.below.n)
	case r.above.set && v <= r.above.n:
		return s.compared(n, "exclusiveMinimum", ">", r.above.n)
	case r.multipleOf.set && !multiple(v, r.multipleOf.n):
		return s.fail(n, "multipleOf", func() (string, *value.Object) {
			return "must be multiple of " + value.FormatNumber(r.multipleOf.n), value.ObjectOf("multipleOf", r.multipleOf.n)
		})
	case r.format != nil && !r.format.number(v):
		return s.badFormat(n, r.format)
	}
	return true
}

func (s *state) compared(n *node, keyword, sign string, limit float64) bool {
	return s.fail(n, keyword, func() (string, *value.Object) {
		return "must be " + sign + " " + value.FormatNumber(limit), value.ObjectOf("comparison", sign, "limit", limit)
	})
}

func (s *state) badFormat(n *node, f *format) bool {
	return s.fail(n, "format", func() (string, *value.Object) {
		return `must match format "` + f.name + `"`, value.ObjectOf("format", f.name)
	})
}

// counted records that a size exceeds its limit.
func (s *state) counted(n *node, keyword, comparative, things string, limit float64) bool {
	return s.fail(n, keyword, func() (string, *value.Object) {
		return "must NOT have " + comparative + " than " + value.FormatNumber(limit) + " " + things, value.ObjectOf("limit", limit)
	})
}

// multiple is Ajv's test: the quotient equals parseInt of its decimal form, so 0.3 is
// not a multiple of 0.1 and quotients from 1e21 on never pass.
func multiple(v, of float64) bool {
	q := v / of
	return math.Abs(q) < 1e21 && q == math.Trunc(q)
}

// textRules are the keywords for strings.
type textRules struct {
	maxLength, minLength bound // in code points
	pattern              Matcher
	patternText          string
	format               *format
	limits               []formatLimit
}

func (r *textRules) check(n *node, v string, s *state) bool {
	if r.maxLength.set || r.minLength.set {
		length := float64(codePoints(v))
		if r.maxLength.set && length > r.maxLength.n {
			return s.counted(n, "maxLength", "more", "characters", r.maxLength.n)
		}
		if r.minLength.set && length < r.minLength.n {
			return s.counted(n, "minLength", "fewer", "characters", r.minLength.n)
		}
	}
	if r.pattern != nil && !s.matches(r.pattern, v) {
		return s.fail(n, "pattern", func() (string, *value.Object) {
			return `must match pattern "` + r.patternText + `"`, value.ObjectOf("pattern", r.patternText)
		})
	}
	if r.format != nil && !r.format.text(v) {
		return s.badFormat(n, r.format)
	}
	for i := range r.limits {
		if l := &r.limits[i]; !l.holds(v) {
			return s.fail(n, l.keyword, func() (string, *value.Object) {
				return "should be " + l.sign + " " + l.limit, value.ObjectOf("comparison", l.sign, "limit", l.limit)
			})
		}
	}
	return true
}

// matches runs a pattern; an error of its engine ends the validation.
func (s *state) matches(m Matcher, text string) bool {
	if !s.step() {
		return false
	}
	ok, err := m(s.ctx, text)
	if err != nil && s.err == nil {
		s.err = err
	}
	return ok
}

// codePoints counts characters as Ajv does: a surrogate pair counts as one, and so
// does a lone surrogate, which is three bytes here.
func codePoints(s string) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xc0 != 0x80 {
			n++
		}
	}
	return n
}
