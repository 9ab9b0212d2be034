package score

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/fnv"
	"iter"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/matrix"
)

// draw keeps the outputs with the smallest hashes of id and seed, which is a random sample
// in one pass. They stay sorted by hash.
func (s *scoring) draw(outputs iter.Seq2[Output, error]) error {
	for out, err := range outputs {
		if err != nil {
			return err
		}
		s.r.Outputs.Given++
		text := out.Text()
		switch {
		case out.Label == "0":
			s.r.Outputs.Bad++
			continue
		case strings.TrimSpace(text) == "" || len(text) > mutate.MaxText:
			s.r.Outputs.Unfit++
			continue
		}
		sub := &subject{Output: out, order: s.r.Outputs.Given, key: keyOf(s.o.Seed, out.ID)}
		at, _ := slices.BinarySearchFunc(s.drawn, sub, func(a, b *subject) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.order, b.order)) })
		most := s.o.Outputs * spare
		if at >= most {
			continue
		}
		if s.drawn = slices.Insert(s.drawn, at, sub); len(s.drawn) > most {
			s.drawn = s.drawn[:most]
		}
	}
	return nil
}

func keyOf(seed uint64, id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, seed)) // a hash never fails
	_, _ = h.Write([]byte(id))
	x := h.Sum64() // the last bytes of an id barely change the upper bits, so splitmix64 mixes them
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// prompt is the instructions of one prompt, with the checks that rules derive from them.
type prompt struct {
	asked []asked
	set   *check.Set // all checks
}

// asked is an instruction of a prompt.
type asked struct {
	at     int // index in Report.Instructions; -1 is AnyAnswer
	in     mutate.Instruction
	checks []int // indices in the prompt's set
}

// prepare finds the assertions and the instructions of all sets.
func (s *scoring) prepare(ctx context.Context) error {
	groups := map[*Set]*group{}
	assertions := map[string]int{}
	for _, sub := range s.drawn {
		g := groups[sub.Set]
		if g == nil {
			g = s.group(sub.Set, assertions)
			groups[sub.Set], s.groups = g, append(s.groups, g)
		}
		g.subjects = append(g.subjects, sub)
	}
	byPrompt := map[string][]proviso.Candidate{}
	var order []string
	for _, g := range s.groups {
		if _, ok := byPrompt[g.set.Prompt]; !ok {
			order = append(order, g.set.Prompt)
		}
		byPrompt[g.set.Prompt] = append(byPrompt[g.set.Prompt], g.set.Assertions...)
	}
	s.prompts = map[string]*prompt{}
	instructions := map[string]int{}
	for _, text := range order {
		p, err := s.preparePrompt(ctx, text, byPrompt[text], instructions)
		if err != nil {
			return err
		}
		s.prompts[text] = p
	}
	for _, sub := range s.drawn {
		sub.prompt = s.prompts[sub.Set.Prompt]
	}
	return nil
}

// group adds the assertions of a set to the report, which combines equal assertions of
// different sets.
func (s *scoring) group(set *Set, known map[string]int) *group {
	g := &group{set: set}
	for i := range set.Assertions {
		c := &set.Assertions[i]
		key := c.Name + "\x00" + candidate.Check(c)
		at, ok := known[key]
		if !ok {
			at = len(s.r.Assertions)
			known[key] = at
			s.r.Assertions = append(s.r.Assertions, Assertion{Name: c.Name, Type: c.Assertion.Type, Judged: matrix.AsksModel(c), Kills: map[int]int{}})
		}
		a := &s.r.Assertions[at]
		kind, found := check.Lookup(strings.TrimPrefix(c.Assertion.Type, "not-"))
		switch {
		case found && kind.Needs&check.NeedsGroup != 0:
			a.NotRun = "it compares several outputs"
		case found && (kind.Beside || kind.Needs&check.NeedsTrace != 0):
			a.NotRun = "it does not look at the text of an output"
		case c.Assertion.Severity == proviso.Info:
			a.NotRun = "its severity is info: it fails nothing"
		case a.Judged && !s.o.Judge:
			a.NotRun = "it asks a model"
		case a.Judged:
			g.judged = append(g.judged, i)
		default:
			g.code = append(g.code, i)
		}
		if !ok && a.Judged && a.NotRun == "it asks a model" {
			s.r.NotRun++
		}
		g.at = append(g.at, at)
	}
	return g
}

