package show

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/report"
)

//go:embed html/page.css
var pageCSS string

// HTML writes a comparison, and the decision on it unless d is nil, as one page. It
// loads nothing: its content security policy permits only its own style, by its hash,
// and no script at all.
func HTML(w io.Writer, c *gate.Comparison, d *gate.Decision, texts Texts, o Options) error {
	return htmlPage(w, []*gate.Comparison{c}, d, texts, o)
}

// ColumnsHTML writes the comparisons of one column of a run with each of the others as
// one page.
func ColumnsHTML(w io.Writer, list []*gate.Comparison, texts Texts, o Options) error {
	return htmlPage(w, list, nil, texts, o)
}

func htmlPage(w io.Writer, list []*gate.Comparison, d *gate.Decision, texts Texts, o Options) error {
	o = o.withDefaults()
	p := page{w: bufio.NewWriter(w), o: o}
	p.head()
	for _, p.c = range list {
		p.result(d)
		if p.c == nil {
			continue
		}
		p.table()
		if err := p.details(&shower{c: p.c, texts: texts}); err != nil {
			return err
		}
	}
	p.foot()
	if err := p.w.Flush(); err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the comparison: %w", err)
	}
	return nil
}

// page writes a page. Its bufio.Writer keeps the first error until Flush.
type page struct {
	w *bufio.Writer
	o Options
	c *gate.Comparison
}

// Bounds of a page.
const (
	pageCases = 200 // with their texts
	pageRows  = 500 // of the table
	pageText  = 32 << 10
)

// raw writes markup.
func (p *page) raw(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// escaped returns a text as markup that shows it, without control characters, and without
// what a CI system would read as a command if the page is printed in its log.
func escaped(text string) string {
	text = html.EscapeString(report.Printable(strings.ToValidUTF8(excerpt.Bytes(text, pageText), "\ufffd")))
	return strings.NewReplacer("::", ":&#58;", "##[", "#&#35;[").Replace(text)
}

func (p *page) title() string {
	if p.o.Suite == "" {
		return "Comparison"
	}
	return excerpt.Line(p.o.Suite, 200)
}

func (p *page) head() {
	css := strings.ReplaceAll(pageCSS, "\r\n", "\n") // as browsers hash it
	sum := sha256.Sum256([]byte(css))
	p.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	p.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"proviso\">\n")
	p.raw("<title>%s · proviso</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n", escaped(p.title()), css)
}

// result writes what was found, and why.
func (p *page) result(d *gate.Decision) {
	sign, text := headline(p.c, d)
	class := map[string]string{"✗": "fail", "✓": "pass"}[sign]
	if class == "" {
		class = "inconclusive"
	}
	p.raw("<h1>%s: <span class=\"%s\"><span aria-hidden=\"true\">%s</span> %s</span></h1>\n", escaped(p.title()), class, sign, text)
	if p.c != nil {
		p.raw("<p class=\"note\">Base <code>%s</code>, head <code>%s</code>.</p>\n", escaped(p.c.Base.Name), escaped(p.c.Head.Name))
	}
	if d != nil {
		p.raw("<ul>\n")
		for _, r := range d.Reasons {
			p.raw("<li>%s</li>\n", escaped(r.Message))
		}
		if text := neededOf(d).String(); text != "" {
			p.raw("<li>%s</li>\n", text)
		}
		p.raw("</ul>\n")
	}
	if p.c == nil {
		return
	}
	for _, text := range p.c.Warnings[:min(len(p.c.Warnings), pageRows)] {
		p.raw("<p class=\"warning\">%s</p>\n", escaped(text))
	}
	p.raw("<p>%s</p>\n", html.EscapeString(suiteSentence(p.c)))
}

// table writes the figures of the suite and of each assertion.
func (p *page) table() {
	p.raw("<h2>Assertions</h2>\n<div class=\"wide\" role=\"region\" aria-label=\"Assertions\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Assertion</th>" +
		"<th scope=\"col\" class=\"n\">Base</th><th scope=\"col\" class=\"n\">Head</th><th scope=\"col\" class=\"n\">Difference</th>" +
		"<th scope=\"col\">Flips</th><th scope=\"col\">Notes</th></tr></thead>\n<tbody>\n")
	p.row("Suite", &p.c.Suite, "", suiteNotes(p.c))
	list, more := shown(p.c, pageRows)
	for _, a := range list {
		p.row(a.Assertion, &a.Effect, flips(a), notes(a))
	}
	p.raw("</tbody></table></div>\n")
	if more > 0 {
		p.raw("<p class=\"note\">… and %s, in the JSON format.</p>\n", report.Plural(more, "further assertion"))
	}
	p.raw("<p class=\"note\">Ranges are 95 %% intervals.</p>\n")
	for _, x := range measures(p.c) {
		p.raw("<p>%s (median): %s → %s, %s</p>\n", x.name, x.base, x.head, x.difference)
	}
}

