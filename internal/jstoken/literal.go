package jstoken

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool {
	return c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// lineEnd returns the end of the line that contains at.
func lineEnd(src string, at int) int {
	for i := at; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\n' || c == '\r':
			return i
		case c == 0xe2 && (strings.HasPrefix(src[i:], "\u2028") || strings.HasPrefix(src[i:], "\u2029")):
			return i
		}
	}
	return len(src)
}

// commentEnd returns the end of the comment whose text begins at at, and whether it
// contains a line break.
func commentEnd(src string, at int) (end int, breaks bool) {
	end = len(src)
	if n := strings.Index(src[at:], "*/"); n >= 0 {
		end = at + n + len("*/")
	}
	return end, lineEnd(src[:end], at) < end
}

// stringEnd returns the end of the quoted string that begins at at; an unclosed one
// ends with its line.
func stringEnd(src string, at int) int {
	quote := src[at]
	for i := at + 1; i < len(src); i++ {
		switch src[i] {
		case quote:
			return i + 1
		case '\\':
			i++
			if i+1 < len(src) && src[i] == '\r' && src[i+1] == '\n' {
				i++
			}
		case '\n', '\r':
			return i
		}
	}
	return len(src)
}

// numberEnd returns the end of the number that begins at at.
func numberEnd(src string, at int) int {
	i, point := at, false
	for ; i < len(src); i++ {
		c := src[i]
		switch {
		case isDigit(c) || isLetter(c):
		case c == '.' && !point:
			point = true
		case (c == '+' || c == '-') && src[i-1]|0x20 == 'e' && !hexadecimal(src[at:i]):
		default:
			return i
		}
	}
	return i
}

func hexadecimal(number string) bool {
	return len(number) > 1 && number[0] == '0' && number[1]|0x20 == 'x'
}

// regexpEnd returns the end of the regular expression that begins at at, including
// flags, and true; or the end of the line, if it is not closed there.
func regexpEnd(src string, at int) (end int, ok bool) {
	class := false
	for i := at + 1; i < len(src); i++ {
		switch c := src[i]; c {
		case '\\':
			if i+1 < len(src) && src[i+1] != '\n' && src[i+1] != '\r' {
				i++
			}
		case '[':
			class = true
		case ']':
			class = false
		case '\n', '\r':
			return i, false
		case '/':
			if !class {
				return max(i+1, nameEnd(src, i+1)), true
			}
		}
	}
	return len(src), false
}

// nameEnd returns the end of the name that begins at at; at if there is none.
func nameEnd(src string, at int) int {
	i := at
	if i < len(src) && src[i] == '#' {
		i++
	}
	first := i
	for i < len(src) {
		c := src[i]
		switch {
		case isLetter(c) || isDigit(c):
			i++
		case c == '\\':
			n := escapeLength(src[i:])
			if n == 0 {
				return ended(at, first, i)
			}
			i += n
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(src[i:])
			if !unicode.IsLetter(r) && (i == first || !partOfName(r)) {
				return ended(at, first, i)
			}
			i += n
		default:
			return ended(at, first, i)
		}
	}
	return ended(at, first, i)
}

// ended is the end of a name, or at if nothing but # was found.
func ended(at, first, end int) int {
	if end == first {
		return at
	}
	return end
}

func partOfName(r rune) bool {
	return unicode.In(r, unicode.Nd, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Pc) || r == '\u200c' || r == '\u200d'
}

// escapeLength is the length of the \u0061 or \u{61} that text begins with, 0 if
// there is none.
func escapeLength(text string) int {
	const short, long = len(`\u0061`), len(`\u{10ffff}`)
	switch {
	case len(text) < short-1 || text[1] != 'u':
		return 0
	case text[2] == '{':
		return 1 + strings.IndexByte(text[:min(long, len(text))], '}')
	case len(text) < short:
		return 0
	}
	return short
}
