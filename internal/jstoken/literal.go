package jstoken

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

var (
	// stringText is a quoted string; an unclosed one ends with its line.
	stringText = lazy(`(?s)^(?:"(?:\\(?:\r\n|.)|[^"\\\n\r])*(?:"|\\\z)?|'(?:\\(?:\r\n|.)|[^'\\\n\r])*(?:'|\\\z)?)`)
	numberText = lazy(`^(?:0[xX][\w$]*(?:\.[\w$]*)?|(?:[eE][+-]|[\w$])*(?:\.(?:[eE][+-]|[\w$])*)?)`)
	nameEscape = lazy(`^\\u(?:[[:xdigit:]]{4}|\{[[:xdigit:]]{1,6}\})`) // \u0061 or \u{61}
	// regexpText is a regular expression without its flags.
	regexpText = lazy(`^/(?:\\[^\n\r]|[^\\/\[\n\r]|\[(?:\\[^\n\r]|[^\\\]\n\r])*\])*/`)
)

// lazy compiles a pattern when it is first used.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// end returns the end of the match that begins at at; at if there is none.
func end(of func() *regexp.Regexp, src string, at int) int {
	return at + len(of().FindString(src[at:]))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// lineEnd returns the end of the line that contains at.
func lineEnd(src string, at int) int { return until(src, at, "\n\r\u2028\u2029") }

// until returns the index of the first of some characters, or the end of the
// source.
func until(src string, at int, characters string) int {
	if n := strings.IndexAny(src[at:], characters); n >= 0 {
		return at + n
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

// regexpEnd returns the end of the regular expression that begins at at, including
// flags, and true; or the end of the line, if it is not closed there.
func regexpEnd(src string, at int) (int, bool) {
	closed := end(regexpText, src, at)
	if closed == at {
		return until(src, at, "\n\r"), false
	}
	return nameEnd(src, closed), true
}

// nameEnd returns the end of the name that begins at at; at if there is none.
func nameEnd(src string, at int) int {
	first := at
	if strings.HasPrefix(src[at:], "#") {
		first++
	}
	i := first
	for i < len(src) {
		r, n := utf8.DecodeRuneInString(src[i:])
		switch {
		case r == '\\':
			n = end(nameEscape, src, i) - i
		case !unicode.IsLetter(r) && r != '_' && r != '$' && (r < '0' || r > '9') && (i == first || !partOfName(r)):
			n = 0
		}
		if n == 0 {
			break
		}
		i += n
	}
	if i == first {
		return at
	}
	return i
}

func partOfName(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Nd, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Pc) || r == '\u200c' || r == '\u200d'
}
