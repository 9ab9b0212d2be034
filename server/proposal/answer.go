package proposal

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/value"
)

// SpadeAnswer is what the rules derive from a prompt and its outputs.
type SpadeAnswer struct {
	History    []SpadeChange    `json:"history" doc:"Oldest first"`
	Sentences  []SpadeSentence  `json:"sentences" doc:"Of the newest version, in its order"`
	Candidates []SpadeCandidate `json:"candidates"`
	Former     []string         `json:"former" doc:"Selected candidates of what an earlier version asked and the newest does not"`
	Unread     string           `json:"unread,omitempty" doc:"What rules do not read of the newest version, since it is in another language than English"`
	Unchecked  []SpadeUnchecked `json:"unchecked" doc:"Instructions of the newest version that no rule understands; a model may"`
	Examples   []SpadeOutput    `json:"examples"`
	More       bool             `json:"more" doc:"The run has outputs that were not taken"`
	Selection  *SpadeSelection  `json:"selection" doc:"null if there is nothing to select from"`
	Assertions string           `json:"assertions" doc:"The selected candidates as YAML, which a suite takes under assertions"`
	Suite      string           `json:"suite,omitempty" doc:"With cases: a suite as YAML, which proviso eval runs. It names the models of the run; without a run, its cases have the outputs"`
}

// SpadeChange is a version of a prompt with its changes.
type SpadeChange struct {
	Version int          `json:"version" doc:"From 1; a version that equals the one before is left out"`
	Name    string       `json:"name"`
	Text    string       `json:"text"`
	Changes []SpadeDelta `json:"changes"`
}

// SpadeDelta is one difference.
type SpadeDelta struct {
	Change   string `json:"change" enum:"added,removed,moved"`
	Text     string `json:"text"`
	Line     int    `json:"line" doc:"From 1, in the version that has it"`
	Category string `json:"category" doc:"Of SPADE; empty for text that the newest version does not have"`

	Part      string `json:"part,omitempty" enum:"heading,code,example,markup" doc:"What it is, if it asks for nothing on its own"`
	From      int    `json:"from,omitempty" doc:"Of what moved or was reworded: its line in the version before"`
	Former    string `json:"former,omitempty" doc:"Of what was reworded: what the version before said"`
	Condition string `json:"condition,omitempty" doc:"Of the template around it; always if it is missing"`
	When      string `json:"when,omitempty" doc:"The condition in CEL, as a suite has it; missing if it has no such form"`
}

// SpadeSentence is a sentence or another unit of the newest version.
type SpadeSentence struct {
	Text        string   `json:"text" doc:"A sentence that is wrapped over lines has spaces for their ends"`
	Start       int      `json:"start" doc:"In the text of the newest version, in UTF-16 units"`
	End         int      `json:"end"`
	Category    string   `json:"category"`
	Instruction bool     `json:"instruction" doc:"It asks something of an output"`
	Assertions  []string `json:"assertions" doc:"Selected candidates that check it"`
	Candidates  []string `json:"candidates" doc:"All candidates that were made of it"`
	Condition   string   `json:"condition,omitempty" doc:"Of the template around it; always if it is missing"`
	When        string   `json:"when,omitempty" doc:"The condition in CEL, as a suite has it; missing if it has no such form"`
}

// SpadeCandidate is a proposed assertion.
type SpadeCandidate struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Assertion   *value.Object `json:"assertion" doc:"As in a suite"`
	Category    string        `json:"category"`
	Sentence    string        `json:"sentence" doc:"That it was made of"`
	Version     int           `json:"version" doc:"That introduced the sentence"`
	Removed     int           `json:"removed,omitempty" doc:"The version that removed the sentence; missing if the newest version has it"`
	Caught      []string      `json:"caught" doc:"Ids of bad outputs that it fails"`
	False       []string      `json:"false" doc:"Ids of good outputs that it fails"`
	Failed      []string      `json:"failed" doc:"Ids of outputs without a label that it fails"`
	Undecided   []string      `json:"undecided" doc:"Ids of outputs on which it could not be decided"`
	Fate        string        `json:"fate" enum:"selected,unfair,implied,spare,crowded,rejected,aside,none" doc:"aside: the prompt no longer asks for it, and no labels show that it still holds; unfair: it fails too many good outputs; implied: a selected one implies it; spare: it adds nothing; crowded: with those selected it would fail too many good outputs; none: nothing was selected"`
	ImpliedBy   []string      `json:"implied_by" doc:"Selected candidates that imply it"`
}

// SpadeUnchecked is an instruction without a candidate.
type SpadeUnchecked struct {
	Text     string `json:"text"`
	Category string `json:"category"`
	Version  int    `json:"version" doc:"That introduced it"`
	Reason   string `json:"reason"`
}

