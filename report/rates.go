package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// confidence is that of every interval shown.
const confidence = 0.95

// interval returns the range in which the true pass rate is expected.
func (a *AssertionSummary) interval() (low, high float64) {
	i := stats.Wilson(a.Passed, a.Decided(), confidence)
	return i.Low, i.High
}

// maxLines bounds the tables of a terminal report.
const maxLines = 40

// columns shows what each prompt and provider did, where there are several.
func (p *printer) columns() {
	list := p.sum.Columns()
	if len(list) < 2 {
		return
	}
	p.line("%s", p.paint(bold, "Prompts and providers"))
	for i, c := range list[:min(len(list), maxLines)] {
		p.line("  %s  %s%s", ratio(c.Rows), cut(p.columnName(i), p.o.Width-40), rest(c.Rows))
	}
	p.left(len(list))
	p.w.WriteByte('\n')
}

func (p *printer) columnName(i int) string {
	if i >= len(p.meta.Columns) {
		return fmt.Sprintf("column %d", i+1)
	}
	c := &p.meta.Columns[i]
	return firstCells(c.prompt()) + " → " + c.provider()
}

// rates shows the pass rate of each kind of assertion, worst first.
func (p *printer) rates() {
	list := p.sum.Assertions()
	if len(list) == 0 {
		return
	}
	p.line("%s", p.paint(bold, "Assertions, with the 95 % interval of the pass rate"))
	for i := range list[:min(len(list), maxLines)] {
		a := &list[i]
		name := a.Type
		if a.Label != "" {
			name += " (" + a.Label + ")"
		}
		low, high := a.interval()
		span := fmt.Sprintf("%3.0f–%.0f%%", 100*low, 100*high)
		if a.Decided() == 0 {
			span = ""
		}
		p.line("  %s  %s  %s%s%s", ratio(a.Counts), pad(span, 9), cut(name, p.o.Width-50), rest(a.Counts), p.judging(a))
	}
	p.left(len(list))
	p.w.WriteByte('\n')
}

// judging says what deciding cost, and how far whoever decided can be trusted.
func (p *printer) judging(a *AssertionSummary) string {
	text := ""
	if a.Cost > 0 {
		text = fmt.Sprintf(", $%.4g", a.Cost)
	}
	if trust := p.meta.trustText(a); trust != "" {
		text += ", " + trust
	}
	return text
}

// left says how many lines of a table were not shown.
func (p *printer) left(n int) {
	if n > maxLines {
		p.line("  … and %d more (in the JSON report)", n-maxLines)
	}
}

// ratio returns rate and counts, in columns of one width.
func ratio(c Counts) string {
	rate := "   –"
	if c.Decided() > 0 {
		rate = fmt.Sprintf("%3.0f%%", 100*float64(c.Passed)/float64(c.Decided()))
		// Not every one passed, so the rate must not be rounded up to all.
		if c.Failed > 0 && rate == "100%" {
			rate = ">99%"
		}
	}
	return rate + fmt.Sprintf("%8d of %-6d", c.Passed, c.Decided())
}

// rest names what was not decided.
func rest(c Counts) string {
	text := ""
	if c.Errors > 0 {
		text += ", " + plural(c.Errors, "error")
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

// metrics shows named scores and derived metrics.
func (p *printer) metrics() {
	var lines []string
	columns := p.sum.Columns()
	for i := range columns {
		where := ""
		if len(columns) > 1 {
			where = ", " + p.columnName(i)
		}
		for _, m := range columns[i].Metrics() {
			lines = append(lines, fmt.Sprintf("mean %-8s sum %-8s n %-6d  %s", short(m.Sum/m.Weight), short(m.Sum), m.Count,
				cut(m.Name+where, p.o.Width-46)))
		}
		for _, d := range columns[i].Derived {
			lines = append(lines, fmt.Sprintf("derived %-30s %s", cut(derived(d.Value), 30), cut(d.Name+where, p.o.Width-46)))
		}
	}
	if len(lines) == 0 {
		return
	}
	p.line("%s", p.paint(bold, "Metrics"))
	for _, line := range lines[:min(len(lines), maxLines)] {
		p.line("  %s", line)
	}
	p.left(len(lines))
	p.w.WriteByte('\n')
}

func derived(v any) string {
	if f, ok := v.(float64); ok {
		return short(f)
	}
	if v == nil {
		return "–"
	}
	return textOf(v)
}

// short returns a number as people write it, to four digits.
func short(f float64) string {
	if f == float64(int64(f)) {
		return proviso.FormatNumber(f)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// repeats shows how far repetitions of the same case agree.
func (p *printer) repeats() {
	r := p.sum.Repeats()
	if r.Groups == 0 {
		return
	}
	p.line("%s", p.paint(bold, "Repeats"))
	p.line("  flake rate %.0f%%: %d of %s both passed and failed", 100*float64(r.Flaky)/float64(r.Groups), r.Flaky, plural(r.Groups, "repeated case"))
	p.line("  %d of %d passed as often as the suite asks for", r.Met, r.Groups)
	p.w.WriteByte('\n')
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// duration returns d in the unit that people think in.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		return strings.TrimSuffix(text, "0s")
	}
	return text
}
