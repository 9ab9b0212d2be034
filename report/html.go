package report

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

//go:embed html/page.html
var pageHTML string

//go:embed html/page.css
var pageCSS string

//go:embed html/page.js
var pageJS string

// renderHTML writes one self-contained page. Totals and rates are markup; rows are
// data, which the page's script inserts as text. The page's content security policy
// permits only this script and this style, by their hashes: no other script, no
// network, no form.
func renderHTML(ctx context.Context, w *bufio.Writer, in *Input) error {
	marks, err := survey(ctx, in.Rows)
	if err != nil {
		return err
	}
	p := page{in: in, w: w, total: len(marks)}
	if err := p.encode(ctx, choose(marks, pageRows)); err != nil {
		return err
	}
	for rest := unix(pageHTML); ; {
		before, after, found := strings.Cut(rest, "<!--")
		w.WriteString(before)
		if !found {
			return ctx.Err()
		}
		name, next, _ := strings.Cut(after, "-->")
		if err := p.part(name); err != nil {
			return err
		}
		rest = next
	}
}

// page writes the parts of the page for its template.
type page struct {
	in    *Input
	w     *bufio.Writer
	rows  []byte // the rows in the page, as JSON
	count int    // number of those rows
	total int    // number of all rows
}

func (p *page) part(name string) error {
	switch name {
	case "policy":
		fmt.Fprintf(p.w, "default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; "+
			"require-trusted-types-for 'script'; trusted-types 'none'", hashOf(unix(pageCSS)), hashOf(unix(pageJS)))
	case "title":
		p.text(cut(p.title(), 120) + " · proviso")
	case "style":
		p.w.WriteString(unix(pageCSS))
	case "suite":
		p.text(cut(p.title(), 300))
	case "about":
		p.text(p.about())
	case "totals":
		p.totals()
	case "assertions":
		p.assertions()
	case "note":
		p.note()
	case "footer":
		p.footer()
	case "run":
		return p.run()
	case "rows":
		p.w.Write(p.rows)
	case "script":
		p.w.WriteString(unix(pageJS))
	default:
		return fmt.Errorf("the page has no part %q", name)
	}
	return nil
}

// unix returns text with the line ends that browsers hash, regardless of the system
// on which the sources were checked out.
func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// hashOf returns the source expression of an inline script or style.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// text writes clean text as markup that shows it.
func (p *page) text(clean string) { p.w.WriteString(html.EscapeString(clean)) }

func (p *page) title() string {
	if p.in.Meta.Suite != "" {
		return p.in.Meta.Suite
	}
	return "Evaluation"
}

func (p *page) about() string {
	m, t := p.in.Meta, p.in.Summary.Totals()
	parts := []string{Plural(t.Rows(), "row"), duration(m.Elapsed)}
	if !m.Started.IsZero() {
		parts = append(parts, m.Started.UTC().Format("2 January 2006, 15:04 UTC"))
	}
	if t.Usage.Total > 0 {
		parts = append(parts, Plural(int(t.Usage.Total), "token"))
	}
	if text := dollars(t); text != "" {
		parts = append(parts, text)
	}
	if m.RunID != "" {
		parts = append(parts, "run "+cut(m.RunID, 80))
	}
	return strings.Join(parts, " · ")
}

// totals writes the counts of the rows, and the pass rate with its interval.
func (p *page) totals() {
	t := p.in.Summary.Totals()
	c := casesOf(countsOf(t))
	p.w.WriteString("<ul class=\"totals\">\n")
	for _, x := range [...]struct {
		n                 int
		class, sign, word string
	}{{t.Failed, "fail", "✕", "failed"}, {t.Errors, "error", "!", "not decided"}, {t.Passed, "pass", "✓", "passed"}, {t.Skipped, "skipped", "–", "not checked"}} {
		if x.n == 0 {
			x.class = "none"
		}
		fmt.Fprintf(p.w, "<li class=\"%s\"><b><span aria-hidden=\"true\">%s </span>%d</b>%s</li>\n", x.class, x.sign, x.n, x.word)
	}
	if c.of > 0 {
		fmt.Fprintf(p.w, "<li class=\"rate\"><b>%s</b>pass rate, 95 %% interval %s, n = %d", c.percent(" "), c.intervalText(), c.of)
		p.caseBar(c)
		p.w.WriteString("</li>\n")
	}
	p.w.WriteString("</ul>\n")
	if text := p.in.Summary.unchecked(); text != "" {
		fmt.Fprintf(p.w, "<p class=\"note\">%s.</p>\n", text)
	}
	if r := p.in.Summary.Repeats(); r.Groups > 0 {
		fmt.Fprintf(p.w, "<p class=\"note\">Of %s, %d both passed and failed; %d passed as often as the suite asks for.</p>\n",
			Plural(r.Groups, "repeated case"), r.Flaky, r.Met)
	}
}

// bar draws a pass rate and its interval; the numbers are beside it.
func (p *page) bar(c Counts) {
	if c.Decided() == 0 {
		return
	}
	rate := 100 * float64(c.Passed) / float64(c.Decided())
	low, high := (&AssertionSummary{Counts: c}).interval()
	fmt.Fprintf(p.w, `<svg class="spark" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><rect class="back" width="100" height="12"/>`+
		`<rect class="ok" width="%.1f" height="12"/><rect class="bad" x="%.1f" width="%.1f" height="12"/>`+
		`<path class="ends" d="M%.1f 6H%.1fM%.1f 3V9M%.1f 3V9"/></svg>`,
		rate, rate, 100-rate, 100*low, 100*high, 100*low, 100*high)
}

