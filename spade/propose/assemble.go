package propose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/rules"
)

// assemble makes a proposal from the work so far: first the candidates of rules, then those of
// models, old and new, in the order of the prompt's versions, then those that people wrote.
// The caller holds r.mu, or no other goroutine is running.
func (r *proposing) assemble() *Proposal {
	out := &Proposal{Unproposed: slices.Clone(r.left), Before: r.Earlier.Dropped}
	a := assembler{out: out, names: map[string]bool{}, same: map[string]string{}}
	jobs := slices.SortedStableFunc(slices.Values(r.done), func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.changes[0].Number, b.changes[0].Number), cmp.Compare(a.deltas[0].Line, b.deltas[0].Line))
	})
	var ruled []proviso.Candidate
	ruled, out.Ruled = r.ruled()
	ruled, byModel, byHand := r.Earlier.kept(r.said, ruled, r.Dropped)
	a.reserve(byModel, byHand)
	now, formerRules := former(ruled)
	a.add(now, false)
	byRules := len(out.Candidates)
	byModel, formerModel := former(byModel)
	a.takeOver(formerModel)
	a.add(byModel, true)
	reports := map[int]VersionReport{}
	for n, v := range r.reports {
		reports[n] = *v
	}
	var late []proviso.Candidate // candidates of removed text: they come after equal checks of current text
	for _, j := range jobs {
		out.Criteria = append(out.Criteria, j.criteria...)
		out.Dropped = append(out.Dropped, j.dropped...)
		v := reports[j.newest().Number]
		now, gone := former(j.candidates)
		v.Kept += a.add(now, false)
		late = append(late, gone...)
		reports[j.newest().Number] = v
		for _, d := range j.deltas {
			if j.bad != nil {
				break
			}
			out.Asked = append(out.Asked, sentenceHash(delta.Key(d.Text)))
		}
	}
	a.add(formerRules, false)
	a.add(formerModel, true)
	for i := range late {
		v := reports[late[i].Delta.Version]
		v.Kept += a.add(late[i:i+1], false)
		reports[late[i].Delta.Version] = v
	}
	a.inOrder(byRules)
	a.add(byHand, true)
	for _, n := range slices.Sorted(maps.Keys(reports)) {
		out.Versions = append(out.Versions, reports[n])
	}
	out.Asked = append(out.Asked, r.Earlier.stillAsked(r.said)...)
	slices.Sort(out.Asked)
	out.Asked = slices.Compact(out.Asked)
	r.unproposed(out, jobs)
	return out
}

// ruled returns the candidates of the rules and their hashes. If the rules did not run, it
// returns the earlier proposal's hashes.
func (r *proposing) ruled() (list []proviso.Candidate, hashes []string) {
	if r.rules == nil {
		return nil, r.Earlier.Ruled
	}
	list = slices.Clone(r.rules.Candidates)
	for i := range list {
		hashes = append(hashes, ruleHash(&list[i]))
	}
	slices.Sort(hashes)
	return list, hashes
}

// inOrder sorts the candidates from an index on by the place of their sentences.
func (a *assembler) inOrder(from int) {
	slices.SortStableFunc(a.out.Candidates[from:], func(a, b proviso.Candidate) int {
		return cmp.Or(cmp.Compare(a.Delta.Version, b.Delta.Version), cmp.Compare(a.Delta.Line, b.Delta.Line))
	})
}

// former splits candidates into those of text in the prompt and those of removed text.
func former(list []proviso.Candidate) (now, gone []proviso.Candidate) {
	for i := range list {
		if list[i].Delta.Removed > 0 {
			gone = append(gone, list[i])
		} else {
			now = append(now, list[i])
		}
	}
	return now, gone
}

// unproposed lists each sentence without candidates once. If the model was asked, the model's
// reason replaces the rules'.
func (r *proposing) unproposed(out *Proposal, jobs []*job) {
	made, told := map[string]bool{}, map[string]bool{}
	for i := range out.Candidates {
		made[delta.Key(out.Candidates[i].Delta.Text)] = true
	}
	var list []rules.Unproposed
	add := func(all []rules.Unproposed) {
		for _, u := range all {
			key := delta.Key(u.Delta.Text)
			if !made[key] && !told[key] {
				told[key] = true
				list = append(list, u)
			}
		}
	}
	add(r.left)
	for _, j := range jobs {
		add(j.left)
	}
	add(r.Earlier.left(r.said))
	if r.rules != nil {
		add(r.rules.Unproposed)
	}
	slices.SortStableFunc(list, func(a, b rules.Unproposed) int {
		return cmp.Or(cmp.Compare(a.Delta.Version, b.Delta.Version), cmp.Compare(a.Delta.Line, b.Delta.Line))
	})
	out.Unproposed = nil
	for _, u := range list {
		if r.said.now[delta.Key(u.Delta.Text)] {
			out.Unproposed = append(out.Unproposed, u)
		} else {
			out.Gone = append(out.Gone, u)
		}
	}
}

// assembler collects candidates with unique names, and equal checks once, except those that
// people wrote.
type assembler struct {
	out   *Proposal
	names map[string]bool
	same  map[string]string // names by check
	heirs map[string]string // names of candidates of removed text, by check
}

// takeOver gives the names of candidates of removed text to the candidates of current text
// with the same check.
func (a *assembler) takeOver(list []proviso.Candidate) {
	a.heirs = map[string]string{}
	for i := range list {
		a.heirs[candidate.Check(&list[i])] = list[i].Name
	}
}

// reserve reserves the names that candidates already have.
func (a *assembler) reserve(lists ...[]proviso.Candidate) {
	for _, list := range lists {
		for i := range list {
			a.names[list[i].Name] = true
		}
	}
}

// add adds candidates and returns how many it added; named candidates keep their names, which
// are reserved.
func (a *assembler) add(list []proviso.Candidate, named bool) int {
	added := 0
	for i := range list {
		c := list[i]
		key := candidate.Check(&c)
		byHand := named && c.Delta.Text == ""
		if first, ok := a.same[key]; ok && !byHand {
			if !named {
				a.out.Dropped = append(a.out.Dropped, Dropped{Candidate: c.Name, Version: c.Delta.Version, Reason: "it checks the same as " + first, Same: true})
			}
			continue
		}
		if name := a.heirs[key]; name != "" && !named {
			c.Name = name
		} else if !named {
			c.Name = freeName(c.Name, a.names)
			a.names[c.Name] = true
		}
		a.same[key] = c.Name
		a.out.Candidates = append(a.out.Candidates, c)
		added++
	}
	return added
}

// freeName returns an unused name.
func freeName(name string, taken map[string]bool) string {
	base := name
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}
