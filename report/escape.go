package report

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

// Line returns s in a form that is safe to print on one line of a terminal or a log: at
// most the given cells, and at least one. Each run of blanks and line breaks becomes one
// blank. Control sequences and commands of CI systems are made visible and have no effect.
func Line(s string, cells int) string {
	cells = max(cells, 1)
	if len(s) > cells*maxBytes { // more would be cut off
		s = excerpt.Head(s, cells*maxBytes)
	}
	line := strings.Join(strings.Fields(s), " ")
	if strings.HasPrefix(line, "::") {
		line = `\` + line
	}
	return cut(line, cells)
}

// Cells returns the number of terminal cells of a text that [Line] or [Lines] returned.
func Cells(clean string) int { return cellsOf(clean) }

// Lines returns s, with its line breaks, as lines that are safe to print: at most limit
// lines of at most the given cells, and at least one. It breaks lines at blanks if
// possible. An ellipsis at the end of the last line marks a longer text.
func Lines(s string, cells, limit int) []string { return wrap(s, max(cells, 1), limit) }

// Opening makes a text that [Lines] returned safe at the beginning of a line, also after
// blanks. There a CI system would interpret two colons or ## as a command.
func Opening(clean string) string { return opening(clean) }

// MarkdownCode returns s as a code span of at most the given cells, in which Markdown
// recognises no markup, links or mentions. It may be used in a table.
func MarkdownCode(s string, cells int) string {
	return cell(strings.Join(strings.Fields(clip(s, cells*maxBytes)), " "), cells)
}

// MarkdownFence returns lines as a fenced block of a language, in which Markdown recognises
// no markup, links or mentions. The fence is longer than any run of backticks in the lines.
// A line that a CI system would interpret as a command gets a backslash.
func MarkdownFence(language string, lines []string) string {
	cleaned := make([]string, len(lines))
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		cleaned[i] = line[:len(line)-len(rest)] + Opening(clean(rest))
	}
	return fenced(language, cleaned)
}
