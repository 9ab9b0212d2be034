package report

import (
	"fmt"
	"html"
	"net/url"
	"strconv"
)

// decision writes the decision of the gate, which stays above the results with and
// without a script.
func (p *page) decision() {
	d := p.in.Meta.Decision
	if d == nil {
		return
	}
	sign, class, text := d.words()
	fmt.Fprintf(p.w, "<section class=\"gate %s\" aria-labelledby=\"h-gate\">\n<h2 id=\"h-gate\">Gate: <span class=\"status %s\"><span aria-hidden=\"true\">%s </span>%s</span></h2>\n",
		class, class, pageSign(sign), text)
	if d.Base != "" {
		fmt.Fprintf(p.w, "<p class=\"note\">Compared with <code>%s</code>.</p>\n", html.EscapeString(cut(d.Base, 200)))
	}
	p.w.WriteString("<ul>\n")
	for i := range d.Reasons[:min(len(d.Reasons), maxReasons)] {
		p.reason(d, &d.Reasons[i])
	}
	if more := len(d.Reasons) - maxReasons; more > 0 {
		fmt.Fprintf(p.w, "<li>… and %d more</li>\n", more)
	}
	if text := d.Needed.String(); text != "" {
		fmt.Fprintf(p.w, "<li>%s</li>\n", text)
	}
	p.w.WriteString("</ul>\n</section>\n")
}

func (p *page) reason(d *Decision, r *Reason) {
	sign, class, word := r.mark(d)
	p.w.WriteString("<li>")
	switch {
	case sign == "":
		fmt.Fprintf(p.w, "<span class=\"note\">%s:</span> ", word)
	case word == "":
		fmt.Fprintf(p.w, "<span class=\"status %s\" aria-hidden=\"true\">%s</span> ", class, pageSign(sign))
	default:
		fmt.Fprintf(p.w, "<span class=\"status %s\"><span aria-hidden=\"true\">%s</span><span class=\"hidden\">%s:</span></span> ", class, pageSign(sign), word)
	}
	fmt.Fprintf(p.w, "<b><bdi>%s</bdi></b> <bdi>%s</bdi>", html.EscapeString(Line(r.name(), 200)), html.EscapeString(Line(r.Text, maxSentence)))
	links := 0
	for _, row := range r.Rows {
		if l, ok := p.failures.links[row]; ok {
			fmt.Fprintf(p.w, " <a href=\"#%s\">%s</a>", l.anchor, html.EscapeString(l.name))
			links++
		}
	}
	if more := r.More + len(r.Rows) - links; links > 0 && more > 0 {
		fmt.Fprintf(p.w, " <span class=\"note\">and %d more</span>", more)
	}
	p.w.WriteString("</li>\n")
}

// pageSign returns the sign that pages have for that of texts.
func pageSign(sign string) string {
	if sign == "✗" {
		return "✕"
	}
	return sign
}

// rowLink leads to a row in the page.
type rowLink struct{ anchor, name string }

// linkTo returns the link to a row. It is what the address of the view has behind the #
// when the row is open, and the id of the row without a script, so that it works in both.
func linkTo(d *Detail, name string) rowLink {
	v := "case=" + url.QueryEscape(d.Case) + "&p=" + strconv.Itoa(d.Column)
	if d.Repeat > 0 {
		v += "&r=" + strconv.Itoa(d.Repeat)
	}
	return rowLink{html.EscapeString(v), name}
}
