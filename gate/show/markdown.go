package show

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
)

// Markdown writes a comparison, and the decision on it unless d is nil, for a comment on
// a pull request: the decision, the table of assertions, the worst cases with evidence
// and a collapsed diff. The text has at most o.Limit characters, and is cut between
// entries. Text from a suite or a model appears only in code spans and fences, where
// Markdown has no markup, links, images, mentions or references.
func Markdown(w io.Writer, c *gate.Comparison, d *gate.Decision, texts Texts, o Options) error {
	o = o.withDefaults()
	m := markdown{o: o, c: c}
	m.head(d)
	if c != nil {
		m.table()
		if err := m.details(&shower{c: c, texts: texts}); err != nil {
			return err
		}
	}
	m.foot()
	if _, err := io.WriteString(w, m.b.String()); err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the comparison: %w", err)
	}
	return nil
}

// markdown builds a text of limited length.
type markdown struct {
	o     Options
	c     *gate.Comparison
	b     strings.Builder
	chars int
	full  bool // an entry did not fit; only the footer follows
}

// footRoom returns the number of characters reserved for the lines after the entries.
func (m *markdown) footRoom() int { return min(2_000, m.o.Limit/4) }

// entry adds text that is shown in full or omitted together with everything after it.
func (m *markdown) entry(text string) bool {
	n := utf8.RuneCountInString(text)
	if m.full || m.chars+n > m.o.Limit-m.footRoom() {
		m.full = true
		return false
	}
	m.b.WriteString(text)
	m.chars += n
	return true
}

// maxSentences bounds the number of reasons and warnings shown.
const maxSentences = 20

func (m *markdown) head(d *gate.Decision) {
	name := ""
	if m.o.Suite != "" {
		name = ": " + report.MarkdownCode(m.o.Suite, 100)
	}
	sign, text := headline(m.c, d)
	m.entry(fmt.Sprintf("## %s proviso%s: %s\n\n", sign, name, text))
	if d != nil {
		for _, r := range d.Reasons[:min(len(d.Reasons), maxSentences)] {
			m.entry("- " + report.MarkdownSentence(r.Message) + "\n")
		}
		if more := len(d.Reasons) - maxSentences; more > 0 {
			m.entry(fmt.Sprintf("- … and %d more\n", more))
		}
		if text := neededOf(d).String(); text != "" {
			m.entry("- " + text + "\n")
		}
		m.entry("\n")
	}
	if m.c == nil {
		return
	}
	m.entry(fmt.Sprintf("Base %s, head %s. %s\n\n", report.MarkdownCode(m.c.Base.Name, 80), report.MarkdownCode(m.c.Head.Name, 80), suiteSentence(m.c)))
	for _, text := range m.c.Warnings[:min(len(m.c.Warnings), maxSentences)] {
		m.entry("> **Warning**: " + report.MarkdownSentence(text) + "\n>\n")
	}
	if more := len(m.c.Warnings) - maxSentences; more > 0 {
		m.entry(fmt.Sprintf("> … and %d more\n", more))
	}
	m.entry("\n")
}

// maxRows limits the table of assertions.
const maxRows = 40

// table writes the figures of the suite and of each assertion.
func (m *markdown) table() {
	if m.c.Suite.Pairs == 0 && len(m.c.Assertions) == 0 {
		return
	}
	if !m.entry("| | Base | Head | Difference | Flips | Notes |\n|---|--:|--:|--:|---|---|\n") {
		return
	}
	m.entry(fmt.Sprintf("| **Suite** | %s | %s | %s | | %s |\n", figure(m.c.Suite.Base), figure(m.c.Suite.Head), points(m.c.Suite.Difference),
		strings.Join(suiteNotes(m.c), "; ")))
	list, more := shown(m.c, maxRows)
	for i, a := range list {
		if !m.entry(fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", report.MarkdownCode(a.Assertion, 100), figure(a.Base), figure(a.Head),
			points(a.Difference), flips(a), strings.Join(notes(a), "; "))) {
			more += len(list) - i
			break
		}
	}
	if more > 0 {
		m.entry(fmt.Sprintf("\n… and %s.\n", plural.Of(more, "further assertion")))
	}
	m.entry("\nRanges are 95 % intervals.\n\n")
	for _, x := range measures(m.c) {
		line := fmt.Sprintf("- %s (median): %s → %s, %s\n", x.Name, x.Base, x.Head, x.Difference)
		m.entry(strings.ReplaceAll(line, "$", `\$`)) // two dollar signs would delimit a formula
	}
	m.entry("\n")
}

