package report

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
)

// checks writes the assertions: those that did not pass, then the others, closed.
func (f *pageFailures) checks(d *Detail) {
	if d.Why != "" {
		f.b.WriteString("<p class=\"text\">")
		f.long(d.Why)
		f.b.WriteString("</p>\n")
	}
	if d.Score != "0" && d.Score != "1" && d.Score != "–" {
		f.b.WriteString("<p class=\"facts\">Score ")
		f.plain(d.Score, 200)
		f.b.WriteString("</p>\n")
	}
	var held []DetailAssertion
	f.b.WriteString("<ul class=\"checks\">\n")
	for _, status := range [...]string{"fail", "error"} {
		for i := range d.Assertions {
			if d.Assertions[i].Status == status {
				f.check(&d.Assertions[i], true)
			}
		}
	}
	for i := range d.Assertions {
		if s := d.Assertions[i].Status; s == "pass" || s == "skip" {
			held = append(held, d.Assertions[i])
		}
	}
	f.b.WriteString("</ul>\n")
	if len(held) == 0 {
		return
	}
	fmt.Fprintf(&f.b, "<details><summary>%s that held or did not apply</summary>\n<ul class=\"checks\">\n", Plural(len(held), "assertion"))
	for i := range held {
		f.check(&held[i], false)
	}
	f.b.WriteString("</ul>\n</details>\n")
}

func (f *pageFailures) check(a *DetailAssertion, full bool) {
	f.b.WriteString("<li>" + statusWord(a.Status) + " <b>")
	f.plain(a.Name, 200)
	f.b.WriteString("</b>")
	facts := factsOf(a)
	if facts != "" {
		f.b.WriteString(" <span class=\"facts\">")
		f.plain(facts, 200)
		f.b.WriteString("</span>")
	}
	f.b.WriteString("\n")
	if !full {
		f.b.WriteString("</li>\n")
		return
	}
	for _, x := range [...][2]string{{"asked", a.Asks}, {"why", a.Reason}} {
		if x[1] != "" {
			fmt.Fprintf(&f.b, "<p class=\"text %s\">", x[0])
			f.long(x[1])
			f.b.WriteString("</p>\n")
		}
	}
	f.criteria(a)
	for _, e := range a.Evidence {
		if e.Start == nil {
			f.b.WriteString("<blockquote class=\"text\">")
			f.long(e.Quote)
			note := "not in the output"
			if e.Note != "" {
				note = e.Note
			}
			f.b.WriteString(" <span class=\"note\">(")
			f.plain(note, 200)
			f.b.WriteString(")</span></blockquote>\n")
		}
	}
	f.diff(a.Diff)
	f.b.WriteString("</li>\n")
}

// factsOf returns the score and the judge of an assertion.
func factsOf(a *DetailAssertion) string {
	var facts []string
	if a.Score != "" && (a.Threshold != "" || a.Score != "0" && a.Score != "1") {
		text := "score " + a.Score
		if a.Threshold != "" {
			text += " (threshold " + a.Threshold + ")"
		}
		facts = append(facts, text)
	}
	if a.Judge != "" {
		facts = append(facts, a.Judge)
	}
	if a.Agreement != "" {
		facts = append(facts, a.Agreement)
	}
	return strings.Join(facts, " · ")
}

func (f *pageFailures) criteria(a *DetailAssertion) {
	if len(a.Criteria) == 0 {
		return
	}
	f.b.WriteString("<ul class=\"answers\">\n")
	for i := range a.Criteria {
		c := &a.Criteria[i]
		sign, word := "!", "Error"
		switch c.Status {
		case "pass":
			sign, word = "✓", "Met"
		case "fail":
			sign, word = "✗", "Not met"
		case "skip":
			sign, word = "–", "Skipped"
		}
		fmt.Fprintf(&f.b, "<li><span class=\"status %s\"><span aria-hidden=\"true\">%s </span><span class=\"hidden\">%s: </span></span>", proviso.StatusNamed(c.Status), sign, word)
		f.long(c.Text)
		if c.Why != "" && c.Why != a.Reason {
			f.b.WriteString("<p class=\"text\">")
			f.long(c.Why)
			f.b.WriteString("</p>")
		}
		f.b.WriteString("</li>\n")
	}
	f.b.WriteString("</ul>\n")
}

// diff writes where the output differs from what was expected.
func (f *pageFailures) diff(parts []DiffPart) {
	if len(parts) == 0 {
		return
	}
	f.b.WriteString("<p class=\"difference text\">")
	for _, part := range parts {
		switch part.Kind {
		case "expected":
			f.b.WriteString("<ins><small>expected </small>")
			f.long(part.Text)
			f.b.WriteString("</ins> ")
		case "actual":
			f.b.WriteString("<del><small>got </small>")
			f.long(part.Text)
			f.b.WriteString("</del>")
		default:
			f.long(part.Text)
		}
	}
	f.b.WriteString("</p>\n")
}
