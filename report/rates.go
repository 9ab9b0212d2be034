package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/value"
)

// confidence is the confidence level of every interval shown.
const confidence = 0.95

// maxLines limits the tables of a terminal report.
const maxLines = 40

const (
	// besideNames is the minimum width, in cells, at which the numbers of a table stand
	// before the names. In narrower terminals they stand above the names.
	besideNames = 80
	// nameLines is the maximum number of lines of a name.
	nameLines = 4
)

// entry shows a table line: short numbers, and the full name.
func (p *printer) entry(figures, name string) {
	if p.o.Width < besideNames {
		p.wrapped("  ", strings.Join(strings.Fields(figures), " "))
		p.wrapped("    ", name)
		return
	}
	first := "  " + figures + "  "
	for _, line := range wrap(clean(name), p.o.Width-cellsOf(first), nameLines) {
		p.line("%s%s", first, opening(line))
		first = strings.Repeat(" ", cellsOf(first))
	}
}

// wrapped shows a text on several lines, up to a limit.
func (p *printer) wrapped(before, text string) {
	for _, line := range wrap(clean(text), p.o.Width-len(before), nameLines) {
		p.line("%s%s", before, opening(line))
	}
}

// columns shows the results of each prompt and provider, if there are several.
func (p *printer) columns() {
	list := p.sum.Columns()
	if len(list) < 2 {
		return
	}
	p.line("%s", p.o.Paint(Bold, "Prompts and providers"))
	for i := range list[:min(len(list), maxLines)] {
		p.entry(list[i].Rows.figures(), p.columnName(i)+list[i].Rows.others())
	}
	p.left(len(list))
	p.w.WriteByte('\n')
}

func (p *printer) columnName(i int) string {
	if i >= len(p.meta.Columns) {
		return fmt.Sprintf("column %d", i+1)
	}
	return p.prompts[i] + " → " + p.meta.Columns[i].provider()
}

// rates shows the pass rate of each assertion, worst first.
func (p *printer) rates() {
	list := p.sum.Assertions()
	if len(list) == 0 {
		return
	}
	title := "Assertions, with the 95 % interval of the pass rate"
	if p.o.Width < besideNames {
		title = "Assertions, with 95 % intervals"
	}
	p.line("%s", p.o.Paint(Bold, title))
	for i := range list[:min(len(list), maxLines)] {
		a := &list[i]
		span := ""
		if a.Decided() > 0 {
			r := a.interval()
			span = fmt.Sprintf("%3.0f–%.0f%%", 100*r.Low, 100*r.High)
		}
		p.entry(a.figures()+"  "+pad(span, 9), a.Name()+a.others()+p.judging(a))
	}
	if more := leftOut(list, maxLines); more != "" {
		p.line("  %s (in the JSON report)", more)
	}
	p.w.WriteByte('\n')
}

// judging returns the cost of deciding, and the trust in the judges.
func (p *printer) judging(a *AssertionSummary) string {
	text := ""
	if a.Cost > 0 {
		text = ", " + usd.Text(a.Cost)
	}
	if unsure := a.unsure(); unsure != "" {
		text += ", " + unsure
	}
	if trust := p.meta.trustText(a); trust != "" {
		text += ", " + trust
	}
	return text
}

// left shows the number of table lines that are left out.
func (p *printer) left(n int) {
	if n > maxLines {
		p.line("  … and %d more (in the JSON report)", n-maxLines)
	}
}

// metrics shows named scores and derived metrics.
func (p *printer) metrics() {
	var lines [][2]string // numbers, name
	columns := p.sum.Columns()
	for i := range columns {
		where := ""
		if len(columns) > 1 {
			where = ", " + p.columnName(i)
		}
		for _, m := range columns[i].Metrics() {
			lines = append(lines, [2]string{fmt.Sprintf("mean %-8s sum %-8s n %-6d", short(m.Sum/m.Weight), short(m.Sum), m.Count), m.Name + where})
		}
		for _, d := range columns[i].Derived {
			lines = append(lines, [2]string{fmt.Sprintf("derived %-29s", cut(derived(d.Value), 29)), d.Name + where})
		}
	}
	if len(lines) == 0 {
		return
	}
	p.line("%s", p.o.Paint(Bold, "Metrics"))
	for _, line := range lines[:min(len(lines), maxLines)] {
		p.entry(line[0], line[1])
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

// short formats a number for people, with four significant digits.
func short(f float64) string {
	if f == float64(int64(f)) {
		return value.FormatNumber(f)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// repeats shows how consistent the repeats of a case are.
func (p *printer) repeats() {
	r := p.sum.Repeats()
	if r.Groups == 0 {
		return
	}
	p.line("%s", p.o.Paint(Bold, "Repeats"))
	p.line("  flake rate %.0f%%: %d of %s both passed and failed", 100*float64(r.Flaky)/float64(r.Groups), r.Flaky, plural.Of(r.Groups, "repeated case"))
	p.line("  %d of %d passed as often as the suite asks for", r.Met, r.Groups)
	p.w.WriteByte('\n')
}

// duration formats d in a suitable unit.
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