// details writes the changes in the prompts, and the cases.
func (m *markdown) details(s *shower) error {
	for _, p := range s.promptChanges() {
		name := ""
		if p.Name != "" {
			name = report.MarkdownCode(p.Name, 100) + "\n\n"
		}
		m.entry(fmt.Sprintf("<details><summary>What changed in the prompt</summary>\n\n%s%s\n</details>\n\n", name, diffFence(p.Diff)))
	}
	begin := func(title string) { m.entry("### " + title + "\n\n") }
	one := func(d *detail) bool { return m.entry(caseMarkdown(d)) }
	if err := s.cases(m.o.Cases, begin, one, m.namesOf); err != nil {
		return err
	}
	if list := rest(m.c); len(list) > 0 {
		m.entry("Other cases: " + strings.Join(list, ", ") + ".\n\n")
	}
	return nil
}

// maxNames bounds the number of cases listed by name only.
const maxNames = 20

// namesOf lists the cases that are not shown with their texts.
func (m *markdown) namesOf(pairs []gate.CasePair) {
	if len(pairs) == 0 {
		return
	}
	var list []string
	for i := range pairs[:min(len(pairs), maxNames)] {
		list = append(list, report.MarkdownCode(pairs[i].Label(), 60))
	}
	if more := len(pairs) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	m.entry("… " + strings.Join(list, ", ") + "\n\n")
}

// caseMarkdown writes one case.
func caseMarkdown(d *detail) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s", d.Sign, report.MarkdownCode(d.Title(), 100))
	if d.Column != "" {
		b.WriteString(" at " + report.MarkdownCode(d.Column, 100))
	}
	b.WriteString("\n\n")
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		fmt.Fprintf(&b, "- %s: %s\n", report.MarkdownCode(v.Assertion, 100), v.Statuses())
		for _, s := range v.Sides() {
			text := ""
			if s.Reason != "" {
				text = " " + report.MarkdownCode(s.Reason, 300)
			}
			for _, quote := range s.Evidence {
				text += " “" + report.MarkdownCode(quote, 200) + "”"
			}
			fmt.Fprintf(&b, "  - %s:%s\n", s.Name, text)
		}
	}
	if text := d.Input(); text != "" {
		fmt.Fprintf(&b, "- input: %s\n", report.MarkdownCode(text, 200))
	}
	for _, s := range d.Missing() {
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, report.MarkdownCode(s.Reason, 300))
	}
	if d.Prompt != nil {
		fmt.Fprintf(&b, "\n<details><summary>Prompt as sent</summary>\n\n%s\n</details>\n", diffFence(d.Prompt))
	}
	switch {
	case d.Diff != nil:
		fmt.Fprintf(&b, "\n<details><summary>Output, base (-) and head (+)</summary>\n\n%s\n</details>\n", diffFence(folded(d.Diff)))
	case d.Output() != nil:
		fmt.Fprintf(&b, "\n<details><summary>Output%s</summary>\n\n%s\n</details>\n", d.Same(), diffFence([]part{{' ', *d.Output()}}))
	}
	b.WriteString("\n")
	return b.String()
}

const (
	diffCells = 160 // cells per line in a fence
	diffLines = 60
)

// diffFence formats a word diff as a fence in which lines that begin with - or + are
// coloured.
func diffFence(parts []part) string {
	var lines []string
	for _, p := range parts {
		for _, line := range report.Lines(strings.TrimSpace(p.text), diffCells, diffLines) {
			lines = append(lines, string(p.op)+" "+line)
		}
	}
	if more := len(lines) - diffLines; more > 0 {
		lines = append(lines[:diffLines], fmt.Sprintf("  … %s more", plural.Of(more, "line")))
	}
	return report.MarkdownFence("diff", lines)
}

func (m *markdown) foot() {
	var b strings.Builder
	if m.full {
		b.WriteString("… the rest is left out, because the length is limited.\n\n")
	}
	if m.o.Link != "" {
		fmt.Fprintf(&b, "The run: %s\n\n", linkOf(m.o.Link))
	}
	if len(m.o.Reproduce) > 0 {
		b.WriteString("To reproduce:\n\n" + report.MarkdownFence("sh", m.o.Reproduce[:min(len(m.o.Reproduce), 10)]))
	}
	if text := b.String(); utf8.RuneCountInString(text) <= m.footRoom() {
		m.b.WriteString(text)
	}
}

// linkOf formats an address as an automatic link, or as code if not every renderer would
// read it as a link.
func linkOf(address string) string {
	if !isLink(address) {
		return report.MarkdownCode(address, 200)
	}
	return "<" + address + ">"
}

// isLink reports whether an address is a web address without characters that could end
// the link in Markdown or HTML.
func isLink(address string) bool {
	scheme := strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
	return scheme && !strings.ContainsAny(address, "<> \t\r\n\\`\"") && len(address) <= 1000
}
