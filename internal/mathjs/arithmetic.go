package mathjs

import (
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// maxNesting bounds parentheses and signs within each other.
const maxNesting = 100

// arithmetic evaluates expressions of decimal numbers, names, + - * / and
// parentheses, in IEEE 754 double precision as JavaScript does. With a nil scope it
// only checks the syntax. It returns false for anything else: other syntax, names
// that are not numbers in scope, and mistakes.
func arithmetic(expr string, scope *value.Object) (float64, bool) {
	c := calculator{text: expr, scope: scope}
	if scope.Has("end") { // mathjs refuses a scope with this name
		return 0, false
	}
	v, ok := c.sum()
	return v, ok && c.at == len(expr)
}

// calculator is a recursive descent over sum, product and operand.
type calculator struct {
	text  string
	at    int
	depth int
	scope *value.Object // nil if only the syntax is checked
}

// next skips blanks and returns the next byte, or 0 at the end.
func (c *calculator) next() byte {
	for c.at < len(c.text) && (c.text[c.at] == ' ' || c.text[c.at] == '\t') {
		c.at++
	}
	if c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

func (c *calculator) sum() (float64, bool) {
	v, ok := c.product()
	for ok {
		op := c.next()
		if op != '+' && op != '-' {
			break
		}
		c.at++
		var w float64
		if w, ok = c.product(); op == '+' {
			v += w
		} else {
			v -= w
		}
	}
	return v, ok
}

func (c *calculator) product() (float64, bool) {
	v, ok := c.operand()
	for ok {
		op := c.next()
		if op != '*' && op != '/' {
			break
		}
		c.at++
		var w float64
		if w, ok = c.operand(); op == '*' {
			v *= w
		} else {
			v /= w
		}
	}
	return v, ok
}

// operand reads a number, a name, a sign with its operand or a parenthesis. Text
// that may not follow an operand, such as a factor without an operator, ends the
// expression.
func (c *calculator) operand() (float64, bool) {
	b := c.next()
	switch {
	case b >= '0' && b <= '9':
		return c.number()
	case isLetter(b):
		return c.variable()
	case b != '-' && b != '+' && b != '(' || c.depth == maxNesting:
		return 0, false
	}
	c.at++
	c.depth++
	defer func() { c.depth-- }()
	switch b {
	case '-':
		v, ok := c.operand()
		return -v, ok
	case '+':
		return c.operand()
	}
	v, ok := c.sum()
	if !ok || c.next() != ')' {
		return 0, false
	}
	c.at++
	return v, true
}

// number reads digits with an optional fraction.
func (c *calculator) number() (float64, bool) {
	start := c.at
	c.digits()
	if c.at < len(c.text) && c.text[c.at] == '.' {
		c.at++
		if c.digits() == 0 {
			return 0, false
		}
	}
	if c.at < len(c.text) && (isLetter(c.text[c.at]) || c.text[c.at] == '.') {
		return 0, false
	}
	v, err := strconv.ParseFloat(c.text[start:c.at], 64)
	return v, err == nil
}

func (c *calculator) digits() int {
	start := c.at
	for c.at < len(c.text) && c.text[c.at] >= '0' && c.text[c.at] <= '9' {
		c.at++
	}
	return c.at - start
}

func (c *calculator) variable() (float64, bool) {
	start := c.at
	for c.at < len(c.text) && (isLetter(c.text[c.at]) || c.text[c.at] >= '0' && c.text[c.at] <= '9') {
		c.at++
	}
	name := c.text[start:c.at]
	if isReserved(name) {
		return 0, false
	}
	if c.scope == nil {
		return 0, true
	}
	v, ok := c.scope.At(name).(float64)
	return v, ok
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' }

// isReserved reports whether a name has a meaning in mathjs other than a member of
// the scope, or is a property of every JavaScript object.
func isReserved(name string) bool {
	switch name {
	case "mod", "to", "in", "and", "xor", "or", "not", "end",
		"true", "false", "null", "undefined", "NaN", "Infinity",
		"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
		"toLocaleString", "toString", "valueOf":
		return true
	}
	return len(name) > 1 && name[:2] == "__" && name != "__count"
}
