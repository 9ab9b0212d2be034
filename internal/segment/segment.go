// Package segment splits a text into the parts that people count: lines, list
// items, paragraphs, sentences, and the section under a heading.
package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Lines returns the lines that are not blank, without their line ends.
func Lines(text string) []string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			parts = append(parts, line)
		}
	}
	return parts
}

// Paragraphs returns the runs of lines between blank lines.
func Paragraphs(text string) []string {
	var parts []string
	var open []string
	flush := func() {
		if len(open) > 0 {
			parts = append(parts, strings.Join(open, "\n"))
			open = nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			flush()
			continue
		}
		open = append(open, line)
	}
	flush()
	return parts
}

// Items returns the items of the lists in text, without their markers. An item
// begins at a line with a bullet (-, *, +, •, –, ‣, ◦) or a number or
// letter followed by a full stop or a parenthesis; indented lines continue it.
func Items(text string) []string {
	var parts []string
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := item(line); ok {
			parts = append(parts, rest)
			open = true
			continue
		}
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
		case open && line != strings.TrimLeft(line, " \t"):
			parts[len(parts)-1] += "\n" + trimmed
		default:
			open = false
		}
	}
	return parts
}

// item returns the text of a line that begins a list item.
func item(line string) (string, bool) {
	line = strings.TrimLeft(line, " \t")
	r, n := utf8.DecodeRuneInString(line)
	if strings.ContainsRune("-*+•–‣◦▪●", r) && n < len(line) {
		return afterMarker(line[n:])
	}
	rest := strings.TrimPrefix(line, "(")
	i := 0
	for i < len(rest) && i < 4 && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	if i == 0 && len(rest) > 1 && unicode.IsLetter(rune(rest[0])) {
		i = 1
	}
	if i == 0 || i >= len(rest) || (rest[i] != '.' && rest[i] != ')') {
		return "", false
	}
	return afterMarker(rest[i+1:])
}

func afterMarker(rest string) (string, bool) {
	trimmed := strings.TrimLeft(rest, " \t")
	return strings.TrimRight(trimmed, " \t"), trimmed != rest && trimmed != ""
}

// Sentences returns the sentences of text (Unicode Standard Annex #29), trimmed. A
// line break after a heading or a list item also ends one; an end that
// [EndsSentence] rejects, such as an abbreviation, does not.
func Sentences(text string) []string {
	var parts []string
	for _, p := range blocks(text) {
		seg, from := sentences.FromString(p), 0
		for seg.Next() {
			end := seg.End()
			if end < len(p) && !EndsSentence(p[from:end], p[end:]) {
				continue
			}
			if s := strings.TrimSpace(p[from:end]); hasWord(s) {
				parts = append(parts, s)
			}
			from = end
		}
	}
	return parts
}

// blocks are runs of text that no sentence crosses.
func blocks(text string) []string {
	var parts []string
	for _, p := range Paragraphs(text) {
		var open []string
		for line := range strings.SplitSeq(p, "\n") {
			rest, isItem := item(line)
			if isItem || strings.HasPrefix(line, "#") {
				parts = append(parts, strings.Join(open, " "))
				open = nil
			}
			if isItem {
				line = rest
			}
			open = append(open, line)
			if strings.HasPrefix(line, "#") {
				parts = append(parts, line)
				open = nil
			}
		}
		parts = append(parts, strings.Join(open, " "))
	}
	return parts
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// Section returns the text after the first line that contains from and before the
// next line that contains to. An empty from starts at the beginning, an empty to
// ends at the end; if from is a Markdown heading and to is empty, the section ends
// at the next heading of its level or above. Case does not matter. ok is false if
// from, or a to that is not empty, does not occur.
func Section(text, from, to string) (section string, ok bool) {
	start, level := 0, 0
	if from != "" {
		at, end := findLine(text, from)
		if at < 0 {
			return "", false
		}
		level = headingLevel(text[at:end])
		start = end
	}
	rest := text[start:]
	if to != "" {
		at, _ := findLine(rest, to)
		if at < 0 {
			return "", false
		}
		return rest[:at], true
	}
	if level > 0 {
		return rest[:nextHeading(rest, level)], true
	}
	return rest, true
}

// findLine returns the start and end of the first line that contains marker.
func findLine(text, marker string) (start, end int) {
	want := strings.ToLower(marker)
	at := 0
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), want) {
			return at, at + len(line)
		}
		at += len(line)
	}
	return -1, -1
}

func headingLevel(line string) int {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n > 0 && n <= 6 && n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		return n
	}
	return 0
}

func nextHeading(text string, level int) int {
	at := 0
	for line := range strings.Lines(text) {
		if n := headingLevel(line); n > 0 && n <= level {
			return at
		}
		at += len(line)
	}
	return len(text)
}
