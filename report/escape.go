package report

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

// Line returns s in a form that is safe to print on one line of a terminal or a log:
// at most the given cells, with blanks and line breaks as one blank. Control
// sequences and commands of CI systems are made visible and have no effect.
func Line(s string, cells int) string {
	if len(s) > cells*maxBytes { // the rest would be cut off
		s = excerpt.Head(s, cells*maxBytes)
	}
	return cut(strings.Join(strings.Fields(s), " "), cells)
}

// Lines returns s, with its line breaks, as lines that are safe to print: at most
// limit lines of at most the given cells, broken at blanks if possible. An ellipsis
// at the end of the last line marks a longer text.
func Lines(s string, cells, limit int) []string { return wrap(s, cells, limit) }

// MarkdownCode returns s as a code span of at most the given cells, in which Markdown
// has no markup, links or mentions. It may be used in a table.
func MarkdownCode(s string, cells int) string {
	return cell(strings.Join(strings.Fields(clip(s, cells*maxBytes)), " "), cells)
}