func (p *page) row(name string, e *gate.Effect, flips string, notes []string) {
	class := "n"
	switch {
	case e.Difference.High < 0:
		class = "n fail"
	case e.Difference.Low > 0:
		class = "n pass"
	}
	p.raw("<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"%s\">%s</td><td>%s</td><td>%s</td></tr>\n",
		escaped(name), html.EscapeString(figure(e.Base)), html.EscapeString(figure(e.Head)), class, points(e.Difference),
		flips, html.EscapeString(strings.Join(notes, "; ")))
}

// details writes what changed in the prompts, and the cases.
func (p *page) details(s *shower) error {
	for _, x := range s.promptChanges() {
		p.raw("<h2>What changed in the prompt")
		if x.name != "" {
			p.raw(" “%s”", escaped(x.name))
		}
		p.raw("</h2>\n<pre>")
		p.marked(x.diff, "-+")
		p.raw("</pre>\n")
	}
	begin := func(title string) { p.raw("<h2>%s</h2>\n", title) }
	more := func(others []gate.CasePair) {
		if len(others) > 0 {
			p.raw("<p class=\"note\">… and %d more, in the JSON format.</p>\n", len(others))
		}
	}
	if err := s.cases(max(pageCases, p.o.Cases), begin, p.one, more); err != nil {
		return err
	}
	if list := rest(p.c); len(list) > 0 {
		p.raw("<p>Other cases: %s.</p>\n", strings.Join(list, ", "))
	}
	return nil
}

// one writes one case: its assertions, and the outputs side by side.
func (p *page) one(d *detail, sign string) bool {
	p.raw("<details><summary>%s %s", sign, escaped(d.title()))
	if d.column != "" {
		p.raw(" <span class=\"note\">%s</span>", escaped(d.column))
	}
	p.raw("</summary>\n<ul>\n")
	for i := range d.verdicts {
		v := &d.verdicts[i]
		p.raw("<li>%s: %s", escaped(v.assertion), v.statuses())
		for _, s := range v.sides() {
			p.raw("<br>%s: %s", s.name, escaped(s.reason))
			for _, quote := range s.evidence {
				p.raw(" <q>%s</q>", escaped(quote))
			}
		}
		p.raw("</li>\n")
	}
	if text := d.input(); text != "" {
		p.raw("<li>input: %s</li>\n", escaped(text))
	}
	for _, s := range missing(d) {
		p.raw("<li>%s: %s</li>\n", s.name, escaped(s.reason))
	}
	p.raw("</ul>\n")
	if d.prompt != nil {
		p.raw("<h3>Prompt as sent</h3><pre>")
		p.marked(d.prompt, "-+")
		p.raw("</pre>\n")
	}
	if d.diff != nil {
		p.raw("<div class=\"sides\"><div><h3>Base</h3><pre>")
		p.marked(d.diff, "-")
		p.raw("</pre></div><div><h3>Head</h3><pre>")
		p.marked(d.diff, "+")
		p.raw("</pre></div></div>\n")
	} else if d.head != nil && d.head.Answered {
		p.raw("<h3>Output%s</h3><pre>%s</pre>\n", sameOutput(d), escaped(d.head.Output))
	}
	p.raw("</details>\n")
	return true
}

// marked writes the parts of a diff that are equal or have one of the operations.
func (p *page) marked(parts []part, operations string) {
	for _, x := range parts {
		switch {
		case x.op == ' ':
			p.raw("%s", escaped(x.text))
		case !strings.Contains(operations, string(x.op)):
		case x.op == '-':
			p.raw("<del>%s</del>", escaped(x.text))
		default:
			p.raw("<ins>%s</ins>", escaped(x.text))
		}
	}
}

func (p *page) foot() {
	p.raw("</main>\n<footer>\n")
	if p.o.Link != "" {
		text := escaped(p.o.Link)
		if isLink(p.o.Link) {
			text = `<a rel="noreferrer" href="` + text + `">` + text + `</a>`
		}
		p.raw("<p>The run: %s</p>\n", text)
	}
	for _, command := range p.o.Reproduce {
		p.raw("<p>To reproduce: <code>%s</code></p>\n", escaped(command))
	}
	p.raw("<p>Made by proviso. This page loads nothing from the network.</p>\n</footer>\n</body>\n</html>\n")
}
