package report

import (
	"fmt"
	"html"
	"strings"
)

// missedLink leads from the top of the page to the section.
func (p *page) missedLink() {
	if s := p.in.Meta.Missed; s != nil {
		fmt.Fprintf(p.w, "<p class=\"note\"><a href=\"#h-missed\">%s</a>: %s</p>\n", missedTitle, html.EscapeString(Line(s.Headline, maxMissedText)))
	}
}

// missed writes what the assertions would miss: for each instruction what survives, with
// one example, and for each assertion what it kills. The section is the same with and
// without the script.
func (p *page) missed() {
	s := p.in.Meta.Missed
	if s == nil {
		return
	}
	fmt.Fprintf(p.w, "\n<section aria-labelledby=\"h-missed\" class=\"missed\">\n<h2 id=\"h-missed\">%s</h2>\n<p>%s.</p>\n<ul>\n", missedTitle, html.EscapeString(Line(s.Headline, maxMissedText)))
	for _, sentence := range s.About {
		fmt.Fprintf(p.w, "<li>%s</li>\n", html.EscapeString(Line(sentence, 2*maxMissedText)))
	}
	p.w.WriteString("</ul>\n")
	title := ""
	for i := range s.Instructions[:min(len(s.Instructions), maxMissed)] {
		in := &s.Instructions[i]
		if in.Group.Title != title {
			if title != "" {
				p.w.WriteString("</ul>\n")
			}
			title = in.Group.Title
			fmt.Fprintf(p.w, "<h3>%s</h3>\n<ul class=\"checks\">\n", html.EscapeString(Line(title, maxMissedText)))
		}
		p.missedInstruction(in)
	}
	if title != "" {
		p.w.WriteString("</ul>\n")
	}
	if more := len(s.Instructions) - maxMissed; more > 0 {
		fmt.Fprintf(p.w, "<p class=\"note\">… and %s more, in the JSON report.</p>\n", Plural(more, "instruction"))
	}
	p.missedAssertions(s.Assertions)
	p.w.WriteString("</section>\n")
}

func (p *page) missedInstruction(in *MissedInstruction) {
	sign, class, word := in.Group.mark()
	fmt.Fprintf(p.w, "<li><span class=\"status %s\"><span aria-hidden=\"true\">%s</span><span class=\"hidden\">%s:</span></span> <b><bdi>%s</bdi></b>",
		class, pageSign(sign), word, html.EscapeString(Line(in.Text, maxMissedText)))
	if in.Line > 0 {
		fmt.Fprintf(p.w, " <span class=\"note\">line %d</span>", in.Line)
	}
	fmt.Fprintf(p.w, "\n<p><bdi>%s</bdi></p>\n", html.EscapeString(Line(in.Result, maxMissedText)))
	if c := in.Example; c != nil {
		fmt.Fprintf(p.w, "<p class=\"difference\"><small>%s:</small> <bdi>%s", html.EscapeString(Line(c.Of, maxMissedText)), html.EscapeString(Line(c.Before, maxMissedText)))
		for _, x := range [...][2]string{{"del", c.Removed}, {"ins", c.Added}} {
			if x[1] != "" {
				fmt.Fprintf(p.w, " <%s>%s</%s>", x[0], html.EscapeString(Line(x[1], maxMissedText)), x[0])
			}
		}
		fmt.Fprintf(p.w, " %s</bdi></p>\n", html.EscapeString(Line(c.After, maxMissedText)))
	}
	if in.Next != "" {
		fmt.Fprintf(p.w, "<p class=\"asked\"><span aria-hidden=\"true\">→ </span><code>%s</code></p>\n", html.EscapeString(Line(in.Next, 2*maxMissedText)))
	}
	p.w.WriteString("</li>\n")
}

// missedAssertions writes what each assertion kills.
func (p *page) missedAssertions(list []MissedAssertion) {
	if len(list) == 0 {
		return
	}
	p.w.WriteString("<h3>What each assertion kills</h3>\n<div class=\"wide\" role=\"region\" aria-label=\"What each assertion kills\" tabindex=\"0\"><table class=\"rates\"><thead><tr><th scope=\"col\">Assertion</th>" +
		"<th scope=\"col\">Kills mutants of</th><th scope=\"col\" class=\"n\">Kills</th><th scope=\"col\" class=\"n\">Passes</th><th scope=\"col\" class=\"n\">Undecided</th></tr></thead><tbody>\n")
	for i := range list[:min(len(list), maxMissed)] {
		a := &list[i]
		var kills []string
		for _, text := range a.of(120) {
			kills = append(kills, "<bdi>"+html.EscapeString(text)+"</bdi>")
		}
		if a.Note != "" {
			kills = append(kills, "<small>"+html.EscapeString(Line(a.Note, maxMissedText))+"</small>")
		}
		fmt.Fprintf(p.w, "<tr><th scope=\"row\"><bdi>%s</bdi></th><td>%s</td><td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n\">%s</td></tr>\n",
			html.EscapeString(Line(a.Name, 120)), strings.Join(kills, "<br>"), a.Kills, a.Passes, some(a.Undecided, "error"))
	}
	p.w.WriteString("</tbody></table></div>\n")
	if more := len(list) - maxMissed; more > 0 {
		fmt.Fprintf(p.w, "<p class=\"note\">… and %s more, in the JSON report.</p>\n", Plural(more, "assertion"))
	}
}
