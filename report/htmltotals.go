package report

import (
	"fmt"
	"html"
)

// totals writes the counts of the rows, and the pass rate with its interval.
func (p *page) totals() {
	c := p.in.Summary.rows
	p.w.WriteString("<ul class=\"totals\">\n")
	for _, x := range [...]struct {
		n                 int
		class, sign, word string
	}{{c.Failed, "fail", "✕", "failed"}, {c.Errors, "error", "!", "errors"}, {c.Passed, "pass", "✓", "passed"}, {c.Skipped, "skip", "–", "skipped"}} {
		if x.n == 0 {
			x.class = "none"
		}
		fmt.Fprintf(p.w, "<li><b class=\"status %s\"><span aria-hidden=\"true\">%s </span>%d</b> %s</li>\n", x.class, x.sign, x.n, x.word)
	}
	if first, rest := c.headline(); first != "" {
		fmt.Fprintf(p.w, "<li class=\"rate\"><b>%s</b> %s", html.EscapeString(first), rest)
		p.bar(c)
		p.w.WriteString("</li>\n")
	}
	p.w.WriteString("</ul>\n")
	if text := p.in.Summary.allSkipped(); text != "" {
		fmt.Fprintf(p.w, "<p class=\"note\">%s.</p>\n", text)
	}
	if r := p.in.Summary.Repeats(); r.Groups > 0 {
		fmt.Fprintf(p.w, "<p class=\"note\">Of %s, %d both passed and failed; %d passed often enough for the rule of the suite.</p>\n",
			Plural(r.Groups, "repeated case"), r.Flaky, r.Met)
	}
}

// bar draws what passed and what failed, with the errors between them, and the interval of
// the pass rate; the numbers are beside it. Where nothing was decided there is none.
func (p *page) bar(c Counts) {
	if c.Decided() == 0 {
		return
	}
	low, high := c.ends()
	i := c.interval()
	fmt.Fprintf(p.w, `<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><rect class="back" width="100" height="12"/>`+
		`<rect class="ok" width="%.1f" height="12"/><rect class="bad" x="%.1f" width="%.1f" height="12"/>`+
		`<path class="ends" d="M%.1f 6H%.1fM%.1f 3V9M%.1f 3V9"/></svg>`,
		100*low, 100*high, 100-100*high, 100*i.Low, 100*i.High, 100*i.Low, 100*i.High)
}

// pagePrompt is how many cells of a prompt are shown in the table of columns.
const pagePrompt = 120

// maxRates limits the table of assertions.
const maxRates = 200

// assertions writes the pass rate of each assertion, worst first.
func (p *page) assertions() {
	list := p.in.Summary.Assertions()
	p.w.WriteString("<h2 id=\"h-assertions\">Assertions</h2>\n")
	if len(list) == 0 {
		p.w.WriteString("<p class=\"note\">The run has no assertions.</p>\n")
		return
	}
	p.table("Pass rates of assertions", "Assertion")
	for i := range list[:min(len(list), maxRates)] {
		p.assertion(&list[i])
	}
	p.w.WriteString("</tbody></table></div>\n")
	if more := leftOut(list, maxRates); more != "" {
		p.w.WriteString("<p class=\"note\">" + more + ", in the JSON report.</p>\n")
	}
	p.judges()
	p.columns()
}

func (p *page) table(label, first string) {
	fmt.Fprintf(p.w, "<div class=\"wide\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table class=\"rates\"><thead><tr><th scope=\"col\">%s</th>"+
		"<th scope=\"col\">Pass rate <small>95 %% interval</small></th><th scope=\"col\" class=\"n\">Failed</th><th scope=\"col\" class=\"n\">Errors</th><th scope=\"col\" class=\"n\">Passed</th></tr></thead><tbody>\n", label, first)
}

func (p *page) assertion(a *AssertionSummary) {
	p.w.WriteString("<tr><th scope=\"row\"><bdi>")
	p.text(cut(a.Name(), 2*maxValueText))
	p.w.WriteString("</bdi>")
	if unsure := a.unsure(); unsure != "" {
		fmt.Fprintf(p.w, " <small>%s</small>", unsure)
	}
	if trust := p.in.Meta.trustText(a); trust != "" {
		fmt.Fprintf(p.w, " <small>%s</small>", html.EscapeString(trust))
	}
	p.w.WriteString("</th>")
	p.counts(a.Counts)
}

// counts ends a line of a table of rates.
func (p *page) counts(c Counts) {
	fmt.Fprintf(p.w, "<td>%s <small>%s</small>", html.EscapeString(c.percent(" ")), c.intervalText())
	p.bar(c)
	fmt.Fprintf(p.w, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%d of %d</td></tr>\n", some(c.Failed, "fail"), some(c.Errors, "error"), c.Passed, c.Asked())
}

// some returns a number, coloured unless it is 0.
func some(n int, class string) string {
	if n == 0 {
		return "<span class=\"none\">0</span>"
	}
	return fmt.Sprintf("<span class=\"status %s\">%d</span>", class, n)
}

// columns writes the pass rate of each prompt and provider, if there are several.
func (p *page) columns() {
	sums := p.in.Summary.Columns()
	if p.in.columns() < 2 {
		return
	}
	p.w.WriteString("<h2>Prompts and providers</h2>\n")
	p.table("Pass rates of prompts and providers", "Column")
	names := p.in.Meta.promptNames(pagePrompt)
	for i := range sums[:min(len(sums), p.in.columns())] {
		p.w.WriteString("<tr><th scope=\"row\"><bdi>")
		if i < len(names) {
			p.text(cut(p.in.Meta.Columns[i].provider(), pagePrompt) + " · " + names[i])
		} else {
			fmt.Fprintf(p.w, "column %d", i+1)
		}
		p.w.WriteString("</bdi></th>")
		p.counts(sums[i].Rows)
	}
	p.w.WriteString("</tbody></table></div>\n")
}
