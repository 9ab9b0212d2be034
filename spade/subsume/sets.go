package subsume

import (
	"fmt"
	"strings"

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
