package xmltext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// Check returns nil if text is one well-formed XML document with namespaces (XML
// 1.0 fifth edition or 1.1, Namespaces in XML), and a *[SyntaxError] otherwise. A
// byte order mark is accepted. A document type may name an external subset, which
// is not read; unknown entities are then accepted, because the subset may declare
// them.
func Check(text string) error {
	c := checker{s: text, names: newNamespaces()}
	if err := c.document(); err != nil {
		return err
	}
	return nil
}

// checker reads a document from beginning to end. Its methods return nil, or the
// mistake at c.i.
type checker struct {
	s          string
	i          int
	version    string // version in the XML declaration, "" if there is none
	standalone bool
	external   bool // the document type names an external subset
	doctype    bool
	open       []string // names of open elements
	seenRoot   bool
	names      *namespaces
}

// fail returns a mistake at the current position. Its result is a concrete type, so
// that no method can return another error.
func (c *checker) fail(message string) *SyntaxError {
	before := c.s[:min(c.i, len(c.s))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + value.UTF16Len(before[strings.LastIndexByte(before, '\n')+1:])
	return &SyntaxError{Line: line, Column: column, Message: message}
}

func (c *checker) document() *SyntaxError {
	c.i = len(c.s) - len(strings.TrimPrefix(c.s, "\ufeff"))
	if strings.HasPrefix(c.s[c.i:], "<?xml") && c.i+5 < len(c.s) && (c.isSpace(c.i+5) > 0 || c.s[c.i+5] == '?') {
		if err := c.declaration(); err != nil {
			return err
		}
	}
	if err := c.characters(); err != nil {
		return err
	}
	for c.i < len(c.s) {
		if err := c.next(); err != nil {
			return err
		}
	}
	switch {
	case !c.seenRoot:
		return c.fail("document must contain a root element")
	case len(c.open) > 0:
		return c.fail("unclosed tag: " + c.open[len(c.open)-1])
	}
	return nil
}

// next reads one piece of markup, or the text up to the next one.
func (c *checker) next() *SyntaxError {
	rest := c.s[c.i:]
	switch {
	case rest[0] != '<':
		return c.text()
	case strings.HasPrefix(rest, "</"):
		return c.closeTag()
	case strings.HasPrefix(rest, "<!--"):
		return c.comment()
	case strings.HasPrefix(rest, "<![CDATA["):
		if len(c.open) == 0 {
			return c.fail("text data outside of root node")
		}
		return c.skipPast("]]>", "unclosed CDATA section")
	case strings.HasPrefix(rest, "<!DOCTYPE"):
		return c.doctypeDeclaration()
	case strings.HasPrefix(rest, "<!"):
		return c.fail("incorrect syntax")
	case strings.HasPrefix(rest, "<?"):
		return c.instruction()
	}
	return c.openTag()
}

// skipPast moves past the next end.
func (c *checker) skipPast(end, message string) *SyntaxError {
	n := strings.Index(c.s[c.i:], end)
	if n < 0 {
		return c.fail(message)
	}
	c.i += n + len(end)
	return nil
}

func (c *checker) comment() *SyntaxError {
	c.i += len("<!--")
	if err := c.skipPast("--", "unclosed comment"); err != nil {
		return err
	}
	return c.expect(">", "malformed comment")
}

// expect reads text, or fails.
func (c *checker) expect(text, message string) *SyntaxError {
	if !strings.HasPrefix(c.s[c.i:], text) {
		return c.fail(message)
	}
	c.i += len(text)
	return nil
}

// isSpace returns the length of the white space character at i, 0 if none. XML
// 1.1 has two more line ends.
func (c *checker) isSpace(i int) int {
	if i >= len(c.s) {
		return 0
	}
	switch c.s[i] {
	case ' ', '\t', '\r', '\n':
		return 1
	case 0xc2:
		if c.later() && strings.HasPrefix(c.s[i:], "\u0085") {
			return 2
		}
	case 0xe2:
		if c.later() && strings.HasPrefix(c.s[i:], "\u2028") {
			return 3
		}
	}
	return 0
}

// skipSpace reads white space and reports whether there was any.
func (c *checker) skipSpace() bool {
	start := c.i
	for n := c.isSpace(c.i); n > 0; n = c.isSpace(c.i) {
		c.i += n
	}
	return c.i > start
}

// later reports whether the document is of an XML version after 1.0.
func (c *checker) later() bool { return c.version != "" && c.version != "1.0" }

// text reads character data.
func (c *checker) text() *SyntaxError {
	if len(c.open) == 0 {
		c.skipSpace()
		if c.i < len(c.s) && c.s[c.i] != '<' {
			return c.fail("text data outside of root node")
		}
		return nil
	}
	for c.i < len(c.s) {
		n := strings.IndexAny(c.s[c.i:], "<&]")
		if n < 0 {
			c.i = len(c.s)
			return nil
		}
		c.i += n
		switch {
		case c.s[c.i] == '<':
			return nil
		case c.s[c.i] == ']':
			if strings.HasPrefix(c.s[c.i:], "]]>") {
				return c.fail(`the string "]]>" is disallowed in char data`)
			}
			c.i++
		default:
			if _, err := c.reference(); err != nil {
				return err
			}
		}
	}
	return nil
}

// reference reads an entity or character reference and returns its value.
func (c *checker) reference() (string, *SyntaxError) {
	end := strings.IndexByte(c.s[c.i:], ';')
	if end < 0 {
		return "", c.fail("unclosed entity reference")
	}
	name := c.s[c.i+1 : c.i+end]
	value := ""
	switch {
	case name == "lt":
		value = "<"
	case name == "gt":
		value = ">"
	case name == "amp":
		value = "&"
	case name == "quot":
		value = `"`
	case name == "apos":
		value = "'"
	case strings.HasPrefix(name, "#"):
		r, ok := characterReference(name[1:])
		if !ok || !c.isChar(r) {
			return "", c.fail("malformed character entity")
		}
		value = string(r)
	case name == "" || nameEnd(name, 0) != len(name):
		return "", c.fail("disallowed character in entity name")
	case !c.external || c.standalone:
		return "", c.fail("undefined entity: " + name)
	}
	c.i += end + 1
	return value, nil
}

func characterReference(digits string) (rune, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	for _, d := range []byte(digits) {
		if d == '+' || d == '-' || d == '_' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return rune(min(n, utf8.MaxRune+1)), err == nil
}

// isChar reports whether a reference to r is allowed ([2] Char of the version).
func (c *checker) isChar(r rune) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r' || c.later() && r > 0
	case r >= 0xd800 && r <= 0xdfff, r == 0xfffe, r == 0xffff:
		return false
	}
	return r <= utf8.MaxRune
}

// characters checks that every character from here on is allowed in a document.
func (c *checker) characters() *SyntaxError {
	start := c.i
	for i := c.i; i < len(c.s); {
		b := c.s[i]
		if b >= 0x20 && b < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(c.s[i:])
		lone := b == 0xed && i+1 < len(c.s) && c.s[i+1] >= 0xa0
		if !c.isChar(r) || lone || c.later() && restricted(r) {
			c.i = i
			return c.fail("disallowed character")
		}
		i += n
	}
	c.i = start
	return nil
}

// restricted reports whether r is a control character that XML 1.1 allows only as a
// reference ([2a] RestrictedChar).
func restricted(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r <= 0x9f && r != 0x85
}
