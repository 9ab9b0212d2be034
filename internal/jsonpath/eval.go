package jsonpath

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// nothing is the value of a query that selects nothing.
type nothing struct{}

// holds evaluates a condition on a node.
func (e *evaluation) holds(x *expr, node any) bool {
	if !e.step() {
		return false
	}
	switch x.kind {
	case path:
		return len(e.query(x.query, node)) > 0
	case call:
		return e.match(x, node)
	case compare:
		return e.compare(x.name, e.value(x.args[0], node), e.value(x.args[1], node))
	case and:
		for _, a := range x.args {
			if !e.holds(a, node) {
				return false
			}
		}
		return true
	case or:
		for _, a := range x.args {
			if e.holds(a, node) {
				return true
			}
		}
		return false
	case not:
		return !e.holds(x.args[0], node)
	case group:
		return e.holds(x.args[0], node)
	}
	return false
}

// value evaluates an operand.
func (e *evaluation) value(x *expr, node any) any {
	switch x.kind {
	case constant:
		return x.value
	case path:
		return single(e.query(x.query, node))
	case call:
		switch x.name {
		case "count":
			return float64(len(e.query(x.args[0].query, node)))
		case "value":
			return single(e.query(x.args[0].query, node))
		case "length":
			return length(e.value(x.args[0], node))
		}
	}
	return nothing{}
}

func single(list []any) any {
	if len(list) != 1 {
		return nothing{}
	}
	return list[0]
}

func length(v any) any {
	switch v := v.(type) {
	case string:
		return float64(utf8.RuneCountInString(v))
	case []any:
		return float64(len(v))
	case *value.Object:
		return float64(v.Len())
	}
	return nothing{}
}

func (e *evaluation) compare(operator string, a, b any) bool {
	switch operator {
	case "==":
		return e.equal(a, b)
	case "!=":
		return !e.equal(a, b)
	case "<":
		return less(a, b)
	case ">":
		return less(b, a)
	case "<=":
		return less(a, b) || e.equal(a, b)
	}
	return less(b, a) || e.equal(a, b)
}

func less(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && a < b
	case string:
		b, ok := b.(string)
		return ok && a < b
	}
	return false
}

func (e *evaluation) equal(a, b any) bool {
	if !e.step() {
		return false
	}
	switch a.(type) {
	case []any, *value.Object:
		return value.EqualFunc(a, b, e.equal)
	}
	return a == b
}

// match is match() and search(). A value that is not text, or an invalid pattern, does
// not match.
func (e *evaluation) match(x *expr, node any) bool {
	text, ok1 := e.value(x.args[0], node).(string)
	pattern, ok2 := e.value(x.args[1], node).(string)
	if !ok1 || !ok2 {
		return false
	}
	e.steps += (len(text) + len(pattern)) / 16
	m := e.matcher(pattern)
	if m.re == nil {
		return false
	}
	if x.name == "search" {
		return m.re.MatchString(text)
	}
	return m.whole.MatchString(text)
}

// matcher is a pattern, for search and for match; both are nil if it is invalid.
type matcher struct{ re, whole *regexp.Regexp }

func (e *evaluation) matcher(pattern string) *matcher {
	if m, ok := e.regexps[pattern]; ok {
		return m
	}
	m := &matcher{}
	if text, ok := translate(pattern); ok {
		re, err := regexp.Compile(text)
		whole, err2 := regexp.Compile(`\A(?:` + text + `)\z`)
		if err == nil && err2 == nil {
			m.re, m.whole = re, whole
		}
	}
	if e.regexps == nil {
		e.regexps = map[string]*matcher{}
	}
	e.steps += 100 + 10*len(pattern) // compiling costs more than matching
	e.regexps[pattern] = m
	return m
}

// translate writes an I-Regexp (RFC 9485) for package regexp: a dot matches no
// line break, ^ and $ are characters, and groups are plain.
func translate(pattern string) (string, bool) {
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\':
			if i+1 == len(pattern) || strings.IndexByte(`()*+-.?[\]^nrt{|}pP$`, pattern[i+1]) < 0 {
				return "", false
			}
			b.WriteString(pattern[i : i+2])
			i++
			continue
		case c == '[' && !class:
			class = true
		case c == ']':
			class = false
		case c == '.' && !class:
			b.WriteString(`[^\n\r]`)
			continue
		case (c == '^' || c == '$') && !class:
			b.WriteByte('\\')
		case c == '(' && !class && strings.HasPrefix(pattern[i+1:], "?"):
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
