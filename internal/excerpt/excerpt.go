// Package excerpt shortens texts for messages and reports. A shortened text ends with an ellipsis,
// except in functions that return only its beginning.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// mark ends a shortened text.
const mark = "…"

// Head returns the beginning of s: at most n bytes, without splitting a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:Start(s, n)]
}

// Start moves the offset i back to the beginning of its character. Offsets within
// bytes that are not UTF-8 stay near i.
func Start(s string, i int) int {
	for from := i; i > 0 && i < len(s) && from-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return i
}

// Bytes returns s if it has at most n bytes, else its [Head] with an ellipsis.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n) + mark
}

// Runes returns s if it has at most n characters, else the first n of them with an
// ellipsis.
func Runes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + mark
		}
		n--
	}
	return s
}

// Line returns the first n characters of s on one line, with a single space in
// place of white space. It reads only as much of a long text as it needs.
func Line(s string, n int) string {
	const widest = 2 * utf8.UTFMax // bytes read per character
	return Runes(strings.Join(strings.Fields(Head(s, widest*n)), " "), n)
}

// plainLength is the number of characters of a line that a message shows.
const plainLength = 120

// Plain shortens a line for a message and replaces what a terminal would
// interpret.
func Plain(line string) string {
	var b strings.Builder
	n := 0
	for _, r := range line {
		if n == plainLength {
			b.WriteString(mark)
			break
		}
		switch {
		case r == '\t':
			r = ' '
		case r < 0x20 || (r >= 0x7f && r < 0xa0):
			r = utf8.RuneError
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
