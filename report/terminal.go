package report

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
)

// TerminalOptions describe the terminal. The zero value is right for a pipe.
type TerminalOptions struct {
	Color   bool   // use colours; without them the text has the same information
	Width   int    // cells per line; 0 means 100
	All     bool   // show every failing row in detail, not only the first twenty
	Summary bool   // show no rows, only why some have errors
	More    string // command that shows the rest; "" means proviso show with the run's id
}

// The colours of [TerminalOptions.Paint], as parameters of a CSI sequence.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
)

// Paint colours clean text if the terminal has colours.
func (o TerminalOptions) Paint(color, text string) string {
	if !o.Color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (o TerminalOptions) sized() TerminalOptions {
	o.Width = max(cmp.Or(max(o.Width, 0), 100), 40)
	return o
}

// Terminal shows a run to a person: failing rows first, with the differing part of the
// output marked, then rows with errors, pass rates per assertion, metrics, cost and
// duration. The last line is always "N passed, N failed, N errors". Only rows shown in
// detail are decoded. Control sequences are made visible instead of being sent.
func Terminal(w io.Writer, o TerminalOptions, meta *Meta, sum *Summary, rows Rows) error {
	p := &printer{w: bufio.NewWriter(w), o: o.sized(), meta: meta, sum: sum, rows: rows, prompts: meta.promptNames(promptCells)}
	var err error
	if o.Summary {
		p.errorTexts()
	} else {
		err = p.details()
	}
	if err != nil {
		return err
	}
	p.columns()
	p.rates()
	p.judges()
	p.metrics()
	p.repeats()
	p.missed()
	p.end()
	return p.w.Flush()
}

func renderTerminal(_ context.Context, w *bufio.Writer, in *Input) error {
	return Terminal(w, TerminalOptions{}, in.Meta, in.Summary, in.Rows)
}

// printer writes the report. Its bufio.Writer keeps the first error until Flush.
type printer struct {
	w    *bufio.Writer
	o    TerminalOptions
	meta *Meta
	sum  *Summary
	rows Rows

	prompts []string // prompt names of the columns
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.w, format, args...)
	p.w.WriteByte('\n')
}

// details shows failing rows, then rows with errors, each in index order.
func (p *printer) details() error {
	t := p.sum.Totals()
	if p.o.All {
		if err := p.everyRow(proviso.Fail); err != nil {
			return err
		}
		return p.everyRow(proviso.Errored)
	}
	first := p.sum.failures()
	for _, index := range first {
		if err := p.rowAt(index, proviso.Fail, 1); err != nil {
			return err
		}
	}
	p.andMore(t.Failed-len(first), "failures")
	return p.errors(shownRows)
}

// errors shows at most the given number of distinct errors.
func (p *printer) errors(most int) error {
	kinds, shown := p.sum.undecidedRows(), 0
	for _, e := range kinds[:min(len(kinds), most)] {
		if err := p.rowAt(e.first, proviso.Errored, e.rows); err != nil {
			return err
		}
		shown += e.rows
	}
	p.andMore(p.sum.Totals().Errors-shown, "errors")
	return nil
}

// errorTexts shows why rows have errors, without the rows.
func (p *printer) errorTexts() {
	const most = 5
	kinds := p.sum.undecidedRows()
	if len(kinds) == 0 {
		return
	}
	p.line("%s", p.o.Paint(Bold, "Errors"))
	shown := 0
	for _, e := range kinds[:min(len(kinds), most)] {
		p.entry(fmt.Sprintf("%8s", plural.Of(e.rows, "row")), e.text)
		shown += e.rows
	}
	if more := p.sum.Totals().Errors - shown; more > 0 {
		p.line("  … and %s with other errors (%s)", plural.Of(more, "row"), p.more())
	}
	p.w.WriteByte('\n')
}

func (p *printer) rowAt(index int, status proviso.Status, rows int) error {
	row, err := p.rows.Row(index)
	if err != nil {
		return err
	}
	return p.row(row, status, rows)
}

// andMore shows how many rows are left out.
func (p *printer) andMore(n int, noun string) {
	if n > 0 {
		p.line("… and %d more %s (%s)\n", n, noun, p.more())
	}
}

func (p *printer) more() string {
	if p.o.More != "" {
		return p.o.More
	}
	return "proviso show " + cut(p.meta.RunID, 40)
}

func (p *printer) everyRow(status proviso.Status) error {
	for _, row := range p.rows.Rows() {
		if !bytes.Contains(row, []byte(`"success":false,"verdict":"`+status.String()+`"`)) {
			continue
		}
		if err := p.row(row, status, 1); err != nil {
			return err
		}
	}
	return p.rows.Err()
}

// end shows cost, duration and totals.
func (p *printer) end() {
	t := p.sum.Totals()
	parts := append([]string{plural.Of(t.Rows(), "row"), duration(p.meta.Elapsed)}, spent(t)...)
	name := cut(p.meta.Suite, 100)
	if name != "" {
		name += ": "
	}
	p.wrapped("", "Suite "+name+strings.Join(parts, ", "))
	if p.meta.RunFile != "" {
		p.line("Kept in %s", clean(p.meta.RunFile))
	}
	if left := p.meta.Planned - t.Rows(); left > 0 {
		are, them := "are", "them"
		if left == 1 {
			are, them = "is", "it"
		}
		p.line("%d of %s %s not finished; proviso eval with the same flags and --resume=%s does %s", left, plural.Of(p.meta.Planned, "row"), are, clean(p.meta.RunID), them)
	}
	if text := p.sum.allSkipped(); text != "" {
		p.wrapped("", text)
	}
	text := fmt.Sprintf("%s, %s, %s",
		p.count(Green, t.Passed, "passed"), p.count(Red, t.Failed, "failed"), p.count(Yellow, t.Errors, "errors"))
	if t.Skipped > 0 {
		text += ", " + p.count(Yellow, t.Skipped, "skipped")
	}
	p.line("%s", text)
}

func (p *printer) count(color string, n int, what string) string {
	text := fmt.Sprintf("%d %s", n, what)
	if n == 0 {
		return text
	}
	return p.o.Paint(color, text)
}
