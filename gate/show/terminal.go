package show

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
)

// Terminal writes a comparison, and the decision on it unless d is nil, for a person: the
// table of assertions, the changes in the prompts, and the worst cases with evidence and
// a word diff. Control sequences and commands of CI systems are made visible and have no
// effect.
func Terminal(w io.Writer, c *gate.Comparison, d *gate.Decision, texts Texts, o Options) error {
	o = o.withDefaults()
	p := printer{w: bufio.NewWriter(w), o: o, c: c}
	if c != nil {
		p.head()
		p.table()
		if err := p.details(&shower{c: c, texts: texts}); err != nil {
			return err
		}
	}
	p.end(d)
	if err := p.w.Flush(); err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the comparison: %w", err)
	}
	return nil
}

// printer writes lines. Its bufio.Writer keeps the first error until Flush.
type printer struct {
	w *bufio.Writer
	o Options
	c *gate.Comparison
}

// line writes clean text.
func (p *printer) line(text string) {
	p.w.WriteString(strings.TrimRight(text, " "))
	p.w.WriteByte('\n')
}

// wrapped cleans text and writes it indented, in at most limit lines.
func (p *printer) wrapped(first, indent, color, text string, limit int) {
	for i, line := range report.Lines(text, p.o.Width-max(utf8.RuneCountInString(first), utf8.RuneCountInString(indent)), limit) {
		if i > 0 {
			first = indent
		}
		if strings.TrimSpace(first) == "" {
			line = report.Opening(line)
		}
		p.line(first + p.o.Paint(color, line))
	}
}

// head writes the names of the runs and the warnings about their comparability.
func (p *printer) head() {
	p.wrapped("", "  ", "", "base "+p.c.Base.Name+", head "+p.c.Head.Name, 3)
	p.line("")
	for _, text := range p.c.Warnings[:min(len(p.c.Warnings), maxSentences)] {
		p.wrapped("! ", "  ", report.Yellow, text, 4)
	}
	if more := len(p.c.Warnings) - maxSentences; more > 0 {
		p.line(fmt.Sprintf("! … and %d more", more))
	}
	if len(p.c.Warnings) > 0 {
		p.line("")
	}
}

// The widths of the table's columns of figures, in cells.
const (
	figureCells = 16
	diffCellsOf = 24
)

// table writes the figures of the suite and of each assertion.
func (p *printer) table() {
	if p.c.Suite.Pairs == 0 && len(p.c.Assertions) == 0 {
		return
	}
	p.row(report.Bold, report.Bold, plural.Of(p.c.Suite.Pairs, "pair"), "base", "head", "difference, pp")
	p.row(report.Bold, p.color(p.c.Suite.Difference.Low, p.c.Suite.Difference.High), "Suite", figure(p.c.Suite.Base), figure(p.c.Suite.Head), difference(&p.c.Suite))
	if list := suiteNotes(p.c); len(list) > 0 {
		p.wrapped("  ", "  ", report.Dim, strings.Join(list, "; "), 4)
	}
	assertions, more := shown(p.c, maxRows)
	for _, a := range assertions {
		p.row("", p.color(a.Difference.Low, a.Difference.High), a.Assertion, figure(a.Base), figure(a.Head), difference(&a.Effect))
		list := notes(a)
		if text := flips(a); text != "" {
			list = append([]string{text}, list...)
		}
		if len(list) > 0 {
			p.wrapped("  ", "  ", report.Dim, strings.Join(list, "; "), 4)
		}
	}
	if more > 0 {
		p.line(fmt.Sprintf("… and %s (in the JSON format)", plural.Of(more, "further assertion")))
	}
	p.line(p.o.Paint(report.Dim, "[ ] 95 % intervals"))
	for _, x := range measures(p.c) {
		p.line(fmt.Sprintf("%s (median): %s → %s, %s", x.Name, x.Base, x.Head, x.Difference))
	}
	p.line("")
}

// color returns the colour for a difference whose interval excludes zero.
func (p *printer) color(low, high float64) string {
	switch {
	case high < 0:
		return report.Red
	case low > 0:
		return report.Green
	}
	return ""
}

func difference(e *gate.Effect) string {
	return strings.Replace(points(e.Difference), " pp", "", 1)
}

// row writes one line of the table. A name that does not fit gets its own line.
func (p *printer) row(nameColor, color, name, base, head, difference string) {
	room := p.o.Width - 2*figureCells - diffCellsOf
	clean := report.Line(name, p.o.Width)
	if report.Cells(clean) >= room {
		p.line(p.o.Paint(nameColor, clean))
		clean = ""
	}
	p.line(p.o.Paint(nameColor, clean) + strings.Repeat(" ", room-report.Cells(clean)) + right(base, figureCells) + right(head, figureCells) +
		strings.Repeat(" ", max(1, diffCellsOf-utf8.RuneCountInString(difference))) + p.o.Paint(color, difference))
}

