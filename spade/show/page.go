// Package show renders the results of spade's steps: as text for a terminal, as Markdown and
// as SVG. It escapes untrusted text for its destination.
package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/report"
)

// page collects lines for the terminal.
type page struct {
	bytes.Buffer
	o   report.TerminalOptions
	all bool // nothing is omitted
}

// newPage returns a page that is no narrower than least cells.
func newPage(o report.TerminalOptions, least int) *page {
	o.Width = max(o.Width, least)
	return &page{o: o}
}

func (t *page) line(format string, args ...any) {
	fmt.Fprintf(t, format, args...)
	t.WriteByte('\n')
}

// title starts a part of the page.
func (t *page) title(text string) {
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.line("%s", t.o.Paint(report.Bold, text))
}

// part starts a part of the page after a blank line.
func (t *page) part(format string, args ...any) {
	t.line("\n  %s", t.o.Paint(report.Bold, fmt.Sprintf(format, args...)))
}

// intervals explains the ranges of the page, after a blank line.
func (t *page) intervals() {
	t.line("\n%s", t.o.Paint(report.Dim, "Ranges in brackets are 95 % intervals (Wilson)."))
}

// cellsIn returns the approximate width of a name on a terminal.
func cellsIn(name string) int { return len([]rune(report.Line(name, 60))) }

// pad returns a name with exactly the given width.
func pad(name string, cells int) string {
	name = report.Line(name, cells)
	return name + strings.Repeat(" ", max(0, cells-len([]rune(name))))
}
