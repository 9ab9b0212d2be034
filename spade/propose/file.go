package propose

import (
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/value"
)

// YAML writes the proposal as a file that [candidate.Read] reads, that a suite can list under
// assertions, and that [ReadEarlier] continues from. The comments are at the top, one per
// line.
func (p *Proposal) YAML(comments []string) []byte {
	var y format.YAML
	y.Write(candidate.YAML(p.Candidates, comments))
	if len(p.Asked)+len(p.Ruled) == 0 {
		return y.Bytes()
	}
	if list := p.fruitless(); len(list) > 0 {
		y.WriteString("\n# What was asked about and no check was made of.\n")
		y.Member("", "", "unproposed", list)
	}
	if list := p.droppedObjects(); len(list) > 0 {
		y.WriteString("\n# What a model proposed and was not kept, and why.\n")
		y.Member("", "", "dropped", list)
	}
	y.WriteString("\n# What was done, by hashes: no model is asked again about a sentence, and what rules made and\n# you took out does not come back.\n")
	y.Member("", "", candidate.ProvenanceKey, p.state())
	return y.Bytes()
}

// About returns the comments at the top of a proposal file.
func (p *Proposal) About(h *delta.History) []string {
	by := " by rules"
	if len(p.Asked) > 0 || slices.ContainsFunc(p.Candidates, func(c proviso.Candidate) bool { return c.Model != "" }) {
		by = ""
	}
	return []string{
		fmt.Sprintf("Candidates that proviso spade propose made of %s%s.", plural.Of(len(h.Changes), "version"), by),
		"A suite takes them with: assertions: file://THIS FILE",
	}
}

// state is what the next proposal needs besides the candidates.
func (p *Proposal) state() *value.Object {
	o := value.NewObject(2)
	if len(p.Asked) > 0 {
		o.Set("asked", textlist.Values(p.Asked))
	}
	if len(p.Ruled) > 0 {
		o.Set("ruled", textlist.Values(p.Ruled))
	}
	return o
}

// fruitless returns the sentences that a model was asked about and that have no candidate.
func (p *Proposal) fruitless() []any {
	var list []any
	for i := range p.Unproposed {
		if _, ok := slices.BinarySearch(p.Asked, sentenceHash(delta.Key(p.Unproposed[i].Delta.Text))); ok {
			list = append(list, unproposedObject(&p.Unproposed[i]))
		}
	}
	return list
}

func unproposedObject(u *rules.Unproposed) *value.Object {
	o := value.ObjectOf("version", float64(u.Delta.Version), "line", float64(u.Delta.Line), "text", u.Delta.Text)
	o.SetText("category", u.Category)
	o.Set("reason", u.Reason)
	return o
}

// JSON returns the proposal as one indented JSON object: the candidates as in a file, the
// sentences without a check, and, if a model was asked, its criteria, what was dropped, and
// its usage.
func (p *Proposal) JSON() ([]byte, error) {
	o := value.NewObject(6)
	list := make([]any, len(p.Candidates))
	for i := range p.Candidates {
		list[i] = candidate.Object(&p.Candidates[i], true)
	}
	o.Set("assertions", list)
	objects := func(all []rules.Unproposed) []any {
		left := make([]any, len(all))
		for i := range all {
			left[i] = unproposedObject(&all[i])
		}
		return left
	}
	o.Set("unproposed", objects(p.Unproposed))
	if len(p.Gone) > 0 {
		o.Set("gone", objects(p.Gone))
	}
	if len(p.Asked)+len(p.Versions) > 0 {
		p.report(o)
	}
	if len(p.Asked)+len(p.Ruled) > 0 {
		o.Set(candidate.ProvenanceKey, p.state())
	}
	return value.EncodeJSON(o, "  ")
}

// report adds the results of models.
func (p *Proposal) report(o *value.Object) {
	criteria := make([]any, len(p.Criteria))
	for i, c := range p.Criteria {
		criteria[i] = value.ObjectOf("version", float64(c.Delta.Version), "line", float64(c.Delta.Line), "quote", c.Quote,
			"category", c.Category, "criterion", c.Text, "vague", c.Vague)
	}
	o.Set("criteria", criteria)
	o.Set("dropped", p.droppedObjects())
	versions := make([]any, len(p.Versions))
	for i := range p.Versions {
		versions[i] = p.Versions[i].object()
	}
	o.Set("versions", versions)
}

// droppedObjects lists what was not kept, now and earlier.
func (p *Proposal) droppedObjects() []any {
	list := make([]any, 0, len(p.Before)+len(p.Dropped))
	for _, d := range slices.Concat(p.Before, p.Dropped) {
		one := value.ObjectOf("version", float64(d.Version))
		if d.Candidate != "" {
			one.Set("candidate", d.Candidate)
		} else {
			one.Set("criterion", d.Criterion)
		}
		one.Set("reason", d.Reason)
		list = append(list, one)
	}
	return list
}

func (v *VersionReport) object() *value.Object {
	n := func(i int) float64 { return float64(i) }
	o := value.ObjectOf("version", n(v.Version))
	if v.First < v.Version {
		o.Set("first", n(v.First))
	}
	for key, v := range value.ObjectOf("sentences", n(v.Asked), "criteria", n(v.Criteria), "proposed", n(v.Proposed),
		"repaired", n(v.Repaired), "improved", n(v.Improved), "kept", n(v.Kept), "spent", spentObject(&v.Spent)).All() {
		o.Set(key, v)
	}
	if len(v.Notes) > 0 {
		o.Set("notes", textlist.Values(v.Notes))
	}
	if v.Err != nil {
		o.Set("error", v.Err.Error())
	}
	return o
}

func spentObject(s *ask.Spent) *value.Object {
	return value.ObjectOf("calls", float64(s.Calls), "cached", float64(s.Cached), "prompt_tokens", float64(s.Usage.Prompt),
		"completion_tokens", float64(s.Usage.Completion), "cached_tokens", float64(s.Usage.Cached), "cost", s.Cost)
}