// caseBar draws the pass rate of cases, with the undecided ones between passed and
// failed.
func (p *page) caseBar(c caseCounts) {
	low, high := c.ends()
	i := c.interval()
	fmt.Fprintf(p.w, `<svg class="spark" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><rect class="back" width="100" height="12"/>`+
		`<rect class="ok" width="%.1f" height="12"/><rect class="bad" x="%.1f" width="%.1f" height="12"/>`+
		`<path class="ends" d="M%.1f 6H%.1fM%.1f 3V9M%.1f 3V9"/></svg>`,
		100*low, 100*high, 100-100*high, 100*i.Low, 100*i.High, 100*i.Low, 100*i.High)
}

// pagePrompt is how many cells of a prompt are shown above its column. The panel of a
// row has the whole prompt.
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
	p.w.WriteString("<div class=\"wide\" role=\"region\" aria-label=\"Pass rates\" tabindex=\"0\"><table class=\"rates\"><thead><tr><th scope=\"col\">Assertion</th>" +
		"<th scope=\"col\" class=\"n\">Pass rate</th><th scope=\"col\" class=\"chart\">0 to 100 %</th><th scope=\"col\">95 % interval</th>" +
		"<th scope=\"col\" class=\"n\">Failed</th><th scope=\"col\" class=\"n\">Undecided</th><th scope=\"col\" class=\"n\">Decided</th></tr></thead><tbody>\n")
	for i := range list[:min(len(list), maxRates)] {
		p.assertion(&list[i])
	}
	p.w.WriteString("</tbody></table></div>\n")
	if more := leftOut(list, maxRates); more != "" {
		p.w.WriteString("<p class=\"note\">" + more + ", in the JSON report.</p>\n")
	}
	p.judges()
}

func (p *page) assertion(a *AssertionSummary) {
	name := clip(a.Name(), 2*maxValueText)
	fmt.Fprintf(p.w, "<tr><th scope=\"row\" data-name=\"%s\">", html.EscapeString(strings.ToValidUTF8(name, "\ufffd")))
	p.text(cut(name, 2*maxValueText))
	if unsure := a.unsure(); unsure != "" {
		fmt.Fprintf(p.w, " <small>%s</small>", unsure)
	}
	if trust := p.in.Meta.trustText(a); trust != "" {
		fmt.Fprintf(p.w, " <small>%s</small>", html.EscapeString(trust))
	}
	fmt.Fprintf(p.w, "</th><td class=\"n\">%s</td><td class=\"chart\">", rateOf(a.Counts))
	p.bar(a.Counts)
	fmt.Fprintf(p.w, "</td><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%d</td></tr>\n",
		intervalOf(a.Counts), some(a.Failed, "fail"), some(a.Errors, "error"), a.Decided())
}

// some returns a number, coloured unless it is 0.
func some(n int, class string) string {
	if n == 0 {
		return "<span class=\"none\">0</span>"
	}
	return fmt.Sprintf("<span class=\"%s\">%d</span>", class, n)
}

// note lists the parts of the run that are not in the page.
func (p *page) note() {
	if p.count == p.total {
		return
	}
	fmt.Fprintf(p.w, "<p class=\"note\">The page has %d of %d rows, those of cases that did not pass first.", p.count, p.total)
	if p.in.Meta.RunFile != "" {
		p.shownBy(" All of them are in the run:")
	}
	p.w.WriteString("</p>\n")
}

func (p *page) footer() {
	m := p.in.Meta
	p.text("Made by proviso " + cut(m.Version, 40) + ". This page loads nothing from the network.")
	if m.RunFile != "" {
		p.shownBy(" The run is kept:")
	}
}

// shownBy names the command that shows the run. Pages are shared, so it does not
// contain the path of the run on this machine.
func (p *page) shownBy(before string) {
	p.w.WriteString(before + " <code>proviso show ")
	p.text(cut(p.in.Meta.RunID, 80))
	p.w.WriteString("</code>.")
}

// run writes the data that the script needs besides the rows.
func (p *page) run() error {
	columns := []any{}
	sums := p.in.Summary.Columns()
	names := p.in.Meta.promptNames(pagePrompt)
	for i := range p.in.columns() {
		o := value.ObjectOf("provider", fmt.Sprintf("column %d", i+1), "prompt", "", "rate", "")
		if i < len(p.in.Meta.Columns) {
			c := &p.in.Meta.Columns[i]
			o.Set("provider", c.provider())
			o.Set("prompt", names[i])
		}
		if i < len(sums) {
			c := sums[i].Rows
			rate := casesOf(c)
			o.Set("rate", rate.percent(" ")+" pass · "+rate.counts()+rest(c))
		}
		columns = append(columns, o)
	}
	_, err := p.w.Write(appendData(nil, value.ObjectOf("columns", columns)))
	return err
}

// appendData appends a value as JSON for a script element: its texts cannot end the
// element, open a comment in it, or break a line.
func appendData(dst []byte, v any) []byte {
	start := len(dst)
	dst = value.AppendJSON(dst, v)
	if !bytes.ContainsAny(dst[start:], "<>&\u2028\u2029") {
		return dst
	}
	// These characters occur in the strings of JSON only.
	escaped := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(dst[start:]))
	return append(dst[:start], escaped...)
}
