package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Outputs of models and texts of suites may contain sequences that move the cursor,
// recolour or reverse text in a terminal, or that a CI system executes as commands.
// Everything printed goes through clean or cut.

// clean returns s on one line, with invisible and control characters as escapes.
func clean(s string) string { return cut(s, len(s)*maxEscape+1) }

const (
	// maxEscape is the length of the longest escape, such as \u{10ffff}.
	maxEscape = 10
	// maxBytes limits how many bytes are read for one cell. Combining marks take no cell,
	// so a text of only marks would otherwise be read to its end.
	maxBytes = 64
)

// cut returns as much of clean(s) as fits into the given terminal cells. An ellipsis marks
// a longer text. It does not read long texts to their end.
func cut(s string, cells int) string { return cutAfter("", s, cells) }

// cutAfter is cut for a text that directly follows before, which is clean: a CI command may
// begin in one and end in the other.
func cutAfter(before, s string, cells int) string {
	var b strings.Builder
	used, fits := 0, 0 // fits is the length up to which an ellipsis still fits
	marks := 0
	for i := 0; i < len(s); {
		if i > cells*maxBytes {
			return b.String()[:fits] + "…"
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		part := s[i : i+size]
		i += size
		if escaped := escape(r, part, before, b.String()); escaped != "" {
			part = escaped
		}
		w := cellsOf(part)
		if w == 0 {
			// More combining marks than any script uses would cover other lines.
			if marks++; marks > 8 {
				continue
			}
		} else {
			marks = 0
		}
		if used+w > cells {
			return b.String()[:fits] + "…"
		}
		b.WriteString(part)
		used += w
		if used < cells {
			fits = b.Len()
		}
	}
	return b.String()
}

// escape returns how r is shown if it must not be shown unchanged. before are the texts
// before it.
func escape(r rune, raw string, before ...string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r == utf8.RuneError && len(raw) == 1:
		return hexEscape(`\x`, rune(raw[0]), 2)
	case r < utf8.RuneSelf && unicode.IsPrint(r):
		if r == '[' && opensCommand(strings.Join(before, "")) {
			return `\[`
		}
		return ""
	case r < 0x100 && unicode.IsControl(r):
		return hexEscape(`\x`, r, 2)
	case r == 0x200d || unicode.In(r, unicode.Mn, unicode.Me):
		return "" // joiners and marks belong to what they follow
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		if r > 0xffff {
			return hexEscape(`\u{`, r, 5) + "}"
		}
		return hexEscape(`\u`, r, 4)
	}
	return ""
}

func hexEscape(prefix string, r rune, digits int) string {
	const hex = "0123456789abcdef"
	b := []byte(prefix)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, hex[r>>shift&15])
	}
	return string(b)
}

// opensCommand reports whether a bracket after text would complete the start of a CI
// command, such as ##[error] or ##vso[task.complete], which works anywhere in a line.
// [Line] and opening handle commands that must begin a line (::error::).
func opensCommand(text string) bool {
	text = strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.HasSuffix(text, "##")
}

// opening makes a clean line safe where only blanks, of any kind, precede it. There a CI
// system would interpret two colons or ## as a command.
func opening(line string) string {
	if rest := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "##") {
		return `\` + line
	}
	return line
}

// cellsOf returns the number of terminal cells of s.
func cellsOf(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	if r < 0x300 {
		return 1
	}
	if r == 0x200d || unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// wrap breaks s, including at its line breaks, into clean lines of at most the given cells,
// at blanks if possible. It leaves out the lines beyond limit.
func wrap(s string, cells, limit int) []string {
	var lines []string
	for len(s) > 0 {
		paragraph, rest, _ := strings.Cut(s, "\n")
		s = rest
		paragraph = strings.TrimRight(paragraph, "\r")
		for first := true; first || paragraph != ""; first = false {
			if len(lines) == limit {
				lines[limit-1] = strings.TrimSuffix(cut(lines[limit-1], cells-1), "…") + "…"
				return lines
			}
			line, n := firstLine(paragraph, cells)
			lines = append(lines, line)
			paragraph = strings.TrimLeft(paragraph[n:], " ")
		}
	}
	return lines
}

// firstLine returns the beginning of s that fits, cleaned, and its length in s.
func firstLine(s string, cells int) (string, int) {
	used, blank := 0, 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		w := runeCells(r)
		if e := escape(r, s[i:i+size], s[max(0, i-32):i]); e != "" {
			w = len(e)
		}
		if used += w; used > cells || i > cells*maxBytes {
			n := max(i, size)
			if blank > 0 {
				n = blank
			}
			return clean(s[:n]), n
		}
		if r == ' ' {
			blank = i
		}
		i += size
	}
	return clean(s), len(s)
}
