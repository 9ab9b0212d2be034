// Package coverage reports which instructions of a prompt an assertion checks. Start at [Of].
package coverage

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/subsume"
	"github.com/proviso-eval/proviso/value"
)

// Line is a unit of the current prompt with the assertions that check it.
type Line struct {
	delta.Unit
	Category    string
	Instruction bool     // requires something of an output
	Assertions  []string // names of the assertions
	Apart       bool     // applies only sometimes, or its context reverses its meaning: see [rules.Apart]
	// Made are the candidates that the rules make from the unit; none if they do not
	// understand it.
	Made []proviso.Candidate
}

// Cover reports which instructions of a prompt are checked.
type Cover struct {
	Lines   []Line
	Covered int      // instructions with an assertion
	Total   int      // instructions
	Former  []string // assertions for requirements that only an earlier version has
	Orphans []string // assertions that belong to no unit of the prompt
	Unread  string   // what the rules cannot read in the prompt's language; "" if they read it
}

// Share returns covered / total, 1 for a prompt without instructions.
func (c *Cover) Share() float64 {
	if c.Total == 0 {
		return 1
	}
	return float64(c.Covered) / float64(c.Total)
}

// Of matches assertions with the units of a prompt. An assertion belongs to the sentence that
// it was made from, wherever that sentence is in the prompt. Without provenance it belongs to
// the sentence from which the rules make the same check, or a check that it implies.
func Of(ctx context.Context, prompt string, list []proviso.Candidate, c *check.Compiler) (*Cover, error) {
	h, err := delta.HistoryOf([]delta.Version{{Name: "the prompt", Text: prompt}})
	if err != nil {
		return nil, err
	}
	p, err := rules.Propose(ctx, h, rules.Options{Compiler: c})
	if err != nil {
		return nil, err
	}
	made := map[string]string{} // check made by the rules -> key of its sentence
	byKey := map[string][]proviso.Candidate{}
	categories := map[string]string{}
	for i := range p.Candidates {
		key := delta.Key(p.Candidates[i].Delta.Text)
		made[candidate.Check(&p.Candidates[i])] = key
		byKey[key] = append(byKey[key], p.Candidates[i])
		categories[key] = p.Candidates[i].Category
	}
	for _, u := range p.Unproposed {
		if key := delta.Key(u.Delta.Text); categories[key] == "" {
			categories[key] = u.Category
		}
	}
	meant := meanings(list, p.Candidates, made, c)
	names := map[string][]string{}
	out := &Cover{Unread: rules.Unread(prompt)}
	units := delta.Split(format.UnixLines(prompt))
	for i := range list {
		key := delta.Key(list[i].Delta.Text)
		if key == "" {
			key = cmp.Or(made[candidate.Check(&list[i])], meant[list[i].Name])
		}
		if key == "" || !slices.ContainsFunc(units, func(u delta.Unit) bool { return u.Key == key }) {
			if list[i].Delta.Removed > 0 {
				out.Former = append(out.Former, list[i].Name)
			} else {
				out.Orphans = append(out.Orphans, list[i].Name)
			}
			continue
		}
		names[key] = append(names[key], list[i].Name)
	}
	apart := rules.Apart(format.UnixLines(prompt))
	for _, u := range units {
		l := Line{Unit: u, Apart: apart[u.Key] || u.Condition != "", Category: categories[u.Key], Assertions: names[u.Key], Made: byKey[u.Key]}
		l.Instruction = len(l.Assertions) > 0 || len(l.Made) > 0 || isInstruction(l)
		if l.Instruction {
			out.Total++
			if len(l.Assertions) > 0 {
				out.Covered++
			}
		}
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}

// meanings returns, by name, the sentence keys of assertions without provenance that use other
// words but imply the check that the rules make from the sentence.
func meanings(list, byRules []proviso.Candidate, made map[string]string, c *check.Compiler) map[string]string {
	var others []proviso.Candidate
	for i := range list {
		if delta.Key(list[i].Delta.Text) == "" && made[candidate.Check(&list[i])] == "" && list[i].Assertion != nil {
			others = append(others, list[i])
		}
	}
	keys := map[string]string{}
	if len(others) == 0 || len(byRules) == 0 {
		return keys
	}
	for i, j := range subsume.Covering(others, byRules, c) {
		if j >= 0 {
			keys[others[i].Name] = delta.Key(byRules[j].Delta.Text)
		}
	}
	return keys
}

// isInstruction reports whether a unit requires something of an output, unlike a role, data,
// an example or a heading.
func isInstruction(l Line) bool {
	if l.Part != delta.Sentence {
		return false
	}
	text := strings.Trim(l.Text[delta.MarkerLength(l.Text):], " *_")
	switch l.Category {
	case delta.PromptClarification, delta.DataIntegration, delta.ExampleDemonstration:
		return false
	case delta.OtherCategory, "":
		if !anyOf(terse, text) {
			return false
		}
	}
	return !anyOf(silent, text) && !strings.HasSuffix(strings.Trim(l.Text, " *_"), ":")
}

// JSON returns the cover as one indented JSON object.
func (c *Cover) JSON() ([]byte, error) {
	type lineJSON struct {
		Line        int      `json:"line"`
		Text        string   `json:"text"`
		Category    string   `json:"category"`
		Instruction bool     `json:"instruction"`
		Assertions  []string `json:"assertions"`
	}
	out := struct {
		Covered int        `json:"covered"`
		Total   int        `json:"total"`
		Share   float64    `json:"share"`
		Lines   []lineJSON `json:"lines"`
		Former  []string   `json:"former"`
		Orphans []string   `json:"orphans"`
		Unread  string     `json:"unread,omitempty"`
	}{c.Covered, c.Total, c.Share(), make([]lineJSON, len(c.Lines)), append([]string{}, c.Former...), append([]string{}, c.Orphans...), c.Unread}
	for i, l := range c.Lines {
		if l.Assertions == nil {
			l.Assertions = []string{}
		}
		out.Lines[i] = lineJSON{l.Line, l.Text, l.Category, l.Instruction, l.Assertions}
	}
	return value.EncodeJSON(out, "  ")
}

// terse are instructions without a word from which the rules know the topic: "No preamble.",
// "Code only.", "One sentence.", "Stay on topic.", "Language: English.".
var terse = []*pattern.Lazy{
	pattern.Of(`(?i)^no [\w'’/-]+(?: [\w'’/-]+|(?:, [\w'’/-]+)*,? (?:or|and) (?:no )?[\w'’/-]+)?\W*$`),
	pattern.Of(`(?i)^(?:[\w'’/-]+ ){1,4}only\W*$|^only (?:[\w'’/-]+ ){0,4}[\w'’/-]+\W*$`),
	pattern.Of(`(?i)^(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+)(?: (?:short|brief|single|or|to|two|three|four|five|\d+))* (?:words?|sentences?|paragraphs?|lines?|bullets?|bullet points?|points?|items?|characters?|questions?)(?: (?:max(?:imum)?|at most|each|per \w+))?\W*$`),
	pattern.Of(`(?i)^(?:language|length|format|tone|style|voice|register|audience|spelling|limit|length limit|units?|currency|tense) ?: ?\S`),
	pattern.Of(`(?i)^\W*(?:(?:please|always|then|also|and|only|just) )*(?:answer|stay|stick|sign|skip|leave|drop|be|limit|spell|indent|wrap|attach|sound|prefix|prefer|capitali[sz]e) \S`),
}

// silent are sentences that require nothing, although one of their words has a topic: thanks,
// a greeting, a wish or a permission.
var silent = []*pattern.Lazy{
	pattern.Of(`(?i)^\W*(?:thank you|thanks|many thanks|good luck|hello|hi|welcome|no (?:problem|worries|pressure|rush|hurry)|well done|great)(?: (?:so|very) much| a lot| in advance| again| there| everyone| all)?\W*$`),
	pattern.Of(`(?i)^(?:[\w'’-]+ ){1,5}(?:is|are) (?:(?:also|always|very|perfectly) )?(?:welcome|allowed|fine|okay|ok|optional|permitted|acceptable)\W*$`),
}

func anyOf(list []*pattern.Lazy, text string) bool {
	for _, p := range list {
		if p.Get().MatchString(text) {
			return true
		}
	}
	return false
}

// Kind is why a sentence is covered or not.
type Kind uint8

// The kinds. Every sentence of the last version has one of them.
const (
	Covered    Kind = iota // an instruction with a selected assertion
	Unselected             // an instruction with candidates, none of which is selected
	Unproposed             // an instruction without a candidate
	Silent                 // requires nothing of an output: a role, data, an example, a heading
	kinds
)

// Sum accounts for every sentence once: the counts of the kinds add up to the number of
// sentences in the last version.
type Sum struct {
	Sentences int
	Of        [kinds]int
	Lines     []SumLine // in prompt order
	// Unchecked counts, by kind in the last version, the sentences for which the proposal made
	// no check. Earlier counts those that the last version no longer has.
	Unchecked [kinds]int
	Earlier   int
}

// SumLine is one sentence in a [Sum].
type SumLine struct {
	*Line
	Kind       Kind
	Candidates []string // candidates that were not selected
	Reason     string   // why no candidate was made, "" if unknown
}

// Sum accounts for the sentences of a prompt. candidates are all candidates of the selection,
// and unproposed the sentences of the proposal without a candidate; both may be nil.
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

// Silence explains why a sentence requires nothing of an output.
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
