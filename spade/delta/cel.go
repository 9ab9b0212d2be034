package delta

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// celOf translates a Jinja or Nunjucks condition into CEL over the variables of a case. It
// supports names, comparisons with strings, numbers, true and false, and, or, not, in a list,
// and is defined. It returns "" for anything else, and for a name in assigned. As in the
// template, a name without a value is false.
func celOf(text string, assigned []string) string {
	p := celParser{rest: text, assigned: assigned}
	out := p.or(0)
	if p.wrong || p.peek() != "" || len(out) > 2000 {
		return ""
	}
	return out
}

// celParser reads a condition from left to right.
type celParser struct {
	rest     string
	assigned []string
	wrong    bool
}

// deepest bounds the nesting of parentheses.
const deepest = 20

// peek returns the next word or sign; "" at the end.
func (p *celParser) peek() string {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" {
		return ""
	}
	for _, sign := range []string{"===", "!==", "==", "!=", "<=", ">=", "&&", "||"} {
		if strings.HasPrefix(p.rest, sign) {
			return sign
		}
	}
	c := p.rest[0]
	switch {
	case c == '\'' || c == '"':
		if end := strings.IndexByte(p.rest[1:], c); end >= 0 {
			return p.rest[:end+2]
		}
		p.wrong = true
		return ""
	case wordByte(c):
		end := 1
		for end < len(p.rest) && (wordByte(p.rest[end]) || p.rest[end] == '.') {
			end++
		}
		return p.rest[:end]
	}
	return p.rest[:1]
}

func wordByte(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

func (p *celParser) take(want ...string) bool {
	next := p.peek()
	if next == "" || !slices.Contains(want, next) {
		return false
	}
	p.rest = p.rest[len(next):]
	return true
}

func (p *celParser) or(depth int) string {
	list := []string{p.and(depth)}
	for !p.wrong && p.take("or", "||") {
		list = append(list, p.and(depth))
	}
	if len(list) == 1 {
		return list[0]
	}
	return "(" + strings.Join(list, " || ") + ")"
}

func (p *celParser) and(depth int) string {
	list := []string{p.not(depth)}
	for !p.wrong && p.take("and", "&&") {
		list = append(list, p.not(depth))
	}
	return strings.Join(list, " && ")
}

func (p *celParser) not(depth int) string {
	if depth > deepest {
		p.wrong = true
		return ""
	}
	switch {
	case p.take("not", "!"):
		return "!(" + p.not(depth+1) + ")"
	case p.take("("):
		inner := p.or(depth + 1)
		if !p.take(")") || p.comparison() {
			p.wrong = true
		}
		return "(" + inner + ")"
	}
	return p.test()
}

// comparison reports whether a comparison follows, which is not supported after a parenthesis.
func (p *celParser) comparison() bool {
	switch p.peek() {
	case "==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "is", "|", "+", "-", "*", "/":
		return true
	}
	return false
}

// test reads a name and its comparison, if any.
func (p *celParser) test() string {
	name := p.peek()
	p.rest = p.rest[len(name):]
	field, ok := p.field(name)
	if !ok {
		p.wrong = true
		return ""
	}
	switch has := has(field); {
	case p.take("==", "==="):
		return has + " && " + field + " == " + p.literal()
	case p.take("!=", "!=="):
		return "!(" + has + " && " + field + " == " + p.literal() + ")"
	case p.take("is"):
		not := p.take("not")
		if !p.take("defined") {
			p.wrong = true
		}
		if not {
			return "!(" + has + ")"
		}
		return has
	case p.take("not"):
		if !p.take("in") {
			p.wrong = true
		}
		return "!(" + has + " && " + field + " in " + p.list() + ")"
	case p.take("in"):
		return has + " && " + field + " in " + p.list()
	default:
		for _, sign := range []string{"<=", ">=", "<", ">"} {
			if p.take(sign) {
				n, err := strconv.ParseFloat(p.peek(), 64)
				if err != nil {
					p.wrong = true
				}
				p.rest = p.rest[len(p.peek()):]
				return has + " && double(" + field + ") " + sign + " double(" + strconv.FormatFloat(n, 'f', -1, 64) + ")"
			}
		}
		return has + " && !(" + field + " in [false, 0, \"\", null])"
	}
}

// field writes a template name as a field of vars.
func (p *celParser) field(name string) (string, bool) {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if part == "" || !(part[0] == '_' || part[0]|0x20 >= 'a' && part[0]|0x20 <= 'z') || slices.Contains(notFields, part) || i > 2 {
			return "", false
		}
	}
	return "vars." + name, !slices.Contains(p.assigned, parts[0])
}

// notFields are words of the template or of CEL that are not names.
var notFields = strings.Fields("and or not in is if else true false True False none None null as break const continue for function import let loop package namespace return var void while")

// has tests that a field and each of its parents exist.
func has(field string) string {
	parts := strings.Split(field, ".")
	var list []string
	for i := 2; i <= len(parts); i++ {
		list = append(list, "has("+strings.Join(parts[:i], ".")+")")
	}
	return strings.Join(list, " && ")
}

// literal reads a string, a number, true or false.
func (p *celParser) literal() string {
	word := p.peek()
	p.rest = p.rest[len(word):]
	switch {
	case word == "":
	case word[0] == '\'' || word[0] == '"':
		if !strings.ContainsAny(word, "\\\n") {
			return strconv.Quote(word[1 : len(word)-1])
		}
	case word == "true" || word == "True":
		return "true"
	case word == "false" || word == "False":
		return "false"
	default:
		if n, err := strconv.ParseFloat(word, 64); err == nil && !strings.ContainsAny(word, "_xXpPnN") {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	p.wrong = true
	return ""
}

// list reads literals in brackets.
func (p *celParser) list() string {
	if !p.take("[") && !p.take("(") {
		p.wrong = true
		return ""
	}
	var list []string
	for !p.wrong && len(list) < 50 {
		list = append(list, p.literal())
		if p.take("]", ")") {
			return "[" + strings.Join(list, ", ") + "]"
		}
		if !p.take(",") {
			break
		}
	}
	p.wrong = true
	return ""
}
