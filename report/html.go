package report

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"iter"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/web"
)

//go:embed html/page.html
var pageHTML string

// pageTemplate is parsed on first use.
var pageTemplate = sync.OnceValue(func() *template.Template {
	short := func(s string) string { return Line(s, maxMissedText) }
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"cut": cut, "line": Line, "short": short, "visible": visible, "plural": plural.Of, "thousands": thousands,
		"percent": func(c Counts) string { return c.percent(" ") }, "interval": Counts.intervalText, "bar": barOf, "some": someOf,
		"pair":   func(a, b string) [2]string { return [2]string{a, b} },
		"status": statusBadge, "answer": answerBadge, "facts": factsOf, "groups": groupsOf,
		"badge":       func(g MissedGroup) badge { return pageBadge(g.mark()) },
		"brokenBy":    func(a MissedAssertion, cells int) []string { return a.of(cells) },
		"unsure":      func(a AssertionSummary) string { return a.unsure() },
		"spent":       func(j JudgeSummary) string { return j.spent() },
		"blocks":      func(d *pageData) iter.Seq[template.HTML] { return d.Blocks },
		"missedTitle": func() string { return missedTitle },
		"more":        func(n int) int { return max(0, n-maxMissed) },
		"first":       func(list []MissedAssertion) []MissedAssertion { return list[:min(len(list), maxMissed)] },
	}).Parse(unix(pageHTML)))
})

// renderHTML writes one self-contained page. Without its script the page shows the totals,
// the assertions and the rows that did not pass. The script shows all rows, from data in
// the page, and inserts text only as text. The content security policy permits only this
// script and this style, by their hashes: no other script, no network, no form.
func renderHTML(ctx context.Context, w *bufio.Writer, in *Input) error {
	marks, err := survey(ctx, in.Rows)
	if err != nil {
		return err
	}
	p := page{Meta: in.Meta, sum: in.Summary, columns: in.columns()}
	script, style := web.Report()
	p.Script, p.Style = template.JS(script), template.CSS(style)
	p.Policy = template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; `+
		`require-trusted-types-for 'script'; trusted-types 'none'"`, hashOf(style), hashOf(script)))
	if p.Data, err = packRun(ctx, in, marks); err != nil {
		return err
	}
	if p.Failures, err = failuresOf(ctx, in, marks); err != nil {
		return err
	}
	if err := pageTemplate().ExecuteTemplate(w, "page", &p); err != nil {
		return err
	}
	return ctx.Err()
}

// page is the data of the page template.
type page struct {
	Meta     *Meta
	Policy   template.HTMLAttr
	Style    template.CSS
	Script   template.JS
	Data     *pageData
	Failures *pageFailures

	sum     *Summary
	columns int
}

// unix returns text with the line endings that browsers hash, whatever line endings the
// sources were checked out with.
func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// hashOf returns the source expression of an inline script or style.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Title is the name of the suite.
func (p *page) Title() string {
	if p.Meta.Suite != "" {
		return p.Meta.Suite
	}
	return "Evaluation"
}

// ID returns the run's id. Pages are shared, so their commands name the run by its id and
// not by its path on this machine.
func (p *page) ID() string { return cut(p.Meta.RunID, 80) }

// About describes the run in one line.
func (p *page) About() string {
	m, t := p.Meta, p.sum.Totals()
	parts := []string{plural.Of(t.Rows(), "result"), duration(m.Elapsed)}
	if !m.Started.IsZero() {
		parts = append(parts, m.Started.UTC().Format("2 January 2006, 15:04 UTC"))
	}
	parts = append(parts, spent(t)...)
	if m.RunID != "" {
		parts = append(parts, "run "+p.ID())
	}
	return strings.Join(parts, " · ")
}

// Produced returns how the run was made and how to check it, as pairs of name and text.
func (p *page) Produced() (list [][2]string) {
	entry := func(name, text string) {
		if text != "" {
			list = append(list, [2]string{name, text})
		}
	}
	m := p.Meta
	if m.Version != "" {
		entry("Made by", "proviso "+m.Version)
	}
	r, h := &m.Revision, &m.Hashes
	commit := r.Commit
	if r.Dirty != nil && *r.Dirty {
		commit += ", with uncommitted changes"
	}
	entry("Commit", commit)
	entry("Branch", r.Branch)
	entry("Pull request", r.PullRequest)
	var judges []string
	for _, j := range p.sum.Judges() {
		judges = append(judges, j.Identity)
	}
	entry("Judges", strings.Join(judges, ", "))
	for _, x := range [...][2]string{{"suite", h.Suite}, {"prompts", h.Prompts}, {"judge", h.Judge}, {"cases", h.Cases}} {
		entry("SHA-256 of the "+x[0], x[1])
	}
	return list
}

// badge is a sign with its colour class, and a word for readers who do not see the sign.
type badge struct{ Sign, Class, Word string }

// statusBadge and answerBadge return the badges of a verdict and of an answer to a
// criterion.

func statusBadge(status string) badge {
	switch status {
	case "pass":
		return badge{"✓", "pass", "Pass"}
	case "fail":
		return badge{"✕", "fail", "Fail"}
	case "skip":
		return badge{"–", "skip", "Skipped"}
	}
	return badge{"!", "error", "Error"}
}

func answerBadge(status string) badge {
	switch status {
	case "pass":
		return badge{"✓", "pass", "Met"}
	case "fail":
		return badge{"✗", "fail", "Not met"}
	}
	return statusBadge(status)
}

// pageBadge replaces the sign of text reports by that of pages.
func pageBadge(sign, class, word string) badge {
	return badge{strings.Replace(sign, "✗", "✕", 1), class, word}
}

// thousands formats a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