// SpadeOutput is an output that candidates were tried on.
type SpadeOutput struct {
	ID       string   `json:"id"`
	Index    *int     `json:"index,omitempty" doc:"Of the row, if it is from a run"`
	Output   string   `json:"output" doc:"At most 4 KiB"`
	Cut      bool     `json:"cut,omitempty" doc:"The output is longer"`
	Label    string   `json:"label" enum:"pass,fail,"`
	CaughtBy []string `json:"caught_by" doc:"Selected candidates that fail it"`
}

// SpadeSelection is the smallest selection of candidates that catches enough bad outputs.
type SpadeSelection struct {
	Method     string   `json:"method" enum:"sub,none" doc:"none without good and bad outputs: one candidate of each group that nothing else implies"`
	Found      bool     `json:"found" doc:"Whether a selection is within the thresholds"`
	Best       int      `json:"best" doc:"If none is: the most bad outputs that one within tau catches"`
	Chosen     []string `json:"chosen"`
	Proven     bool     `json:"proven" doc:"No smaller selection does as well"`
	Caught     int      `json:"caught" doc:"Bad outputs that are caught"`
	Of         int      `json:"of" doc:"All bad outputs"`
	FailedGood int      `json:"failed_good" doc:"Good outputs that fail"`
	Good       int      `json:"good" doc:"All good outputs"`
	Uncaught   []string `json:"uncaught" doc:"Ids of bad outputs that no candidate within tau catches"`
}

const maxShown = 4 << 10 // bytes of an output in an answer

// describe converts the result of the pipeline into the answer.
func (w *Job) describe() *SpadeAnswer {
	out := &SpadeAnswer{History: []SpadeChange{}, Sentences: []SpadeSentence{}, Candidates: []SpadeCandidate{}, Former: append([]string{}, w.result.Cover.Former...), Unread: w.result.Cover.Unread, Unchecked: []SpadeUnchecked{}, Examples: []SpadeOutput{}, More: w.more,
		Assertions: string(w.result.Suite)}
	if out.Assertions == "" {
		out.Assertions = string(candidate.YAML(nil, nil))
	}
	if w.Request.Cases {
		file := spade.WholeSuite{Description: "Assertions for a prompt", Prompt: w.newest(), Providers: w.providers, Assertions: []byte(out.Assertions), Cases: w.trials}
		if w.Request.Prompt != "" {
			file.Description += ", " + w.Request.Prompt
		}
		out.Suite = string(file.YAML())
	}
	out.Sentences = w.sentences()
	for _, s := range out.Sentences {
		if s.Instruction && len(s.Candidates) == 0 {
			out.Unchecked = append(out.Unchecked, w.unchecked(s))
		}
	}
	out.History = w.changes()
	if s := w.result.Selection; s != nil {
		out.Selection = selectionOf(s)
	}
	out.Candidates = w.candidates()
	out.Examples = w.examples(out.Selection)
	return out
}

func selectionOf(s *selection.Selection) *SpadeSelection {
	return &SpadeSelection{Method: s.Options.Method, Found: s.Found(), Best: s.Answer.Best, Chosen: s.Selected(), Proven: s.Proven(), Caught: s.Answer.Covered, Of: s.Bad, FailedGood: s.Answer.False, Good: s.Good,
		Uncaught: append([]string{}, s.Uncaught...)}
}

// sentences returns the units of the newest version.
func (w *Job) sentences() []SpadeSentence {
	made := map[string][]string{} // candidate names, by the key of their sentence
	for i := range w.result.Candidates {
		key := delta.Key(w.result.Candidates[i].Delta.Text)
		made[key] = append(made[key], w.result.Candidates[i].Name)
	}
	last := w.history.Last()
	list := []SpadeSentence{}
	EachPlaced(w.newest(), w.result.Cover.Lines, func(l *coverage.Line, start, end int) {
		list = append(list, SpadeSentence{Text: l.Text, Start: start, End: end, Category: l.Category, Instruction: l.Instruction || len(made[l.Key]) > 0,
			Assertions: append([]string{}, l.Assertions...), Candidates: append([]string{}, made[l.Key]...),
			Condition: last[l.Key].Condition, When: last[l.Key].When})
	})
	return list
}

// newest returns the text of the newest version.
func (w *Job) newest() string { return w.history.Changes[len(w.history.Changes)-1].Text }

// unchecked explains why a sentence has no candidate.
func (w *Job) unchecked(s SpadeSentence) SpadeUnchecked {
	out := SpadeUnchecked{Text: s.Text, Category: s.Category, Reason: "no rule makes a check of it"}
	key := delta.Key(s.Text)
	for _, u := range w.result.Proposal.Unproposed {
		if delta.Key(u.Delta.Text) == key {
			out.Version, out.Reason = u.Delta.Version, u.Reason
		}
	}
	return out
}

