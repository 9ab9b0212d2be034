package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/rules"
)

// What the terminal lists of a proposal without --all.
const (
	shownUnproposed = 15 // sentences without a check
	shownDropped    = 15 // criteria and candidates that were not kept
)

// proposal shows a proposal to a person.
type proposal struct {
	bytes.Buffer
	o     report.TerminalOptions
	width int
	all   bool
}

// Proposal shows a proposal to a person.
func Proposal(p *propose.Proposal, o report.TerminalOptions, all bool) []byte {
	t := &proposal{o: o, width: max(o.Width, 60), all: all}
	t.title(report.Plural(len(p.Candidates), "candidate"))
	for i := range p.Candidates {
		t.candidate(&p.Candidates[i])
	}
	t.dropped(p.Dropped)
	t.unproposed(p.Unproposed)
	if n := len(p.Gone); n > 0 {
		verb := "is"
		if n > 1 {
			verb = "are"
		}
		fmt.Fprintf(t, "\n%s of earlier versions %s no longer asked for, and not counted (--dropped)\n", report.Plural(n, "sentence"), verb)
	}
	return t.Bytes()
}

func (t *proposal) paint(color, text string) string {
	if !t.o.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (t *proposal) title(text string) {
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	fmt.Fprintf(t, "%s\n", t.paint("1", text))
}

func (t *proposal) candidate(c *proviso.Candidate) {
	about := c.Category
	if c.Model != "" {
		about += ", " + c.Assertion.Type
	}
	fmt.Fprintf(t, "\n  %s  %s\n", t.paint("32", report.Line(c.Name, 60)), t.paint("2", report.Line(strings.TrimPrefix(about, ", "), 60)))
	if c.Description != "" {
		fmt.Fprintf(t, "    %s\n", report.Line(c.Description, t.width-4))
	}
	if c.Delta.Version > 0 {
		note := ""
		if c.Delta.Removed > 0 {
			note = fmt.Sprintf(", no longer asked since version %d", c.Delta.Removed)
		}
		fmt.Fprintf(t, "    %s\n", t.paint("2", fmt.Sprintf("version %d, line %d%s: %s", c.Delta.Version, c.Delta.Line, note, report.Line(c.Delta.Text, max(20, t.width-30-len(note))))))
		if c.Delta.When != "" {
			fmt.Fprintf(t, "    %s\n", t.paint("2", "when "+report.Line(c.Delta.When, t.width-9)))
		}
	}
}

// dropped lists the proposals of a model that were not kept.
func (t *proposal) dropped(list []propose.Dropped) {
	if len(list) == 0 {
		return
	}
	t.title(fmt.Sprintf("Not kept: %d of what the model proposed", len(list)))
	for i, d := range list {
		if i == shownDropped && !t.all {
			fmt.Fprintf(t, "  … and %d more (--all)\n", len(list)-i)
			return
		}
		what := d.Candidate
		if what == "" {
			what = d.Criterion
		}
		fmt.Fprintf(t, "  %s %s\n", t.paint("33", fmt.Sprintf("v%d", d.Version)), report.Line(what, t.width-12))
		fmt.Fprintf(t, "      %s\n", t.paint("2", report.Line(d.Reason, t.width-6)))
	}
}

// unproposed lists the sentences without a check.
func (t *proposal) unproposed(list []rules.Unproposed) {
	if len(list) == 0 {
		return
	}
	t.title(fmt.Sprintf("No check was made of %s", report.Plural(len(list), "sentence")))
	for i, u := range list {
		if i == shownUnproposed && !t.all {
			fmt.Fprintf(t, "  … and %d more (--all)\n", len(list)-i)
			return
		}
		fmt.Fprintf(t, "  %s %s\n", t.paint("33", fmt.Sprintf("v%d:%d", u.Delta.Version, u.Delta.Line)), report.Line(u.Delta.Text, t.width-12))
		about := u.Reason
		if u.Category != "" && u.Category != delta.OtherCategory {
			about = u.Category + ": " + about
		}
		fmt.Fprintf(t, "      %s\n", t.paint("2", report.Line(strings.TrimSpace(about), t.width-6)))
	}
}

// ProposalLine summarises a proposal in a line.
func ProposalLine(p *propose.Proposal, asked bool) string {
	text := report.Plural(len(p.Candidates), "candidate")
	former := 0
	for i := range p.Candidates {
		if p.Candidates[i].Delta.Removed > 0 {
			former++
		}
	}
	if former > 0 {
		text += fmt.Sprintf(", %d of them no longer asked", former)
	}
	if asked && len(p.Versions) == 0 {
		text += ", nothing new to ask about"
	}
	if n := len(p.Unproposed); n > 0 {
		text += fmt.Sprintf("; %s without a check", report.Plural(n, "sentence"))
	}
	return text
}
