package report

import (
	"html"
	"html/template"
	"net/url"
	"strconv"
)

// Outcome returns the gate's decision, which stays above the results with and without the
// script.
func (p *page) Outcome() badge { return pageBadge(p.Meta.Decision.words()) }

// pageReason is a reason for the decision, with links to the rows concerned.
type pageReason struct {
	badge
	Name, Text string
	Links      []rowLink
	More       int // number of rows without a link, if others have one
}

// Reasons returns the reasons for the decision, up to a limit.
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

// MoreReasons returns the number of reasons that are left out.
func (p *page) MoreReasons() int { return max(0, len(p.Meta.Decision.Reasons)-maxReasons) }

// rowLink is a link to a row in the page.
type rowLink struct {
	Href, ID template.HTMLAttr
	Name     string
}

// linkTo returns the link to a row. It works with and without the script: it is both the
// part of the address after the # when the row is open, and the id of the row's static
// markup.
func linkTo(d *Detail, name string) rowLink {
	v := "case=" + url.QueryEscape(d.Case) + "&p=" + strconv.Itoa(d.Column)
	if d.Repeat > 0 {
		v += "&r=" + strconv.Itoa(d.Repeat)
	}
	anchor := html.EscapeString(v)
	return rowLink{template.HTMLAttr(`href="#` + anchor + `"`), template.HTMLAttr(`id="` + anchor + `"`), name}
}
