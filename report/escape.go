package report

import "strings"

// Line returns s as it is safe to print on one line of a terminal or a log: at
// most so many cells, blanks and line breaks as one blank, control sequences and
// commands of CI systems visible instead of in force.
func Line(s string, cells int) string {
	if len(s) > cells*maxBytes { // the rest would be cut off
		s = s[:runeStart(s, cells*maxBytes)]
	}
	return cut(strings.Join(strings.Fields(s), " "), cells)
}

// MarkdownCode returns s as a code span of at most so many cells, in which
// Markdown knows no markup, links or mentions; it may stand in a table.
func MarkdownCode(s string, cells int) string {
	return cell(strings.Join(strings.Fields(clip(s, cells*maxBytes)), " "), cells)
}
