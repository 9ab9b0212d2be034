package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Judgement is the verdict on an assertion with criteria, in a form for people.
type Judgement struct {
	Name        string // name of the assertion
	Status      string // pass, fail, error or skip
	Reasoning   string
	Instruction string // "" if there is none
	Criteria    []CriterionJudgement
}

// CriterionJudgement is the answer to one criterion.
type CriterionJudgement struct {
	Text      string
	Status    string // pass, fail, error or skip
	Reasoning string
	Evidence  []proviso.Evidence // parts of the output; a negative Start means that the offset is unknown
	Note      string             // problems with the evidence
	Votes     proviso.Votes
}

const (
	judgedLines = 8  // lines of a reason
	maxEvidence = 10 // quoted parts of the output per criterion
)

// signs are the marks for the status of an assertion or a criterion.
var signs = [...]string{proviso.Pass: "✓", proviso.Fail: "✗", proviso.Errored: "!", proviso.Skip: "–"}

// Judgements renders verdicts on an output: for each, the instruction, every criterion with
// its reason, and the quoted part of the output.
func Judgements(w io.Writer, o TerminalOptions, list []Judgement, output string) error {
	p := &printer{w: bufio.NewWriter(w), o: o.sized()}
	for i := range list {
		p.judgement("", &list[i], output)
	}
	return p.w.Flush()
}

// judgement shows one verdict; each line begins with before.
func (p *printer) judgement(before string, j *Judgement, output string) {
	text := j.Name
	if j.Reasoning != "" {
		text += ": " + j.Reasoning
	}
	p.signed(before, j.Status, text)
	p.criteria(before, j, output)
}

// criteria shows the criteria of a verdict.
func (p *printer) criteria(before string, j *Judgement, output string) {
	inner := before + "    "
	if j.Instruction != "" {
		for i, line := range wrap(OneLine(j.Instruction), p.o.Width-len(inner)-nameSize, judgedLines) {
			name := "asks"
			if i > 0 {
				name = ""
			}
			p.line("%s%s%s", inner, p.o.Paint(Dim, pad(name, nameSize)), opening(line))
		}
	}
	for i := range j.Criteria {
		c := &j.Criteria[i]
		p.signed(inner, c.Status, OneLine(c.Text))
		if c.Reasoning != "" && (c.Reasoning != j.Reasoning || proviso.StatusNamed(c.Status) == proviso.Fail) {
			p.hanging(inner+"  ", OneLine(c.Reasoning)+votesText(c.Votes))
		}
		p.evidence(inner+"  ", c.Evidence, output)
		if c.Note != "" {
			p.hanging(inner+"  ", "("+OneLine(c.Note)+")")
		}
	}
}

// evidence marks evidence in the output. It quotes evidence that the output does not
// contain.
func (p *printer) evidence(before string, list []proviso.Evidence, output string) {
	for _, e := range list[:min(len(list), maxEvidence)] {
		if e.Quote == "" {
			continue
		}
		start := placeOf(e, output)
		if start < 0 {
			p.hanging(before, "“"+OneLine(e.Quote)+"”")
			continue
		}
		p.marked(before, &passage{name: "output", text: output, start: start, end: start + len(e.Quote)})
	}
}

// placeOf returns the position of a quote in the output: the given offset, else the first
// occurrence; -1 if there is none.
func placeOf(e proviso.Evidence, output string) int {
	if e.Start >= 0 && e.Start <= len(output) && strings.HasPrefix(output[e.Start:], e.Quote) {
		return e.Start
	}
	return strings.Index(output, e.Quote)
}

// signed shows a text after a status sign.
func (p *printer) signed(before, status, text string) {
	s := proviso.StatusNamed(status)
	color := [...]string{proviso.Pass: Green, proviso.Fail: Red, proviso.Errored: Yellow, proviso.Skip: Dim}[s]
	for i, line := range wrap(text, p.o.Width-len(before)-2, judgedLines) {
		sign := p.o.Paint(color, signs[s])
		if i > 0 {
			sign = p.o.Paint(Dim, "│")
		}
		p.line("%s%s %s", before, sign, line)
	}
}

// hanging shows a text of several lines with a hanging indent.
func (p *printer) hanging(before, text string) {
	for _, line := range wrap(text, p.o.Width-len(before), judgedLines) {
		p.line("%s%s", before, opening(line))
	}
}

func votesText(v proviso.Votes) string {
	if v.Total() < 2 {
		return ""
	}
	text := fmt.Sprintf(" (votes: %d met, %d not", v.Met, v.Unmet)
	if v.CannotTell > 0 {
		text += fmt.Sprintf(", %d cannot tell", v.CannotTell)
	}
	if v.Failed > 0 {
		text += fmt.Sprintf(", %d failed", v.Failed)
	}
	return text + ")"
}

// judgementOf reads a component of a row; nil if the component has no criteria.
func judgementOf(c *value.Object) *Judgement {
	list, _ := c.At("criteria").([]any)
	if len(list) == 0 {
		return nil
	}
	a := c.Object("assertion")
	x := aboutRaw(a, false)
	j := &Judgement{Name: x.title(), Status: c.Text("status"), Reasoning: c.Text("reason"), Instruction: a.Text("instruction")}
	for _, v := range list {
		o, _ := v.(*value.Object)
		votes := o.Object("votes")
		j.Criteria = append(j.Criteria, CriterionJudgement{Text: o.Text("criterion"), Status: o.Text("status"),
			Reasoning: o.Text("reasoning"), Evidence: evidenceOf(o), Note: o.Text("note"),
			Votes: proviso.Votes{Met: integer(votes, "met"), Unmet: integer(votes, "unmet"), CannotTell: integer(votes, "cannot_tell"), Failed: integer(votes, "failed")}})
	}
	return j
}

// evidenceOf returns the evidence of a component or a criterion.
func evidenceOf(o *value.Object) []proviso.Evidence {
	list, _ := o.At("evidence").([]any)
	var out []proviso.Evidence
	for _, v := range list {
		e, _ := v.(*value.Object)
		out = append(out, proviso.Evidence{Quote: e.Text("quote"), Start: integer(e, "start"), Note: e.Text("note")})
	}
	return out
}