// preparePrompt finds the instructions of a prompt. The report combines sentences that
// several prompts share.
func (s *scoring) preparePrompt(ctx context.Context, text string, list []proviso.Candidate, known map[string]int) (*prompt, error) {
	p := &prompt{}
	var checks []*proviso.Assertion
	if strings.TrimSpace(text) != "" {
		cover, err := coverage.Of(ctx, text, list, s.o.Rules)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for _, l := range cover.Lines {
			if !l.Instruction || seen[l.Key] {
				continue
			}
			seen[l.Key] = true
			at, ok := known[l.Key]
			if !ok {
				at = len(s.r.Instructions)
				known[l.Key] = at
				s.r.Instructions = append(s.r.Instructions, Instruction{Text: l.Text, Line: l.Line, Category: l.Category, By: map[mutate.Basis]Counts{}})
			}
			in := &s.r.Instructions[at]
			for _, name := range l.Assertions {
				if !slices.Contains(in.Assertions, name) {
					in.Assertions = append(in.Assertions, name)
				}
			}
			a := asked{at: at, in: mutate.Instruction{Text: l.Text, Line: l.Line, Category: l.Category, Apart: l.Apart}}
			for i := range l.Made {
				in.Add = &l.Made[0]
				a.in.Checks, a.checks = append(a.in.Checks, l.Made[i].Assertion), append(a.checks, len(checks))
				checks = append(checks, l.Made[i].Assertion)
			}
			p.asked = append(p.asked, a)
		}
	}
	p.asked = append(p.asked, asked{at: -1, in: mutate.AnyAnswer})
	set, wrong := s.o.Rules.Compile(checks)
	if len(wrong) > 0 {
		return nil, wrong[0] // cannot happen: the rules have compiled each check
	}
	p.set = set
	return p, nil
}

// baseline decides the unchanged outputs, and uses the first ones that pass. It does not
// use an output that an assertion fails, because that assertion would fail a mutant of it,
// too. Assertions that ask a model run only on outputs that pass the others.
func (s *scoring) baseline(ctx context.Context) error {
	for _, g := range s.groups {
		for _, sub := range g.subjects {
			sub.cells = slices.Repeat([]matrix.Cell{matrix.Undecided}, len(g.set.Assertions))
		}
		if err := s.baselineOf(ctx, g, g.code, g.subjects); err != nil {
			return err
		}
	}
	passing := make([]*subject, 0, len(s.drawn)) // in the order of the draw
	for _, sub := range s.drawn {
		if sub.failed {
			s.r.Outputs.Failing++
		} else {
			passing = append(passing, sub)
		}
	}
	passing = passing[:min(len(passing), s.o.Outputs)]
	chosen := map[*subject]bool{}
	for _, sub := range passing {
		chosen[sub] = true
	}
	for _, g := range s.groups {
		g.subjects = slices.DeleteFunc(g.subjects, func(sub *subject) bool { return !chosen[sub] })
		slices.SortFunc(g.subjects, func(a, b *subject) int { return cmp.Compare(a.order, b.order) })
		if err := s.baselineOf(ctx, g, g.judged, g.subjects); err != nil {
			return err
		}
		for _, sub := range g.subjects {
			s.use(g, sub)
		}
	}
	slices.SortFunc(passing, func(a, b *subject) int { return cmp.Compare(a.order, b.order) })
	s.drawn = passing
	return nil
}

// baselineOf decides some assertions on unchanged outputs.
func (s *scoring) baselineOf(ctx context.Context, g *group, which []int, subjects []*subject) error {
	grid, err := s.decide(ctx, g, which, func(yield func(text) bool) {
		for _, sub := range subjects {
			if !yield(text{sub: sub}) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	for k, row := range grid {
		for n, j := range which {
			if subjects[k].cells[j] = row[n]; row[n] == matrix.Failed {
				subjects[k].failed = true
				s.r.Assertions[g.at[j]].Failing++
			}
			if row[n] == matrix.Passed {
				s.decides[g.at[j]] = true
			}
		}
	}
	return nil
}

// use decides whether an output that passes the assertions without a model is usable, and
// counts the reason if it is not.
func (s *scoring) use(g *group, sub *subject) {
	switch run := len(g.code) + len(g.judged); {
	case sub.failed:
		s.r.Outputs.Failing++
	case run > 0 && !slices.Contains(sub.cells, matrix.Passed):
		s.r.Outputs.Undecided++
	default:
		s.r.Outputs.Usable++
		sub.usable = true
	}
}
