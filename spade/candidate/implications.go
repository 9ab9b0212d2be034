package candidate

import (
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/format"
)

// Implication states that whatever passes A also passes B, so that B adds nothing to a
// set with A.
type Implication struct {
	A, B string
}

// ReadImplications reads implications from CSV: a header with a and b, and two candidate names
// per row. If the file has a column set, it reads only the rows of that set; further columns
// are evidence and ignored. The names must be among names. Duplicates and pairs of a candidate
// with itself are dropped. A set of [ImplicationSets] may be empty if the file has another of
// these sets.
func ReadImplications(file string, r io.Reader, set string, names []string) ([]Implication, proviso.Mistakes) {
	t := &format.Table{File: file}
	rd := implications{Table: t, set: set, names: names, known: map[string]bool{}, sets: map[string]bool{}, seen: map[Implication]bool{}}
	for _, name := range names {
		rd.known[name] = true
	}
	t.Rows(r, rd.header, rd.row)
	rd.checkSets()
	if t.Mistakes.Err() != nil {
		return nil, t.Mistakes
	}
	return rd.list, t.Mistakes
}

type implications struct {
	*format.Table
	set     string
	names   []string
	known   map[string]bool
	sets    map[string]bool
	seen    map[Implication]bool
	list    []Implication
	a, b, s int // columns
}

func (r *implications) header(header []string) bool {
	column := func(name string) int {
		return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
	}
	r.a, r.b, r.s = column("a"), column("b"), column("set")
	if r.a < 0 || r.b < 0 {
		r.Mistake(1, "", "the header must have the columns a and b")
		return false
	}
	if r.set != "" && r.s < 0 {
		r.Mistake(1, "", "there is no column set to choose %q by", r.set)
		return false
	}
	return true
}

func (r *implications) row(rec document.Record) {
	if r.s >= 0 {
		r.sets[rec.Fields[r.s]] = true
		if r.set != "" && rec.Fields[r.s] != r.set {
			return
		}
	}
	p := Implication{rec.Fields[r.a], rec.Fields[r.b]}
	for _, name := range []string{p.A, p.B} {
		if !r.known[name] {
			r.Mistake(rec.Line, document.Nearest(name, r.names), "no candidate is called %q", name)
		}
	}
	if p.A != p.B && !r.seen[p] {
		r.seen[p] = true
		r.list = append(r.list, p)
	}
}

// checkSets checks that the chosen set exists, and that a set is chosen if there are several.
func (r *implications) checkSets() {
	var sets []string
	for s := range r.sets {
		sets = append(sets, s)
	}
	slices.Sort(sets)
	ours := func(set string) bool { return slices.Contains(ImplicationSets(), set) }
	switch {
	case ours(r.set) && slices.ContainsFunc(sets, ours):
	case r.set != "" && len(sets) > 0 && !r.sets[r.set]:
		r.Mistake(1, document.Nearest(r.set, sets), "no row has the set %q; there are %s", r.set, strings.Join(sets, ", "))
	case r.set == "" && len(sets) > 1:
		r.Mistake(1, "", "the file has several sets: %s; choose one of them", strings.Join(sets, ", "))
	}
}

// ImplicationSets returns the names of a subsumption's sets, in order: proven; judged, found
// and confirmed by the judge and not contradicted; raw, every claim from any source; final,
// what was kept and what follows from it.
func ImplicationSets() []string { return []string{"proven", "judged", "raw", "final"} }
