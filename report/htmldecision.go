package report

import (
	"html"
	"html/template"
	"net/url"
	"strconv"
)

// Outcome is the decision of the gate, which stays above the results with and without a
// script.
func (p *page) Outcome() badge { return pageBadge(p.Meta.Decision.words()) }

// pageReason is a reason of the decision, with links to the rows that it is about.
type pageReason struct {
	badge
	Name, Text string
	Links      []rowLink
	More       int // rows without a link, where others have one
}

// Reasons are those of the decision, and MoreReasons says how many are left out.
func (p *page) Reasons() (list []pageReason) {
	d := p.Meta.Decision
	for i := range d.Reasons[:min(len(d.Reasons), maxReasons)] {
		r := &d.Reasons[i]
		shown := pageReason{badge: pageBadge(r.mark(d)), Name: r.name(), Text: Line(r.Text, maxSentence)}
		for _, row := range r.Rows {
			if l, ok := p.Failures.links[row]; ok {
				shown.Links = append(shown.Links, l)
			}
		}
		if len(shown.Links) > 0 {
			shown.More = r.More + len(r.Rows) - len(shown.Links)
		}
		list = append(list, shown)
	}
	return list
}

// MoreReasons is 0 if there are no more.
func (p *page) MoreReasons() int { return max(0, len(p.Meta.Decision.Reasons)-maxReasons) }

// rowLink leads to a row in the page.
type rowLink struct {
	Href, ID template.HTMLAttr
	Name     string
}

// linkTo returns the link to a row. It is what the address of the view has behind the #
// when the row is open, and the id of the row without a script, so that it works in both.
func linkTo(d *Detail, name string) rowLink {
	v := "case=" + url.QueryEscape(d.Case) + "&p=" + strconv.Itoa(d.Column)
	if d.Repeat > 0 {
		v += "&r=" + strconv.Itoa(d.Repeat)
	}
	anchor := html.EscapeString(v)
	return rowLink{template.HTMLAttr(`href="#` + anchor + `"`), template.HTMLAttr(`id="` + anchor + `"`), name}
}
