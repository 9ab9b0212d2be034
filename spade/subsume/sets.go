package subsume

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/value"
)

// in reports whether a pair belongs to a set.
func (p *Pair) in(set string) bool {
	switch set {
	case "proven":
		return p.Source == FromProof
	case "judged":
		return p.Source == FromJudge && p.Outcome == Kept
	case "raw":
		return p.Source != FromClosure || p.Said != ""
	}
	return p.Outcome == Kept
}

// Set returns the implications of one of [candidate.ImplicationSets].
func (s *Subsumption) Set(name string) []candidate.Implication {
	var list []candidate.Implication
	for i := range s.Pairs {
		if p := &s.Pairs[i]; p.in(name) {
			list = append(list, candidate.Implication{A: s.Names[p.A], B: s.Names[p.B]})
		}
	}
	return list
}

// Count returns how many pairs a set has.
func (s *Subsumption) Count(set string) int {
	n := 0
	for i := range s.Pairs {
		if s.Pairs[i].in(set) {
			n++
		}
	}
	return n
}

// Why explains in a sentence why a pair is claimed, or why it was dropped.
func (s *Subsumption) Why(p *Pair) string {
	switch p.Outcome {
	case Contradicted:
		return fmt.Sprintf("%s passes %s and fails %s", s.examples(p.Against), s.Names[p.A], s.Names[p.B])
	case Unreliable:
		return "the false failures of " + s.Names[p.A] + " or " + s.Names[p.B] + " are above tau"
	case Refuted:
		return "the text " + value.Stringify(p.Text) + " passes " + s.Names[p.A] + " and fails " + s.Names[p.B]
	case Denied:
		return "asked again, the judge said no: " + p.Answer
	case Unconfirmed:
		return "the judge could not be asked again"
	}
	switch p.Source {
	case FromProof:
		return s.prover.reason(p.A, p.B, p.Proof)
	case FromJudge:
		return p.Answer
	case FromClosure:
		return fmt.Sprintf("%s implies %s, which implies %s", s.Names[p.A], s.Names[p.Via], s.Names[p.B])
	}
	return "it was given"
}

func (s *Subsumption) examples(list []int) string {
	const most = 5
	ids := make([]string, 0, most)
	for _, i := range list[:min(most, len(list))] {
		ids = append(ids, s.matrix.Examples[i].ID)
	}
	text := "the example " + strings.Join(ids, ", ")
	if len(list) > 1 {
		text = "each of the examples " + strings.Join(ids, ", ")
	}
	if len(list) > most {
		text += " and others"
	}
	return text
}

// Contradicts returns the ids of the examples that contradict a pair, at most 20.
func (s *Subsumption) Contradicts(p *Pair) []string {
	ids := make([]string, len(p.Against))
	for k, i := range p.Against {
		ids[k] = s.matrix.Examples[i].ID
	}
	return ids
}

