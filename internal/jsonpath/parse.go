package jsonpath

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// maxNesting is the maximum nesting depth of filters.
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

// segments reads the part after $ or @.
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

// sliceText matches an index or a slice.
var sliceText = pattern.Of(`^(-?[0-9]*)(?:[ \t\n\r]*:[ \t\n\r]*(-?[0-9]*)(?:[ \t\n\r]*:(?:[ \t\n\r]*(-?[0-9]+|-))?)?)?`)

// number reads an index or a slice.
func (p *parser) number() (selector, error) {
	m := sliceText.Get().FindStringSubmatch(p.s[p.i:])
	p.i += len(m[0])
	s := slice{step: 1, hasStart: m[1] != "", hasEnd: m[2] != ""}
	for i, to := range []*int{&s.start, &s.end, &s.step} {
		text := m[i+1]
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange), v > maxInteger, v < -maxInteger:
			return selector{}, p.fail("the integer is out of range")
		case strconv.FormatInt(v, 10) != text:
			return selector{}, p.fail("expected an integer without leading zeros")
		}
		*to = int(v)
	}
	if strings.Contains(m[0], ":") {
		return selector{kind: bySlice, slice: s}, nil
	}
	return selector{kind: byIndex, index: s.start}, nil
}

// maxInteger is the greatest integer of I-JSON.
const maxInteger = 1<<53 - 1

// inQuotes matches the text of a string literal, by quote. Surrogates come in
// pairs.
var inQuotes = map[byte]*pattern.Lazy{'\'': textIn(`'`), '"': textIn(`"`)}

func textIn(quote string) *pattern.Lazy {
	return pattern.Of(`^(?:[^\\\x00-\x1f` + quote + `]|\\(?:[\\/bfnrt` + quote + `]|u(?:[0-9A-Ca-cE-Fe-f][[:xdigit:]]{3}|` +
		`[Dd][0-7][[:xdigit:]]{2}|[Dd][89ABab][[:xdigit:]]{2}\\u[Dd][C-Fc-f][[:xdigit:]]{2})))*`)
}

// quoted reads a string literal in single or double quotes.
func (p *parser) quoted() (string, error) {
	quote := p.s[p.i]
	p.i++
	body := inQuotes[quote].Get().FindString(p.s[p.i:])
	p.i += len(body)
	switch c := p.peek(); {
	case p.i == len(p.s):
		return "", p.fail("the string is not closed")
	case c < 0x20:
		return "", p.fail("a control character in a string")
	case c != quote:
		return "", p.fail("an unknown escape, or half a surrogate pair,")
	}
	p.i++
	if quote == '\'' {
		body = strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `"`, `\"`).Replace(body)
	}
	v, _, err := value.ParseJSONPrefix(`"` + body + `"`)
	text, _ := v.(string)
	return text, err
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
