package show

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/rules"
)

// Limits of what the terminal lists of a proposal without --all.
const (
	shownUnproposed = 15 // sentences without a check
	shownDropped    = 15 // criteria and candidates that were not kept
)

// Proposal shows a proposal to a person.
func Proposal(p *propose.Proposal, o report.TerminalOptions, all bool) []byte {
	t := newPage(o, 60)
	t.all = all
	t.title(plural.Of(len(p.Candidates), "candidate"))
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
		fmt.Fprintf(t, "\n%s of earlier versions %s no longer asked for, and not counted (--dropped)\n", plural.Of(n, "sentence"), verb)
	}
	return t.Bytes()
}

func (t *page) candidate(c *proviso.Candidate) {
	about := c.Category
	if c.Model != "" {
		about += ", " + c.Assertion.Type
	}
	fmt.Fprintf(t, "\n  %s  %s\n", t.o.Paint(report.Green, report.Line(c.Name, 60)), t.o.Paint(report.Dim, report.Line(strings.TrimPrefix(about, ", "), 60)))
	if c.Description != "" {
		fmt.Fprintf(t, "    %s\n", report.Line(c.Description, t.o.Width-4))
	}
	if c.Delta.Version > 0 {
		note := ""
		if c.Delta.Removed > 0 {
			note = fmt.Sprintf(", no longer asked since version %d", c.Delta.Removed)
		}
		fmt.Fprintf(t, "    %s\n", t.o.Paint(report.Dim, fmt.Sprintf("version %d, line %d%s: %s", c.Delta.Version, c.Delta.Line, note, report.Line(c.Delta.Text, max(20, t.o.Width-30-len(note))))))
		if c.Delta.When != "" {
			fmt.Fprintf(t, "    %s\n", t.o.Paint(report.Dim, "when "+report.Line(c.Delta.When, t.o.Width-9)))
		}
	}
}

// dropped lists the rejected proposals of a model.
func (t *page) dropped(list []propose.Dropped) {
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
		fmt.Fprintf(t, "  %s %s\n", t.o.Paint(report.Yellow, fmt.Sprintf("v%d", d.Version)), report.Line(what, t.o.Width-12))
		fmt.Fprintf(t, "      %s\n", t.o.Paint(report.Dim, report.Line(d.Reason, t.o.Width-6)))
	}
}

// unproposed lists the sentences without a check.
func (t *page) unproposed(list []rules.Unproposed) {
	if len(list) == 0 {
		return
	}
	t.title(fmt.Sprintf("No check was made of %s", plural.Of(len(list), "sentence")))
	for i, u := range list {
		if i == shownUnproposed && !t.all {
			fmt.Fprintf(t, "  … and %d more (--all)\n", len(list)-i)
			return
		}
		fmt.Fprintf(t, "  %s %s\n", t.o.Paint(report.Yellow, fmt.Sprintf("v%d:%d", u.Delta.Version, u.Delta.Line)), report.Line(u.Delta.Text, t.o.Width-12))
		about := u.Reason
		if u.Category != "" && u.Category != delta.OtherCategory {
			about = u.Category + ": " + about
		}
		fmt.Fprintf(t, "      %s\n", t.o.Paint(report.Dim, report.Line(strings.TrimSpace(about), t.o.Width-6)))
	}
}

// ProposalLine summarises a proposal in a line.
func ProposalLine(p *propose.Proposal, asked bool) string {
	text := plural.Of(len(p.Candidates), "candidate")
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
		text += fmt.Sprintf("; %s without a check", plural.Of(n, "sentence"))
	}
	return text
}
