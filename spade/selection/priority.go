package selection

import (
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/solve"
)

// TakePriorities adds the pins, bans and costs of candidates. Those already in the options
// have priority. names are those of the matrix; others are ignored.
func (o *Options) TakePriorities(list []proviso.Candidate, names []string) {
	o.Keep, o.Ban = slices.Clone(o.Keep), slices.Clone(o.Ban)
	own := slices.Concat(o.Keep, o.Ban)
	costs := maps.Clone(o.Cost)
	for _, c := range list {
		if !slices.Contains(names, c.Name) {
			continue
		}
		if !slices.Contains(own, c.Name) {
			switch {
			case c.Pin:
				o.Keep = append(o.Keep, c.Name)
			case c.Ban:
				o.Ban = append(o.Ban, c.Name)
			}
		}
		if _, given := costs[c.Name]; c.Cost > 0 && !given {
			if costs == nil {
				costs = map[string]int{}
			}
			costs[c.Name] = c.Cost
		}
	}
	o.Cost = costs
}

// Known rejects pins, bans and costs for names that no candidate has, so that they fail before
// anything is tried.
func (o *Options) Known(names []string) error {
	for _, given := range []struct {
		list []string
		text string
	}{{o.Keep, "%q is pinned, and no candidate has that name%s"}, {o.Ban, "%q is banned, and no candidate has that name%s"}, {slices.Sorted(maps.Keys(o.Cost)), "a cost is given for %q, and no candidate has that name%s"}} {
		for _, name := range given.list {
			if !slices.Contains(names, name) {
				return proviso.Errorf(proviso.Invalid, given.text, name, format.DidYouMean(name, names))
			}
		}
	}
	return nil
}

// ban removes the banned candidates from the matrix and the implications. It keeps what
// follows from implications through a banned candidate.
func (s *Selection) ban(implications *[]candidate.Implication) error {
	o, m := &s.Options, s.Matrix
	if len(o.Ban) == 0 {
		return nil
	}
	if o.Close {
		*implications = closed(*implications, m.Names)
	}
	banned := func(name string) bool { return slices.Contains(o.Ban, name) }
	s.Banned = slices.DeleteFunc(slices.Clone(m.Names), func(name string) bool { return !banned(name) })
	s.Matrix = m.Only(func(name string) bool { return !banned(name) })
	if len(s.Matrix.Names) == 0 {
		return proviso.Errorf(proviso.Invalid, "every candidate is banned, so there is nothing to select from")
	}
	*implications = slices.DeleteFunc(slices.Clone(*implications), func(p candidate.Implication) bool {
		return slices.Contains(s.Banned, p.A) || slices.Contains(s.Banned, p.B)
	})
	o.Cost = maps.Clone(o.Cost)
	for _, name := range s.Banned {
		delete(o.Cost, name)
	}
	return nil
}

// closed adds the implications that follow from others. It keeps those with an unknown name,
// so that the mistake is reported.
func closed(list []candidate.Implication, names []string) []candidate.Implication {
	index := map[string]int{}
	for j, name := range names {
		index[name] = j
	}
	var known [][2]int
	var out []candidate.Implication
	for _, p := range list {
		a, ok := index[p.A]
		b, also := index[p.B]
		if ok && also {
			known = append(known, [2]int{a, b})
		} else {
			out = append(out, p)
		}
	}
	for _, p := range solve.Close(len(names), known) {
		out = append(out, candidate.Implication{A: names[p[0]], B: names[p[1]]})
	}
	return out
}
