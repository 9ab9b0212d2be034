package htmltext

import (
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// Contains reports whether text seems to contain HTML: whether its hints add up to
// at least two points. A start tag and an end tag give 2, one of them gives 1; an
// empty-element tag, a character reference, a comment and an attribute give 1 each;
// a document type and one of the most common tags give 2 each.
func Contains(text string) bool {
	if tooLong(text) {
		return false
	}
	h := hints{s: text}
	points := h.tags()
	if points < 2 && reference.Matches(text) {
		points++
	}
	if points < 2 && attribute.Matches(text) {
		points++
	}
	return points >= 2
}

// hints searches a text for parts of HTML, each in one pass.
type hints struct {
	s string
	// gt is the offset of a > ahead of the position where tags are searched for.
	gt int

	open, closed, empty, comment, doctype, common bool
}

// tags returns the points for parts that begin with <.
func (h *hints) tags() int {
	h.gt = -1
	for i := 0; ; i++ {
		n := strings.IndexByte(h.s[i:], '<')
		if n < 0 {
			break
		}
		i += n
		h.at(i)
		if points := h.points(); points >= 2 {
			return points
		}
	}
	return h.points()
}

func (h *hints) points() int {
	points := 0
	for _, hint := range []struct {
		found  bool
		points int
	}{{h.open, 1}, {h.closed, 1}, {h.empty, 1}, {h.comment, 1}, {h.doctype, 2}, {h.common, 2}} {
		if hint.found {
			points += hint.points
		}
	}
	return points
}

// at reads the part that begins with < at i.
func (h *hints) at(i int) {
	rest := h.s[i+1:]
	switch {
	case strings.HasPrefix(rest, "!--"):
		rest = rest[len("!--"):]
		end := strings.Index(rest, "--")
		h.comment = h.comment || end >= 0 && strings.HasPrefix(rest[end:], "-->")
	case strings.HasPrefix(rest, "!"):
		h.doctype = h.doctype || doctype.Matches(rest)
	case strings.HasPrefix(rest, "/"):
		name := tagName(rest[1:])
		after := strings.TrimLeftFunc(rest[1+name:], value.IsSpace)
		h.closed = h.closed || name > 0 && strings.HasPrefix(after, ">")
	default:
		h.common = h.common || commonTags()[strings.ToLower(rest[:word(rest)])]
		if name := tagName(rest); name > 0 {
			h.startTag(i + 1 + name)
		}
	}
}

// startTag reads the text after a tag's name.
func (h *hints) startTag(i int) {
	r, _ := utf8.DecodeRuneInString(h.s[i:])
	switch {
	case r == '>':
		h.open = true
	case strings.HasPrefix(h.s[i:], "/>"):
		h.empty = true
	case value.IsSpace(r):
		if h.gt < i {
			n := strings.IndexByte(h.s[i:], '>')
			if n < 0 {
				n = len(h.s) - i
			}
			h.gt = i + n
		}
		if h.gt < len(h.s) {
			h.open = true
			h.empty = h.empty || h.s[h.gt-1] == '/'
		}
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// tagName returns the length of the tag name at the beginning of s, 0 if there is
// none.
func tagName(s string) int {
	i := 0
	for i < len(s) && (letter(s[i]) || i > 0 && (digit(s[i]) || s[i] == '-')) {
		i++
	}
	return i
}

// word returns the length of the word at the beginning of s.
func word(s string) int {
	i := 0
	for i < len(s) && (letter(s[i]) || digit(s[i]) || s[i] == '_') {
		i++
	}
	return i
}

const space = `[\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]` // white space in JavaScript

var (
	// doctype matches the text after the < of an HTML document type.
	doctype = pattern.Of(`^!(?i:doctype)` + space + `+(?i:html)`)
	// reference matches a character reference.
	reference = pattern.Of(`&(?:[A-Za-z]+|#[0-9]+|#x[0-9A-Fa-f]+);`)
	// attribute matches a name after white space, then = and a quote, and another quote
	// anywhere after it.
	attribute = pattern.Of(space + `[A-Za-z-]+=` + space + `*["'](?s:.*)["']`)
)
