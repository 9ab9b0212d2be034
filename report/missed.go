package report

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
)

// Missed is what the assertions of a run would miss, measured by breaking its outputs on
// purpose. Package mutate/show creates it from a mutation testing report. Its texts are
// untrusted; a report escapes and shortens them.
type Missed struct {
	Headline     string              // the mutation score in a sentence
	About        []string            // the basis of the score, one sentence each
	Instructions []MissedInstruction // instructions of the same group are adjacent
	Assertions   []MissedAssertion
	JSON         []byte // the output of `proviso mutate --format json`
}

// MissedInstruction is an instruction of the prompt, and the result for outputs that break
// it.
type MissedInstruction struct {
	Group   MissedGroup
	Line    int // line of the prompt; 0 for an implicit instruction of every prompt
	Text    string
	Result  string        // how many mutants survive, and what kills the others
	Next    string        // what to do about it; "" for nothing
	Example *MissedChange // a surviving mutant; nil if there is none
}

// MissedGroup is the kind of result of an instruction.
type MissedGroup struct {
	Title     string
	Missed    bool // mutants survive
	Killed    bool // all mutants are killed
	Uncounted bool // not part of the score
}

// MissedChange is what a mutant changes, with its surroundings.
type MissedChange struct {
	Of                            string // how the mutant was made, and from which output
	Before, Removed, Added, After string
}

// MissedAssertion is an assertion and what it kills.
type MissedAssertion struct {
	Name                     string
	Kills, Passes, Undecided int      // numbers of mutants
	Of                       []string // instructions whose mutants it kills
	Note                     string   // what is special about it; "" for nothing
}

// Limits of the section on missed mutants.
const (
	missedTitle   = "What this suite would miss"
	maxMissed     = 100 // instructions, and assertions
	maxMissedOf   = 4   // instructions listed for an assertion
	maxMissedText = 300 // cells per text
	missedHere    = 10  // instructions in a terminal
)

// mark returns the sign of a group, its colour class, and a word for readers who do not see
// the sign.
func (g *MissedGroup) mark() (sign, class, word string) {
	switch {
	case g.Missed:
		return "✗", "fail", "Survives"
	case g.Killed:
		return "✓", "pass", "Killed"
	case g.Uncounted:
		return "·", "skip", "Not counted"
	}
	return "?", "skip", "Not known"
}

// surviving returns the instructions with surviving mutants.
func (m *Missed) surviving() (list []*MissedInstruction) {
	for i := range m.Instructions {
		if m.Instructions[i].Group.Missed {
			list = append(list, &m.Instructions[i])
		}
	}
	return list
}

// missedGroup has the instructions of one group.
type missedGroup struct {
	Title        string
	Instructions []MissedInstruction
}

// groupsOf groups the first instructions.
func groupsOf(m *Missed) (list []missedGroup) {
	for _, in := range m.Instructions[:min(len(m.Instructions), maxMissed)] {
		if n := len(list); n == 0 || list[n-1].Title != in.Group.Title {
			list = append(list, missedGroup{Title: in.Group.Title})
		}
		last := &list[len(list)-1]
		last.Instructions = append(last.Instructions, in)
	}
	return list
}

// of returns the instructions whose mutants an assertion kills.
func (a *MissedAssertion) of(cells int) []string {
	var list []string
	for i, text := range a.Of {
		if i == maxMissedOf && len(a.Of) > maxMissedOf+1 {
			return append(list, fmt.Sprintf("%d more", len(a.Of)-i))
		}
		list = append(list, Line(text, cells))
	}
	return list
}

// String shows a change as a small diff: [-removed-]{+added+}.
func (c *MissedChange) String() string {
	var parts []string
	for _, x := range [...][3]string{{"", c.Before, ""}, {"[-", c.Removed, "-]"}, {"{+", c.Added, "+}"}, {"", c.After, ""}} {
		if x[1] != "" {
			parts = append(parts, x[0]+x[1]+x[2])
		}
	}
	return strings.Join(parts, " ")
}

// missed writes the section for a comment: the instructions with surviving mutants, and
// what each assertion kills.
func (m *markdown) missed() {
	s := m.in.Meta.Missed
	if s == nil {
		return
	}
	m.line("### %s\n\n%s\n", missedTitle, MarkdownSentence(s.Headline))
	if list := s.surviving(); len(list) > 0 {
		m.line("| Line | Instruction | Mutants | One that survives | Next |\n|--:|---|---|---|---|")
		for _, in := range list[:m.few(len(list))] {
			where, example, next := "", "", ""
			if in.Line > 0 {
				where = fmt.Sprint(in.Line)
			}
			if in.Example != nil {
				example = MarkdownCode(in.Example.String(), 160)
			}
			if in.Next != "" {
				next = MarkdownCode(in.Next, 160)
			}
			m.line("| %s | %s | %s | %s | %s |", where, MarkdownCode(in.Text, 120), MarkdownCode(in.Result, 120), example, next)
		}
		m.line("")
	}
	if len(s.Assertions) == 0 {
		return
	}
	m.line("| Assertion | Kills | Passes | Undecided | Kills mutants of |\n|---|--:|--:|--:|---|")
	for i := range s.Assertions[:m.few(len(s.Assertions))] {
		a := &s.Assertions[i]
		kills := strings.Join(a.of(60), "; ")
		if kills == "" {
			kills = a.Note
		}
		if kills != "" {
			kills = MarkdownCode(kills, 160)
		}
		m.line("| %s | %d | %d | %d | %s |", MarkdownCode(a.Name, 60), a.Kills, a.Passes, a.Undecided, kills)
	}
	m.line("")
}

// few limits the lines of a table, to leave room for the run's rows.
func (m *markdown) few(n int) int {
	if m.b.Len() > m.limits.bytes/3 {
		return min(n, 3)
	}
	return min(n, m.limits.lines)
}

// missed shows the instructions with surviving mutants.
func (p *printer) missed() {
	s := p.meta.Missed
	if s == nil {
		return
	}
	p.line("%s\n  %s", p.o.Paint(Bold, missedTitle), Line(s.Headline, maxMissedText))
	list := s.surviving()
	for _, in := range list[:min(len(list), missedHere)] {
		sign, _, _ := in.Group.mark()
		where := "    "
		if in.Line > 0 {
			where = fmt.Sprintf("%4d", in.Line)
		}
		p.line("  %s %s  %s", p.o.Paint(Red, sign), where, Line(in.Text, p.o.Width-12))
		p.line("          %s", Line(in.Result, p.o.Width-12))
		if in.Example != nil {
			p.line("          %s", p.o.Paint(Dim, Line(in.Example.Of+": "+in.Example.String(), 2*p.o.Width)))
		}
	}
	if more := len(list) - missedHere; more > 0 {
		p.line("  … and %s more", plural.Of(more, "instruction"))
	}
	p.w.WriteByte('\n')
}