// right pads text on the left.
func right(text string, cells int) string {
	return strings.Repeat(" ", max(1, cells-utf8.RuneCountInString(text))) + text
}

// details writes the changes in the prompts, and the cases.
func (p *printer) details(s *shower) error {
	for _, x := range s.promptChanges() {
		title := "What changed in the prompt"
		if x.Name != "" {
			title += ` "` + report.Line(x.Name, p.o.Width-30) + `"`
		}
		p.line(p.o.Paint(report.Bold, title))
		p.diff(x.Diff)
		p.line("")
	}
	more := func(others []gate.CasePair) {
		p.names(others)
		p.line("")
	}
	return s.cases(p.o.Cases, func(title string) { p.line(p.o.Paint(report.Bold, title)) }, p.one, more)
}

// names lists the cases that are not shown with their texts.
func (p *printer) names(pairs []gate.CasePair) {
	if len(pairs) == 0 {
		return
	}
	var list []string
	for i := range pairs[:min(len(pairs), maxNames)] {
		list = append(list, report.Line(pairs[i].Label(), 40))
	}
	if more := len(pairs) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more (in the JSON format)", more))
	}
	p.wrapped("  … ", "    ", "", strings.Join(list, ", "), 10)
}

// one writes one case.
func (p *printer) one(d *detail) bool {
	color := map[string]string{"✗": report.Red, "✓": report.Green}[d.Sign]
	title := d.Title()
	if d.Column != "" {
		title += " at " + d.Column
	}
	p.line(p.o.Paint(color, d.Sign) + " " + p.o.Paint(report.Bold, report.Line(title, p.o.Width-2)))
	if text := d.Input(); text != "" {
		p.wrapped("  ", "    ", report.Dim, text, 2)
	}
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		p.line("  " + report.Line(v.Assertion, p.o.Width-24) + ": " + v.Statuses())
		for _, s := range v.Sides() {
			if s.Reason != "" {
				p.wrapped("    "+s.Name+": ", "      ", "", s.Reason, 3)
			}
			for _, quote := range s.Evidence {
				p.wrapped("    "+s.Name+" quote: ", "      ", report.Dim, quote, 2)
			}
		}
	}
	for _, s := range d.Missing() {
		p.wrapped("  "+s.Name+": ", "    ", "", s.Reason, 3)
	}
	if d.Prompt != nil {
		p.line("  prompt as sent:")
		p.diff(d.Prompt)
	}
	switch {
	case d.Diff != nil:
		p.line("  output:")
		p.diff(folded(d.Diff))
	case d.Output() != nil:
		p.line("  output" + d.Same() + ":")
		p.wrapped("    ", "    ", "", *d.Output(), 6)
	}
	return true
}

// shownDiff is the maximum number of lines of a diff.
const shownDiff = 24

// diff writes a word diff: lines that begin with - are from base, with + from head.
func (p *printer) diff(parts []part) {
	n := 0
	for _, x := range parts {
		color := map[byte]string{'-': report.Red, '+': report.Green, ' ': report.Dim}[x.op]
		for _, line := range report.Lines(strings.TrimSpace(x.text), p.o.Width-6, shownDiff) {
			if n++; n > shownDiff {
				p.line("    …")
				return
			}
			if x.op == ' ' {
				line = report.Opening(line)
			}
			p.line("    " + p.o.Paint(color, string(x.op)+" "+line))
		}
	}
}

// end counts the other cases, and writes the result as the last line.
func (p *printer) end(d *gate.Decision) {
	if p.c != nil {
		if list := rest(p.c); len(list) > 0 {
			p.line("Other cases: " + strings.Join(list, ", "))
		}
		p.wrapped("", "", "", suiteSentence(p.c), 4)
	}
	if p.o.Link != "" {
		p.line("The run: " + report.Line(p.o.Link, 4*p.o.Width))
	}
	if d != nil {
		for _, r := range d.Reasons[:min(len(d.Reasons), maxSentences)] {
			p.wrapped("- ", "  ", "", r.Message, 6)
		}
		if text := neededOf(d).String(); text != "" {
			p.line("- " + text)
		}
	}
	sign, text := headline(p.c, d)
	color := map[string]string{"✗": report.Red, "✓": report.Green, "?": report.Yellow}[sign]
	p.line(p.o.Paint(color, sign+" "+text))
}
