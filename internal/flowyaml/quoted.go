package flowyaml

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// character reads one character of a quoted text.
func (p *parser) character(c byte) error {
	if p.separator() {
		return errQuote
	}
	if c != '\t' && c < 0x20 {
		return errControl
	}
	p.i++
	return nil
}

// quoted reads a quoted text. In single quotes, two quotes stand for one; double
// quotes have escapes.
func (p *parser) quoted(quote byte) (string, error) {
	p.i++
	t := text{from: p.i}
	for {
		switch c := p.peek(0); {
		case c == 0:
			return "", errQuote
		case c == '\'' && c == quote && p.peek(1) == c:
			t.add(p.buf[t.from : p.i+1])
			p.i += 2
			t.from = p.i
		case c == quote:
			p.i++
			return t.end(p.buf, p.i-1), nil
		case c == '\\' && quote == '"':
			if err := p.escape(&t); err != nil {
				return "", err
			}
		case isBreak(c):
			p.fold(&t)
		default:
			if err := p.character(c); err != nil {
				return "", err
			}
		}
	}
}

// text collects a scalar that is not simply a slice of the source.
type text struct {
	b    []byte
	from int  // start of the part that is not yet added
	made bool // b is in use
	keep int  // b up to here is not trimmed, because it was escaped
}

func (t *text) add(part []byte) {
	t.b = append(t.b, part...)
	t.made = true
}

// end adds the rest and returns the whole text.
func (t *text) end(source []byte, to int) string {
	if !t.made {
		return string(source[t.from:to])
	}
	t.add(source[t.from:to])
	return string(t.b)
}

// fold reads line breaks: a single one becomes a space; of several, the first is
// dropped. Blanks around them are not part of the text.
func (p *parser) fold(t *text) {
	t.add(p.buf[t.from:p.i])
	t.trim()
	breaks := p.space(false)
	if breaks == 1 {
		t.b = append(t.b, ' ')
	}
	for range breaks - 1 {
		t.b = append(t.b, '\n')
	}
	t.from = p.i
}

// trim removes trailing blanks, except escaped ones.
func (t *text) trim() {
	n := len(t.b)
	for n > t.keep && isSpace(t.b[n-1]) {
		n--
	}
	t.b = t.b[:n]
}

// simpleEscapes are the escapes of one character and their meanings.
var simpleEscapes = [...]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1b", ' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape reads an escape sequence.
func (p *parser) escape(t *text) error {
	t.add(p.buf[t.from:p.i])
	p.i++
	c := p.peek(0)
	switch {
	case isBreak(c):
		p.space(false) // an escaped line break joins the lines
	case c < utf8.RuneSelf && int(c) < len(simpleEscapes) && simpleEscapes[c] != "":
		t.b = append(t.b, simpleEscapes[c]...)
		p.i++
	default:
		r, err := p.hexEscape(c)
		if err != nil {
			return err
		}
		t.unit(r)
	}
	t.keep, t.from = len(t.b), p.i
	return nil
}

// hexEscape reads x, u or U with 2, 4 or 8 hexadecimal digits.
func (p *parser) hexEscape(kind byte) (rune, error) {
	n := strings.IndexByte(" x u   U", kind) + 1
	if kind == ' ' || n == 0 {
		return 0, errEscape
	}
	var v uint32
	for k := 1; k <= n; k++ {
		c := p.peek(k)
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | uint32(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | uint32(c|0x20-'a'+10)
		default:
			return 0, errEscape
		}
	}
	if v > utf8.MaxRune {
		return 0, errEscape
	}
	p.i += n + 1
	return rune(v), nil
}

// unit adds a code point. Two escapes that form a surrogate pair make one
// character; a lone half keeps its three bytes (WTF-8).
func (t *text) unit(r rune) {
	n := len(t.b)
	if r >= 0xdc00 && r <= 0xdfff && n >= 3 && t.b[n-3] == 0xed && t.b[n-2] >= 0xa0 && t.b[n-2] <= 0xaf {
		high := 0xd000 | rune(t.b[n-2]&0x3f)<<6 | rune(t.b[n-1]&0x3f)
		t.b = utf8.AppendRune(t.b[:n-3], utf16.DecodeRune(high, r))
		return
	}
	if utf16.IsSurrogate(r) {
		t.b = append(t.b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		return
	}
	t.b = utf8.AppendRune(t.b, r)
}
