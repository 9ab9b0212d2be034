package show

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/report"
)

//go:embed html/page.css
var pageCSS string

// maxPageText bounds a text of the page, in bytes.
const maxPageText = 2000

// HTML shows a report as one page. It loads nothing: its content security policy permits
// only its own style, by its hash, and no script at all.
func HTML(r *score.Report) []byte {
	p := &page{r: r}
	css := strings.ReplaceAll(pageCSS, "\r\n", "\n") // as browsers hash it
	sum := sha256.Sum256([]byte(css))
	p.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	p.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"proviso\">\n")
	p.raw("<title>Mutation score · proviso</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n<ul>\n", css, escaped(Headline(r)))
	for _, sentence := range about(r) {
		p.raw("<li>%s</li>\n", escaped(sentence))
	}
	p.raw("</ul>\n")
	for _, part := range parts(r) {
		if len(part.list) > 0 {
			p.instructions(part)
		}
	}
	p.assertions(r)
	p.raw("</main>\n<footer>")
	if r.Decided() > 0 {
		p.raw("The range is a 95 %% interval (Wilson), which takes the mutants as independent. ")
	}
	p.raw("Made by proviso.</footer>\n</body>\n</html>\n")
	return p.Bytes()
}

type page struct {
	bytes.Buffer
	r *score.Report
}

func (p *page) raw(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// escaped returns a text as markup that shows it, without control characters, and without
// what a CI system would read as a command if the page is printed in its log.
func escaped(text string) string {
	text = html.EscapeString(report.Printable(strings.ToValidUTF8(excerpt.Bytes(text, maxPageText), "\ufffd")))
	return strings.NewReplacer("::", ":&#58;", "##[", "#&#35;[").Replace(text)
}

func (p *page) head(title string, columns ...string) {
	p.raw("<h2>%s</h2>\n<div class=\"wide\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table>\n<thead><tr>", title, title)
	for _, c := range columns {
		if name, ok := strings.CutPrefix(c, "#"); ok {
			p.raw("<th scope=\"col\" class=\"n\">%s</th>", name)
		} else {
			p.raw("<th scope=\"col\">%s</th>", c)
		}
	}
	p.raw("</tr></thead>\n<tbody>\n")
}

func (p *page) instructions(part part) {
	p.head(part.title, "#Line", "Instruction", "Result", "Mutants that survive")
	class := map[string]string{"✗": "fail", "✓": "pass"}[part.sign]
	for _, in := range part.list {
		where := ""
		if in.Line > 0 {
			where = fmt.Sprint(in.Line)
		}
		p.raw("<tr><td class=\"n\">%s</td><th scope=\"row\">%s</th><td><span class=\"%s\">%s</span>", where, escaped(in.Text), class, escaped(result(in)))
		if todo := next(p.r, in); todo != "" {
			p.raw("<br>→ <code>%s</code>", escaped(todo))
		}
		p.raw("</td><td>")
		for _, e := range in.Survivors {
			p.raw("<div><span class=\"note\">%s</span><br>%s <del>%s</del><ins>%s</ins> %s</div>",
				escaped(fmt.Sprintf("%s, %s, in %s", e.Operator, e.Basis, e.Output)), escaped(e.Before), escaped(e.Removed), escaped(e.Added), escaped(e.After))
		}
		p.raw("</td></tr>\n")
	}
	p.raw("</tbody></table></div>\n")
}

func (p *page) assertions(r *score.Report) {
	p.head("Assertions", "Assertion", "#Kills", "#Passes", "#Undecided", "Note")
	for i := range r.Assertions {
		a := &r.Assertions[i]
		p.raw("<tr><th scope=\"row\">%s</th><td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n\">%d</td><td>%s</td></tr>\n",
			escaped(a.Name), a.Killed, a.Survived, a.Counts.Undecided, escaped(note(a)))
	}
	p.raw("</tbody></table></div>\n")
}