// CSV writes the sets of a subsumption in the format of [candidate.ReadImplications]: set, a
// and b, and the source of each pair.
func (s *Subsumption) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"set", "a", "b", "source", "outcome", "why"}); err != nil {
		return err
	}
	for _, set := range candidate.ImplicationSets() {
		for i := range s.Pairs {
			p := &s.Pairs[i]
			if !p.in(set) {
				continue
			}
			if err := out.Write([]string{set, s.Names[p.A], s.Names[p.B], p.source(), string(p.Outcome), noFormula(s.Why(p))}); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// noFormula returns a judge's text in a form that no spreadsheet treats as a formula (OWASP,
// "CSV Injection"). Names stay unchanged, because they are read again.
func noFormula(text string) string {
	if text != "" && strings.ContainsAny(text[:1], "=+-@\t\r\n") {
		return "'" + text
	}
	return text
}

// source returns the source of a pair, including the kind of a proof.
func (p *Pair) source() string {
	if p.Source == FromProof {
		return string(p.Source) + ":" + string(p.Proof)
	}
	return string(p.Source)
}

// pairJSON is a pair with all its evidence.
type pairJSON struct {
	A       string   `json:"a"`
	B       string   `json:"b"`
	Source  Source   `json:"source"`
	Proof   string   `json:"proof,omitempty"`
	Outcome Outcome  `json:"outcome"`
	Why     string   `json:"why"`
	Via     string   `json:"via,omitempty"`
	Named   string   `json:"judge_named,omitempty"`
	Answer  string   `json:"judge_confirmed,omitempty"`
	Against []string `json:"contradicted_by,omitempty"`
	Text    string   `json:"counterexample,omitempty"`
}

// evidence returns the JSON form of a pair.
func (s *Subsumption) evidence(p *Pair) pairJSON {
	e := pairJSON{
		A: s.Names[p.A], B: s.Names[p.B], Source: p.Source, Proof: string(p.Proof), Outcome: p.Outcome, Why: s.Why(p),
		Named: p.Said, Answer: p.Answer, Text: p.Text, Against: s.Contradicts(p),
	}
	if p.Source == FromClosure {
		e.Via = s.Names[p.Via]
	}
	return e
}

type unansweredJSON struct {
	Step       string   `json:"step"`
	Candidates []string `json:"candidates"`
	Code       string   `json:"code,omitempty"`
	Error      string   `json:"error"`
}

type spentJSON struct {
	Judge     string  `json:"judge"`
	Prompt    string  `json:"prompt"`
	Questions int     `json:"questions"`
	Calls     int     `json:"calls"`
	Cached    int     `json:"cached"`
	Tokens    int     `json:"tokens"`
	Cost      float64 `json:"cost"`
}

// JSON writes the complete result, one pair per line, so that memory use is constant. model is
// the judge, nil if none was asked.
func (s *Subsumption) JSON(w io.Writer, model *ask.Model) error {
	out := bufio.NewWriter(w)
	enc := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			data = []byte("null") // only for values that JSON cannot represent; there are none
		}
		_, _ = out.Write(data) // bufio keeps the error
	}
	field := func(before, name string, v any) {
		_, _ = out.WriteString(before + "  \"" + name + "\": ")
		enc(v)
	}
	sets := map[string]int{}
	for _, set := range candidate.ImplicationSets() {
		sets[set] = s.Count(set)
	}
	field("{\n", "candidates", len(s.Names))
	field(",\n", "eligible", s.Eligible)
	if s.matrix != nil {
		field(",\n", "examples", len(s.matrix.Examples))
	}
	field(",\n", "sets", sets)
	field(",\n", "given_up", s.Unsure)
	if model != nil {
		field(",\n", "asked", spentJSON{
			Judge: model.Label(), Prompt: wording(), Questions: s.Questions, Calls: s.Spent.Calls, Cached: s.Spent.Cached,
			Tokens: int(s.Spent.Usage.Prompt + s.Spent.Usage.Completion), Cost: s.Spent.Cost,
		})
	}
	field(",\n", "unanswered", s.unanswered())
	classes := make([][]string, len(s.Classes))
	for i, class := range s.Classes {
		for _, j := range class {
			classes[i] = append(classes[i], s.Names[j])
		}
	}
	field(",\n", "classes", classes)
	_, _ = out.WriteString(",\n  \"pairs\": [")
	for i := range s.Pairs {
		sep := ",\n    "
		if i == 0 {
			sep = "\n    "
		}
		_, _ = out.WriteString(sep)
		enc(s.evidence(&s.Pairs[i]))
	}
	if len(s.Pairs) > 0 {
		_, _ = out.WriteString("\n  ")
	}
	_, _ = out.WriteString("]\n}\n")
	return out.Flush()
}

// unanswered lists the questions that the model did not answer.
func (s *Subsumption) unanswered() []unansweredJSON {
	list := []unansweredJSON{}
	for _, u := range s.Unanswered {
		one := unansweredJSON{Step: u.Step, Candidates: u.Candidates, Error: u.Err.Error()}
		var e *proviso.Error
		if errors.As(u.Err, &e) {
			one.Code = string(e.Code)
		}
		list = append(list, one)
	}
	return list
}

// wording identifies the wording of the questions about implications.
func wording() string {
	return blobs.Key("spade subsume 1", ask.Instructions("subsume-find"), ask.Instructions("subsume-confirm"))[:12]
}
