package regex

import (
	"unicode"
	"unicode/utf16"
)

// atomEscape reads an escape outside a class.
func (p *parser) atomEscape() (*node, error) {
	p.i++
	c := p.peek()
	switch {
	case c >= '1' && c <= '9':
		start := p.i
		n, _ := p.number()
		if n <= p.groups {
			p.foreign = true
			return &node{op: opForeign}, nil
		}
		if p.flags.unicode {
			return nil, syntaxError("Invalid escape")
		}
		p.i = start
	case c == 'k' && p.named:
		return p.namedReference()
	}
	if s, negated, ok, err := p.classEscape(); ok || err != nil {
		return &node{op: opSet, set: s, negated: negated}, err
	}
	r, err := p.characterEscape(false)
	return &node{op: opSet, set: one(r)}, err
}

func (p *parser) namedReference() (*node, error) {
	p.i++
	if !p.accept('<') {
		return nil, syntaxError("Invalid named reference")
	}
	name, err := p.groupName()
	if err != nil {
		return nil, err
	}
	p.refs = append(p.refs, name)
	p.foreign = true
	return &node{op: opForeign}, nil
}

// classEscape reads the letter of \d, \w, \s or, with the u flag, \p{…} and of
// their opposites.
func (p *parser) classEscape() (s set, negated, ok bool, err error) {
	c := p.peek()
	switch c {
	case 'd', 'D':
		s = digits()
	case 'w', 'W':
		s = wordChars()
	case 's', 'S':
		s = spaces()
	case 'p', 'P':
		if !p.flags.unicode {
			return nil, false, false, nil
		}
		p.i++
		s, err = p.property()
		return s, c == 'P', err == nil, err
	default:
		return nil, false, false, nil
	}
	p.i++
	return s, c < 'a', true, nil
}

// characterEscape reads the text after a backslash that stands for one character.
func (p *parser) characterEscape(inClass bool) (rune, error) {
	c := p.peek()
	if c < 0 {
		return 0, syntaxError("\\ at end of pattern")
	}
	p.i++
	switch c {
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'v':
		return '\v', nil
	case 'c':
		return p.control(inClass)
	case 'x':
		if r, ok := p.hex(2); ok {
			return r, nil
		}
	case 'u':
		if r, ok := p.unicodeEscape(p.flags.unicode); ok {
			return r, nil
		}
		if p.flags.unicode {
			return 0, syntaxError("Invalid Unicode escape")
		}
	}
	if c >= '0' && c <= '9' {
		return p.octal(c, inClass)
	}
	return c, p.identity(c, inClass)
}

// identity refuses the escape of a character that must not be escaped.
func (p *parser) identity(c rune, inClass bool) error {
	switch {
	case c == 'k' && p.named:
		return syntaxError("Invalid escape")
	case !p.flags.unicode || syntaxCharacter(c) || c == '-' && inClass:
		return nil
	}
	return syntaxError("Invalid escape")
}

func syntaxCharacter(c rune) bool {
	switch c {
	case '^', '$', '\\', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '/':
		return true
	}
	return false
}

// control reads the letter of \cA. Without a letter, the backslash is a character
// of its own and the c is read again.
func (p *parser) control(inClass bool) (rune, error) {
	c := p.peek()
	if asciiLetter(c) || inClass && !p.flags.unicode && (c == '_' || c >= '0' && c <= '9') {
		p.i++
		return c % 32, nil
	}
	if p.flags.unicode {
		return 0, syntaxError("Invalid Unicode escape")
	}
	p.i--
	return '\\', nil
}

func asciiLetter(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// octal reads \0 and the octal escapes of annex B; c is the first digit.
func (p *parser) octal(c rune, inClass bool) (rune, error) {
	next := p.peek()
	if p.flags.unicode {
		switch {
		case c == '0' && (next < '0' || next > '9'):
			return 0, nil
		case inClass:
			return 0, syntaxError("Invalid class escape")
		}
		return 0, syntaxError("Invalid decimal escape")
	}
	if c >= '8' {
		return c, nil
	}
	r := c - '0'
	for range 2 {
		d := p.peek()
		if d < '0' || d > '7' || r*8+d-'0' > 0o377 {
			break
		}
		r = r*8 + d - '0'
		p.i++
	}
	return r, nil
}

// hex reads exactly n hexadecimal digits, or nothing.
func (p *parser) hex(n int) (rune, bool) {
	r := rune(0)
	for i := range n {
		d, ok := hexDigit(p.runeAt(p.i + i))
		if !ok {
			return 0, false
		}
		r = r<<4 | d
	}
	p.i += n
	return r, true
}

func hexDigit(c rune) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// unicodeEscape reads the text after \u, or nothing if it is not an escape. full
// allows braces and joins the escapes of a surrogate pair.
func (p *parser) unicodeEscape(full bool) (rune, bool) {
	start := p.i
	if full && p.accept('{') {
		r, digits := rune(0), 0
		for ; ; digits++ {
			d, ok := hexDigit(p.peek())
			if !ok {
				break
			}
			if r = r<<4 | d; r > unicode.MaxRune {
				break
			}
			p.i++
		}
		if digits > 0 && p.accept('}') {
			return r, true
		}
		p.i = start
		return 0, false
	}
	r, ok := p.hex(4)
	if !ok || !full || r < surrogateMin || r >= 0xdc00 {
		return r, ok
	}
	mark := p.i
	if p.acceptAll("\\u") {
		if low, ok := p.hex(4); ok && low >= 0xdc00 && low <= surrogateMax {
			return utf16.DecodeRune(r, low), true
		}
	}
	p.i = mark
	return r, true
}

// groupName reads a name up to and including the closing bracket.
func (p *parser) groupName() (string, error) {
	var name []rune
	for !p.accept('>') {
		c := p.peek()
		if c < 0 {
			return "", syntaxError("Invalid capture group name")
		}
		p.i++
		switch {
		case c == '\\':
			var ok bool
			if !p.accept('u') {
				return "", syntaxError("Invalid Unicode escape")
			}
			if c, ok = p.unicodeEscape(true); !ok {
				return "", syntaxError("Invalid Unicode escape")
			}
		case c >= surrogateMin && c < 0xdc00:
			if low := p.peek(); low >= 0xdc00 && low <= surrogateMax {
				c = utf16.DecodeRune(c, low)
				p.i++
			}
		}
		if !identifier(c, len(name) == 0) {
			return "", syntaxError("Invalid capture group name")
		}
		name = append(name, c)
	}
	if len(name) == 0 {
		return "", syntaxError("Invalid capture group name")
	}
	return string(name), nil
}

// identifier reports whether r may be part of an identifier (ECMA-262,
// IdentifierStart and IdentifierPart).
func identifier(r rune, first bool) bool {
	if r == '$' || r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_ID_Start) {
		return !unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space) || r == '$'
	}
	return !first && (r == 0x200c || r == 0x200d ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue))
}
