package report

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/proviso-eval/proviso/web"
)

//go:embed html/page.html
var pageHTML string

// renderHTML writes one self-contained page. Without a script it shows the totals, the
// assertions and the rows that did not pass; with its script, which shows text as text
// only, all rows, from data inside. The content security policy permits only this script
// and this style, by their hashes: no other script, no network, no form.
func renderHTML(ctx context.Context, w *bufio.Writer, in *Input) error {
	marks, err := survey(ctx, in.Rows)
	if err != nil {
		return err
	}
	p := page{in: in, w: w}
	p.script, p.style = web.Report()
	if p.data, err = packRun(ctx, in, marks); err != nil {
		return err
	}
	if p.failures, err = failuresOf(ctx, in, marks); err != nil {
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
	in            *Input
	w             *bufio.Writer
	script, style string
	data          *pageData
	failures      *pageFailures
}

func (p *page) part(name string) error {
	switch name {
	case "policy":
		fmt.Fprintf(p.w, "default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; "+
			"require-trusted-types-for 'script'; trusted-types 'none'", hashOf(p.style), hashOf(p.script))
	case "title":
		p.text(cut(p.title(), 120) + " · proviso")
	case "style":
		p.w.WriteString(p.style)
	case "suite":
		p.text(cut(p.title(), 300))
	case "about":
		p.text(p.about())
	case "decision":
		p.decision()
	case "missedlink":
		p.missedLink()
	case "missed":
		p.missed()
	case "note":
		p.note()
	case "totals":
		p.totals()
	case "assertions":
		p.assertions()
	case "failures":
		p.failures.write(p.w)
	case "needs":
		p.needs()
	case "produced":
		p.produced()
	case "data":
		p.data.write(p.w)
	case "script":
		p.w.WriteString(p.script)
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
	parts := []string{Plural(t.Rows(), "result"), duration(m.Elapsed)}
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

// note lists the parts of the run that are not in the page.
func (p *page) note() {
	d := p.data
	switch {
	case d.held < d.total:
		fmt.Fprintf(p.w, "<p class=\"note lacks\">The counts are those of the whole run. The page holds %s of %s results; those that did not pass come first.", thousands(d.held), thousands(d.total))
	case d.limit < pageText:
		fmt.Fprintf(p.w, "<p class=\"note lacks\">The page holds all %s results, with long texts shortened.", thousands(d.total))
	default:
		return
	}
	if p.in.Meta.RunFile != "" {
		p.shownBy(" The whole run:")
	}
	p.w.WriteString("</p>\n")
}

// needs says why there is no matrix. The script hides this text.
func (p *page) needs() {
	if p.data.matrix == "" {
		p.w.WriteString("The run is too large for a matrix in a page.")
		return
	}
	fmt.Fprintf(p.w, "The matrix of %s, with filters and search, needs JavaScript, which is off or does not work in this browser.", Plural(p.data.total, "result"))
}

// shownBy names the command that shows the run. Pages are shared, so it does not
// contain the path of the run on this machine.
func (p *page) shownBy(before string) {
	p.w.WriteString(before + " <code>proviso show ")
	p.text(cut(p.in.Meta.RunID, 80))
	p.w.WriteString("</code>.")
}

// produced says how the run was made, and how to check it.
func (p *page) produced() {
	m := p.in.Meta
	p.w.WriteString("<h2 id=\"h-produced\">How this was produced</h2>\n<dl>\n")
	entry := func(name, text string) {
		if text != "" {
			fmt.Fprintf(p.w, "<dt>%s</dt><dd>%s</dd>\n", name, html.EscapeString(cut(text, 300)))
		}
	}
	if m.Version != "" {
		entry("Made by", "proviso "+m.Version)
	}
	r := &m.Revision
	commit := r.Commit
	if r.Dirty != nil && *r.Dirty {
		commit += ", with uncommitted changes"
	}
	entry("Commit", commit)
	entry("Branch", r.Branch)
	entry("Pull request", r.PullRequest)
	var judges []string
	for _, j := range p.in.Summary.Judges() {
		judges = append(judges, j.Identity)
	}
	entry("Judges", strings.Join(judges, ", "))
	h := &m.Hashes
	for _, x := range [...][2]string{{"suite", h.Suite}, {"prompts", h.Prompts}, {"judge", h.Judge}, {"cases", h.Cases}} {
		entry("SHA-256 of the "+x[0], x[1])
	}
	if m.RunFile != "" {
		p.w.WriteString("<dt>To see the run</dt><dd><code>proviso show ")
		p.text(cut(m.RunID, 80))
		p.w.WriteString("</code></dd>\n<dt>To repeat it</dt><dd>Run the suite again, then <code>proviso compare ")
		p.text(cut(m.RunID, 80))
		p.w.WriteString(" last</code></dd>\n")
	}
	p.w.WriteString("</dl>\n<p class=\"note\">This page loads nothing from the network.</p>\n")
}

// thousands formats a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
