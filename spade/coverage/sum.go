package coverage

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/rules"
)

// Kind is why a sentence is covered or not.
type Kind uint8

// The kinds. Every sentence of the last version is of one of them.
const (
	Covered    Kind = iota // an instruction with a selected assertion
	Unselected             // an instruction with candidates, none of which is selected
	Unproposed             // an instruction without a candidate
	Silent                 // it asks for nothing in an output: a role, data, an example, a heading
	kinds
)

// Sum accounts for every sentence once: the numbers of the kinds add up to the sentences of
// the last version.
type Sum struct {
	Sentences int
	Of        [kinds]int
	Lines     []SumLine // in the order of the prompt
	// Unchecked are the sentences that the proposal made no check of, by what they are in
	// the last version. Earlier counts those that it does not have any more.
	Unchecked [kinds]int
	Earlier   int
}

// SumLine is one sentence in a [Sum].
type SumLine struct {
	*Line
	Kind       Kind
	Candidates []string // that were not selected
	Reason     string   // why no candidate was made, "" if unknown
}

// Sum accounts for the sentences of a prompt. The candidates are those that were selected
// from, and unproposed the sentences of the proposal without one; both may be nil.
func (c *Cover) Sum(candidates []proviso.Candidate, unproposed []rules.Unproposed) *Sum {
	made, reasons := map[string][]string{}, map[string]string{}
	for i := range candidates {
		key := delta.Key(candidates[i].Delta.Text)
		made[key] = append(made[key], candidates[i].Name)
	}
	for _, u := range unproposed {
		reasons[delta.Key(u.Delta.Text)] = u.Reason
	}
	s := &Sum{Sentences: len(c.Lines)}
	now := map[string]Kind{}
	for i := range c.Lines {
		l := SumLine{Line: &c.Lines[i], Kind: Silent}
		switch {
		case len(l.Assertions) > 0:
			l.Kind = Covered
		case l.Instruction && len(made[l.Key]) > 0:
			l.Kind, l.Candidates = Unselected, made[l.Key]
		case l.Instruction:
			l.Kind, l.Reason = Unproposed, reasons[l.Key]
		}
		s.Of[l.Kind]++
		now[l.Key] = l.Kind
		s.Lines = append(s.Lines, l)
	}
	for _, u := range unproposed {
		if kind, ok := now[delta.Key(u.Delta.Text)]; ok {
			s.Unchecked[kind]++
		} else {
			s.Earlier++
		}
	}
	return s
}

// Silence says in words why a sentence asks for nothing in an output.
func (l *SumLine) Silence() string {
	text := strings.Trim(l.Text, " *_")
	switch {
	case l.Category == delta.PromptClarification:
		return "says what the model is or knows"
	case l.Category == delta.DataIntegration:
		return "holds data"
	case l.Category == delta.ExampleDemonstration:
		return "shows an example"
	case strings.HasPrefix(text, "#"), strings.HasSuffix(text, ":"):
		return "is a heading"
	}
	return "no instruction was recognised in it"
}
