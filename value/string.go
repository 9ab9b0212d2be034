package value

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (p *parser) str() (string, error) {
	start := p.i + 1
	i := special(p.s, start, false)
	if i >= len(p.s) {
		p.i = i
		return "", p.fail("unterminated JSON string")
	}
	p.i = i
	switch p.s[i] {
	case '"':
		p.i++
		return p.s[start:i], nil
	case '\\':
		return p.escaped(p.s[start:i])
	}
	return "", p.fail("a control character in a JSON string")
}

// special returns the offset of the first quote, backslash or control character at or after
// i, or the length of s. If wide is true, non-ASCII characters count too.
func special(s string, i int, wide bool) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	high := uint64(0)
	if wide {
		high = tops
	}
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8] // one bounds check instead of eight
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// A byte is below n, for n up to 128, if subtracting n borrows and its
		// own top bit was clear (Warren, Hacker's Delight, 6-1). The lowest such
		// byte is exact.
		found := ((w-ones*0x20)&^w|(quote-ones)&^quote|(slash-ones)&^slash)&tops | w&high
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 || wide && c >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

// escaped reads the rest of a string from its first backslash on.
func (p *parser) escaped(head string) (string, error) {
	b := append(p.buf[:0], head...)
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '"':
			p.i++
			p.buf = b
			return string(b), nil
		case c < 0x20:
			return "", p.fail("a control character in a JSON string")
		case c != '\\':
			end := special(p.s, p.i, false)
			b = append(b, p.s[p.i:end]...)
			p.i = end
			continue
		}
		if p.i+1 >= len(p.s) {
			break
		}
		e := p.s[p.i+1]
		if e == 'u' {
			r, err := p.unicode()
			if err != nil {
				return "", err
			}
			b = appendUnit(b, r)
			continue
		}
		at := strings.IndexByte(`"\/bfnrt`, e)
		if at < 0 {
			return "", p.fail("unknown escape \\%c in a JSON string", e)
		}
		b = append(b, "\"\\/\b\f\n\r\t"[at])
		p.i += 2
	}
	p.i = len(p.s)
	return "", p.fail("unterminated JSON string")
}

// unicode reads \uXXXX, and the low surrogate that follows a high one.
func (p *parser) unicode() (rune, error) {
	r, ok := hex4(p.s, p.i)
	if !ok {
		return 0, p.fail("expected four hexadecimal digits after \\u in JSON")
	}
	p.i += 6
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(p.s, p.i); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				p.i += 6
				return both, nil
			}
		}
	}
	return r, nil
}

func hex4(s string, i int) (rune, bool) {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
	return rune(n), err == nil
}

// appendUnit encodes r as UTF-8, and a lone surrogate in the same form (WTF-8).
func appendUnit(b []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}
