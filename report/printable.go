package report

import (
	"strings"
	"unicode"
)

// Printable replaces characters that would control the terminal: control characters,
// and those that change the direction of text. Line breaks and tabs stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// OneLine returns s with single spaces in place of white space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
