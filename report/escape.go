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

// Lines returns s, whose line breaks count, as lines that are safe to print: at most
// limit of at most so many cells, broken at blanks where there are any. What is left
// out is an ellipsis at the end of the last.
func Lines(s string, cells, limit int) []string { return wrap(s, cells, limit) }

// MarkdownCode returns s as a code span of at most so many cells, in which
// Markdown knows no markup, links or mentions; it may stand in a table.
func MarkdownCode(s string, cells int) string {
	return cell(strings.Join(strings.Fields(clip(s, cells*maxBytes)), " "), cells)
}