// changes returns the versions with their changes.
func (w *Job) changes() []SpadeChange {
	categories := map[string]string{}
	for _, l := range w.result.Cover.Lines {
		categories[l.Key] = l.Category
	}
	list := []SpadeChange{}
	for _, c := range w.history.Changes {
		one := SpadeChange{Version: c.Number, Name: c.Name, Text: c.Text, Changes: []SpadeDelta{}}
		for _, d := range c.Deltas {
			one.Changes = append(one.Changes, SpadeDelta{Change: delta.Kind(d), Text: d.Text, Line: d.Line, Category: categories[delta.Key(d.Text)],
				Part: d.Part, From: d.From, Former: d.Former, Condition: d.Condition, When: d.When})
		}
		list = append(list, one)
	}
	return list
}

// candidates returns the candidates with their verdicts on the outputs.
func (w *Job) candidates() []SpadeCandidate {
	accounts := map[string]selection.Account{}
	if s := w.result.Selection; s != nil {
		for _, a := range s.Accounts() {
			accounts[a.Name] = a
		}
	}
	list := []SpadeCandidate{}
	for j := range w.result.Candidates {
		c := &w.result.Candidates[j]
		one := SpadeCandidate{Name: c.Name, Description: c.Description, Assertion: candidate.Object(c, false), Category: c.Category, Sentence: c.Delta.Text, Version: c.Delta.Version, Removed: c.Delta.Removed,
			Caught: []string{}, False: []string{}, Failed: []string{}, Undecided: []string{}, Fate: "none", ImpliedBy: []string{}}
		if a, ok := accounts[c.Name]; ok {
			one.Fate, one.ImpliedBy = a.Fate.String(), append([]string{}, a.By...)
		}
		switch {
		case slices.Contains(w.Request.Reject, c.Name):
			one.Fate = "rejected"
		case slices.Contains(w.result.SetAside, c.Name):
			one.Fate = "aside"
		}
		w.eachCell(j, func(id, label string, cell matrix.Cell) {
			switch {
			case cell == matrix.Undecided:
				one.Undecided = append(one.Undecided, id)
			case cell == matrix.Passed:
			case label == "0":
				one.Caught = append(one.Caught, id)
			case label == "1":
				one.False = append(one.False, id)
			default:
				one.Failed = append(one.Failed, id)
			}
		})
		list = append(list, one)
	}
	return list
}

// eachCell calls do for the outputs that a candidate was tried on.
func (w *Job) eachCell(candidate int, do func(id, label string, cell matrix.Cell)) {
	if w.result.Grid == nil {
		return
	}
	for i, e := range w.result.Grid.Entries {
		do(e.ID, e.Label, w.result.Grid.Cells[i][candidate])
	}
}

// examples returns the outputs.
func (w *Job) examples(chosen *SpadeSelection) []SpadeOutput {
	list := []SpadeOutput{}
	for i := range w.trials {
		t := &w.trials[i]
		text := t.Text()
		one := SpadeOutput{ID: t.ID, Output: strings.ToValidUTF8(excerpt.Head(text, maxShown), "\ufffd"), Cut: len(text) > maxShown, CaughtBy: []string{}}
		switch t.Label {
		case "1":
			one.Label = proviso.Pass.String()
		case "0":
			one.Label = proviso.Fail.String()
		}
		if w.Request.Run != "" {
			one.Index = &t.Index
		}
		if g := w.result.Grid; g != nil && i < len(g.Cells) {
			for j, name := range g.Names {
				if g.Cells[i][j] == matrix.Failed && chosen != nil && slices.Contains(chosen.Chosen, name) {
					one.CaughtBy = append(one.CaughtBy, name)
				}
			}
		}
		list = append(list, one)
	}
	return list
}

// EachPlaced calls do for the units of a text, with their positions in UTF-16 units, as in
// JavaScript. The units in lines have byte positions that count each line break as one byte.
func EachPlaced(text string, lines []coverage.Line, do func(l *coverage.Line, start, end int)) {
	at, bytes, units := 0, 0, 0 // positions in the text, in the text with LF line breaks, and in UTF-16
	if strings.HasPrefix(text, "\ufeff") {
		bytes = -len("\ufeff") // a byte order mark is not text
	}
	to := func(want int) int {
		for at < len(text) && bytes < want {
			r, n := utf8.DecodeRuneInString(text[at:])
			if r == '\r' && strings.HasPrefix(text[at+1:], "\n") {
				bytes-- // CR LF is one line break
			}
			at, bytes, units = at+n, bytes+n, units+utf16.RuneLen(r)
		}
		return units
	}
	for i := range lines {
		start := to(lines[i].Start)
		do(&lines[i], start, to(lines[i].End))
	}
}
