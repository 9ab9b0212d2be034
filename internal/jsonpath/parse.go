package jsonpath

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// maxNesting is how deeply filters may nest.
const maxNesting = 200

// parser reads a path (RFC 9535, appendix A).
type parser struct {
	s     string
	i     int
	depth int
}

func (p *parser) fail(message string) error {
	return proviso.Errorf(proviso.Invalid, "JSONPath %q: %s at character %d", p.s, message, utf8.RuneCountInString(p.s[:min(p.i, len(p.s))])+1)
}

func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *parser) accept(text string) bool {
	if !strings.HasPrefix(p.s[p.i:], text) {
		return false
	}
	p.i += len(text)
	return true
}

func (p *parser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\n\r", p.s[p.i]) >= 0 {
		p.i++
	}
}

// segments reads what follows $ or @.
func (p *parser) segments(fromRoot bool) (*query, error) {
	q := &query{fromRoot: fromRoot, singular: true}
	for {
		before := p.i
		p.space()
		var s segment
		var err error
		switch {
		case p.accept(".."):
			s.descend = true
			s.selectors, err = p.descendant()
		case p.accept("."):
			s.selectors, err = p.dotted()
		case p.peek() == '[':
			s.selectors, err = p.bracketed()
		default:
			p.i = before
			return q, nil
		}
		if err != nil {
			return nil, err
		}
		q.segments = append(q.segments, s)
		q.singular = q.singular && !s.descend && len(s.selectors) == 1 && s.selectors[0].kind <= byIndex
	}
}

func (p *parser) descendant() ([]selector, error) {
	if p.peek() == '[' {
		return p.bracketed()
	}
	return p.dotted()
}

func (p *parser) dotted() ([]selector, error) {
	if p.accept("*") {
		return []selector{{kind: wildcard}}, nil
	}
	start := p.i
	for p.i < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 && (r != utf8.RuneError || n > 1)
		if !letter && (p.i == start || r < '0' || r > '9') {
			break
		}
		p.i += n
	}
	if p.i == start {
		return nil, p.fail("expected a name or *")
	}
	return []selector{{kind: byName, name: p.s[start:p.i]}}, nil
}

func (p *parser) bracketed() ([]selector, error) {
	p.i++
	var list []selector
	for {
		p.space()
		s, err := p.selector()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
		p.space()
		switch {
		case p.accept(","):
		case p.accept("]"):
			return list, nil
		default:
			return nil, p.fail("expected , or ]")
		}
	}
}

func (p *parser) selector() (selector, error) {
	switch c := p.peek(); {
	case c == '*':
		p.i++
		return selector{kind: wildcard}, nil
	case c == '\'' || c == '"':
		name, err := p.quoted()
		return selector{kind: byName, name: name}, err
	case c == '?':
		p.i++
		p.space()
		filter, err := p.or()
		if err == nil {
			err = p.tested(filter)
		}
		return selector{kind: byFilter, filter: filter}, err
	case c == ':' || c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return selector{}, p.fail("expected a name, an index, a slice, * or a filter")
}

// number reads an index or a slice.
func (p *parser) number() (selector, error) {
	s := slice{step: 1}
	var err error
	if s.start, s.hasStart, err = p.integer(); err != nil {
		return selector{}, err
	}
	before := p.i
	p.space()
	if !p.accept(":") {
		p.i = before
		return selector{kind: byIndex, index: s.start}, nil
	}
	p.space()
	if s.end, s.hasEnd, err = p.integer(); err != nil {
		return selector{}, err
	}
	before = p.i
	p.space()
	if !p.accept(":") {
		p.i = before
		return selector{kind: bySlice, slice: s}, nil
	}
	before = p.i
	p.space()
	step, ok, err := p.integer()
	if ok {
		s.step = step
	} else {
		p.i = before
	}
	return selector{kind: bySlice, slice: s}, err
}

// maxInteger is the greatest integer of I-JSON.
const maxInteger = 1<<53 - 1

// integer reads an integer if there is one.
func (p *parser) integer() (n int, ok bool, err error) {
	start := p.i
	if p.peek() == '-' {
		p.i++
	}
	digits := p.i
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.i++
	}
	text := p.s[start:p.i]
	switch {
	case text == "":
		return 0, false, nil
	case p.i == digits, text == "-0", p.i > digits+1 && p.s[digits] == '0':
		return 0, false, p.fail("expected an integer without leading zeros")
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v > maxInteger || v < -maxInteger {
		return 0, false, p.fail("the integer is out of range")
	}
	return int(v), true, nil
}

// quoted reads a string literal in single or double quotes.
func (p *parser) quoted() (string, error) {
	quote := p.s[p.i]
	p.i++
	var b []byte
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == quote:
			p.i++
			return string(b), nil
		case c < 0x20:
			return "", p.fail("a control character in a string")
		case c == '\\':
			var err error
			if b, err = p.escape(b, quote); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
			p.i++
		}
	}
	return "", p.fail("the string is not closed")
}

func (p *parser) escape(b []byte, quote byte) ([]byte, error) {
	p.i++
	c := p.peek()
	if c == 'u' {
		return p.unicode(b)
	}
	if c == quote {
		p.i++
		return append(b, c), nil
	}
	at := strings.IndexByte(`\/bfnrt`, c)
	if c == 0 || at < 0 {
		return nil, p.fail("unknown escape")
	}
	p.i++
	return append(b, "\\/\b\f\n\r\t"[at]), nil
}

// unicode reads uXXXX; surrogates must come in pairs.
func (p *parser) unicode(b []byte) ([]byte, error) {
	r, ok := p.hex()
	switch {
	case !ok:
		return nil, p.fail("expected four hexadecimal digits")
	case r >= 0xdc00 && r <= 0xdfff:
		return nil, p.fail("a low surrogate without its high one")
	case r >= 0xd800 && r <= 0xdbff:
		if !p.accept(`\`) {
			return nil, p.fail("a high surrogate without its low one")
		}
		low, ok := p.hex()
		if !ok || low < 0xdc00 || low > 0xdfff {
			return nil, p.fail("a high surrogate without its low one")
		}
		r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
	}
	return utf8.AppendRune(b, r), nil
}

func (p *parser) hex() (rune, bool) {
	if p.peek() != 'u' || p.i+5 > len(p.s) {
		return 0, false
	}
	v, err := strconv.ParseUint(p.s[p.i+1:p.i+5], 16, 16)
	if err != nil {
		return 0, false
	}
	p.i += 5
	return rune(v), true
}

// literal reads a number, string, true, false or null; ok is false if there is
// none.
func (p *parser) literal() (v any, ok bool, err error) {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		v, err = p.quoted()
		return v, true, err
	case c == '-' || c >= '0' && c <= '9':
		v, n, err := value.ParseJSONPrefix(p.s[p.i:])
		f, _ := v.(float64)
		if err != nil || math.IsInf(f, 0) {
			return nil, false, p.fail("expected a number")
		}
		p.i += n
		return v, true, nil
	}
	for _, l := range []struct {
		word  string
		value any
	}{{"true", true}, {"false", false}, {"null", nil}} {
		if p.word(l.word) {
			return l.value, true, nil
		}
	}
	return nil, false, nil
}

// word accepts a word that is not the beginning of a longer one.
func (p *parser) word(w string) bool {
	if !strings.HasPrefix(p.s[p.i:], w) {
		return false
	}
	if end := p.i + len(w); end < len(p.s) && (isNameByte(p.s[end]) || p.s[end] == '(') {
		return false
	}
	p.i += len(w)
	return true
}

func isNameByte(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
