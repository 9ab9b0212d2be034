package propose

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/value"
)

// Earlier is an earlier proposal, read from a file.
type Earlier struct {
	Candidates []proviso.Candidate
	Unproposed []rules.Unproposed
	Dropped    []Dropped
	Asked      []string // hashes of the sentences that a model was asked about, sorted
	Ruled      []string // hashes of candidates that rules made, sorted; one without a candidate was removed by a person
}

// sentenceHash identifies a sentence in a file, ignoring its list marker and blanks.
func sentenceHash(key string) string { return blobs.Key("sentence", key)[:16] }

// ruleHash identifies a rule's candidate for a sentence.
func ruleHash(c *proviso.Candidate) string {
	return blobs.Key("rule", delta.Key(c.Delta.Text), candidate.Check(c))[:16]
}

// ReadEarlier reads a file of [Proposal.YAML], [Proposal.JSON] or [candidate.JSONL]. JSON
// Lines and other programs' files do not list the sentences without candidates. For those
// files, the sentences of a model's candidates count as asked.
func ReadEarlier(file string, data []byte) (*Earlier, proviso.Mistakes) {
	list, mistakes := candidate.Read(file, data)
	if mistakes.Err() != nil {
		return nil, mistakes
	}
	e := &Earlier{Candidates: list}
	for i := range list {
		if list[i].Model != "" && list[i].Delta.Text != "" {
			e.Asked = append(e.Asked, sentenceHash(delta.Key(list[i].Delta.Text)))
		}
	}
	if ext := strings.ToLower(filepath.Ext(file)); ext != ".jsonl" && ext != ".py" {
		if doc, err := document.Parse(file, data); err == nil { // already parsed before
			e.state(doc.Root)
		}
	}
	slices.Sort(e.Asked)
	e.Asked = slices.Compact(e.Asked)
	slices.Sort(e.Ruled)
	return e, mistakes
}

// With returns the proposal with candidates that people wrote, which replace its candidates of
// the same names. A nil proposal is empty.
func (e *Earlier) With(own []proviso.Candidate) *Earlier {
	if len(own) == 0 {
		return e
	}
	out := &Earlier{}
	if e != nil {
		*out = *e
	}
	names := map[string]bool{}
	for i := range own {
		names[own[i].Name] = true
	}
	out.Candidates = slices.DeleteFunc(slices.Clone(out.Candidates), func(c proviso.Candidate) bool { return names[c.Name] })
	out.Candidates = append(out.Candidates, own...)
	return out
}

// state reads the part of a file other than the candidates.
func (e *Earlier) state(v any) {
	root, _ := v.(*value.Object)
	from, _ := root.At(candidate.ProvenanceKey).(*value.Object)
	for key, list := range map[string]*[]string{"asked": &e.Asked, "ruled": &e.Ruled} {
		hashes, _ := from.At(key).([]any)
		for _, v := range hashes {
			if s, ok := v.(string); ok {
				*list = append(*list, s)
			}
		}
	}
	gone, _ := root.At("dropped").([]any)
	for _, v := range gone {
		o, _ := v.(*value.Object)
		version, _ := o.At("version").(float64)
		d := Dropped{Candidate: o.Text("candidate"), Criterion: o.Text("criterion"), Version: int(version), Reason: o.Text("reason")}
		if d.Candidate+d.Criterion != "" {
			e.Dropped = append(e.Dropped, d)
		}
	}
	left, _ := root.At("unproposed").([]any)
	for _, v := range left {
		o, _ := v.(*value.Object)
		version, _ := o.At("version").(float64)
		line, _ := o.At("line").(float64)
		u := rules.Unproposed{Category: o.Text("category"), Reason: o.Text("reason")}
		u.Delta = proviso.Delta{Version: int(version), Added: true, Text: o.Text("text"), Line: int(line)}
		if u.Delta.Text != "" {
			e.Unproposed = append(e.Unproposed, u)
		}
	}
}

// asked reports whether a model was asked about a sentence.
func (e *Earlier) asked(key string) bool {
	_, ok := slices.BinarySearch(e.Asked, sentenceHash(key))
	return ok
}

// places maps each sentence of a history, by key, to where it was first added, and records
// whether the last version still has it.
type places struct {
	first map[string]proviso.Delta
	now   map[string]bool
	still map[string]bool // letters of the last version's sentences
}

func placesOf(h *delta.History) *places {
	s := &places{first: map[string]proviso.Delta{}, now: map[string]bool{}, still: map[string]bool{}}
	for _, d := range h.Asked() {
		key := delta.Key(d.Text)
		s.first[key], s.now[key] = d, d.Removed == 0
		if s.now[key] {
			s.still[letters(d.Text)] = true
		}
	}
	return s
}

// place returns where a text was first added; with dropped, also for text that a later version
// removed.
func (s *places) place(text string, dropped bool) (proviso.Delta, bool) {
	key := delta.Key(text)
	d, ok := s.first[key]
	return d, ok && (s.now[key] || dropped)
}

// kept returns the candidates to keep: those whose sentence still exists, and those without
// provenance. A candidate that the rules would make again replaces theirs in rules, so that a
// person's changes stay. Candidates that a person removed are removed from rules.
func (e *Earlier) kept(s *places, rules []proviso.Candidate, dropped bool) (ruled, made, byHand []proviso.Candidate) {
	gone := make([]bool, len(rules))
	for i := range rules {
		_, gone[i] = slices.BinarySearch(e.Ruled, ruleHash(&rules[i]))
	}
	of := map[string][]int{} // rules by sentence
	for i := range rules {
		key := delta.Key(rules[i].Delta.Text)
		of[key] = append(of[key], i)
	}
	for _, c := range e.Candidates {
		if c.Delta.Text == "" {
			byHand = append(byHand, c)
			continue
		}
		d, ok := s.place(c.Delta.Text, dropped)
		if !ok {
			continue
		}
		c.Delta = d
		if i := madeAgain(&c, rules, of[delta.Key(c.Delta.Text)]); i >= 0 {
			if gone[i] = false; !sameBut(&c, &rules[i]) {
				rules[i] = c
			}
			continue
		}
		made = append(made, c)
	}
	for i := range rules {
		if !gone[i] {
			ruled = append(ruled, rules[i])
		}
	}
	return ruled, made, byHand
}

// madeAgain returns the index of the rule's candidate with the same name or the same check; -1
// if there is none.
func madeAgain(c *proviso.Candidate, rules []proviso.Candidate, some []int) int {
	if c.Model != "" || len(some) == 0 {
		return -1
	}
	check, same := candidate.Check(c), -1
	for _, i := range some {
		if rules[i].Name == c.Name {
			return i
		}
		if same < 0 && candidate.Check(&rules[i]) == check {
			same = i
		}
	}
	return same
}

// stillAsked returns the sentences of a history that a model was asked about earlier.
func (e *Earlier) stillAsked(s *places) []string {
	if len(e.Asked) == 0 {
		return nil
	}
	var list []string
	for key := range s.first {
		if e.asked(key) {
			list = append(list, sentenceHash(key))
		}
	}
	slices.Sort(list)
	return list
}

// left returns the sentences without candidates that a model was asked about and that
// the prompt still has.
func (e *Earlier) left(s *places) []rules.Unproposed {
	var list []rules.Unproposed
	for _, u := range e.Unproposed {
		if d, ok := s.place(u.Delta.Text, false); ok && e.asked(delta.Key(u.Delta.Text)) {
			u.Delta = d
			list = append(list, u)
		}
	}
	return list
}
