package selection

import (
	"context"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/matrix"
)

// Problem is the input of a selection.
type Problem struct {
	Matrix       *matrix.Matrix
	Implications []candidate.Implication
	Options      Options
}

// Cause is the part of a [Problem] whose change added or removed a candidate.
type Cause uint8

// The causes, in the order in which [Explain] considers them.
const (
	ByOptions      Cause = iota + 1 // method, thresholds, costs, pins and bans
	ByRemoval                       // removed candidates
	ByLabels                        // new, removed or relabelled examples
	ByCandidates                    // candidates that are new or have other results
	ByImplications                  // changed implications
)

var causeNames = [...]string{"", "the options changed", "candidates are gone", "the labels changed", "the candidates changed", "the implications changed"}

// String describes the cause.
func (c Cause) String() string { return causeNames[c] }

// Shift is a candidate that only one of two selections has.
type Shift struct {
	Name     string
	Selected bool // in the new selection; false if in the old one
	Cause    Cause
	Because  string // reason in the new selection, as a sentence
}

// Explain compares the selections before and after, and finds the causes of the differences:
// it changes the parts of the problem one after another and observes which change adds or
// removes a candidate. The shifts are in matrix order, with removed candidates at the end.
func Explain(ctx context.Context, before, after Problem) ([]Shift, error) {
	x := explainer{before: before, after: after}
	first, _, err := x.selected(ctx, before)
	if err != nil {
		return nil, err
	}
	last, err := Select(ctx, after.Matrix, after.Implications, after.Options)
	if err != nil {
		return nil, err
	}
	cause := map[string]Cause{}
	had := first
	for c := ByOptions; c <= ByImplications; c++ {
		now := last.Selected()
		if c < ByImplications {
			selected, ok, err := x.selected(ctx, x.upTo(c))
			if err != nil {
				return nil, err
			}
			if !ok {
				continue // a later change, such as the first labels, is the cause
			}
			now = selected
		}
		for _, name := range slices.Concat(had, now) {
			if slices.Contains(had, name) != slices.Contains(now, name) {
				cause[name] = c
			}
		}
		had = now
	}
	return x.changes(first, last, cause), nil
}

type explainer struct{ before, after Problem }

// selected returns the names in the solution of a problem, empty if it has no solution; ok is
// false if nothing can be measured.
func (x *explainer) selected(ctx context.Context, p Problem) (names []string, ok bool, err error) {
	s, err := Select(ctx, p.Matrix, p.Implications, p.Options)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err != nil:
		return nil, false, nil
	case !s.Found():
		return nil, true, nil
	}
	return s.Selected(), true, nil
}

// upTo returns the earlier problem with all changes up to a cause.
func (x *explainer) upTo(c Cause) Problem {
	p := x.before
	p.Options = x.after.Options
	if c >= ByRemoval {
		p.Matrix = p.Matrix.Only(func(name string) bool { return slices.Contains(x.after.Matrix.Names, name) })
	}
	if c >= ByLabels {
		p.Matrix = x.relabelled(p.Matrix)
	}
	if c >= ByCandidates {
		p.Matrix = x.after.Matrix
	}
	p.Implications = among(p.Implications, p.Matrix.Names)
	p.Options.Cost = costsAmong(p.Options.Cost, p.Matrix.Names)
	p.Options.Keep = namesAmong(p.Options.Keep, p.Matrix.Names)
	p.Options.Ban = namesAmong(p.Options.Ban, p.Matrix.Names)
	return p
}

// relabelled returns the examples of the later matrix, with the earlier cells where they
// exist. All of its candidates are in the later matrix.
func (x *explainer) relabelled(m *matrix.Matrix) *matrix.Matrix {
	row := map[string]int{}
	for i, e := range m.Examples {
		row[e.ID] = i
	}
	later := x.after.Matrix
	out := &matrix.Matrix{Names: m.Names, Examples: later.Examples}
	for j, name := range m.Names {
		column := slices.Clone(later.Cells[slices.Index(later.Names, name)])
		for i, e := range later.Examples {
			if k, ok := row[e.ID]; ok {
				column[i] = m.Cells[j][k]
			}
		}
		out.Cells = append(out.Cells, column)
	}
	return out
}

func among(list []candidate.Implication, names []string) []candidate.Implication {
	var out []candidate.Implication
	for _, p := range list {
		if slices.Contains(names, p.A) && slices.Contains(names, p.B) {
			out = append(out, p)
		}
	}
	return out
}

func namesAmong(list, names []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !slices.Contains(names, name) })
}

func costsAmong(costs map[string]int, names []string) map[string]int {
	out := map[string]int{}
	for name, cost := range costs {
		if slices.Contains(names, name) {
			out[name] = cost
		}
	}
	return out
}

func (x *explainer) changes(first []string, last *Selection, cause map[string]Cause) []Shift {
	var list []Shift
	for _, a := range last.Accounts() {
		now := a.Fate == Selected
		if now == slices.Contains(first, a.Name) {
			continue
		}
		c := Shift{Name: a.Name, Selected: now, Cause: cause[a.Name], Because: x.because(a, last)}
		list = append(list, c)
	}
	for _, name := range first {
		switch {
		case slices.Contains(last.Banned, name):
			list = append(list, Shift{Name: name, Cause: ByOptions, Because: "it is banned"})
		case !slices.Contains(last.Matrix.Names, name):
			list = append(list, Shift{Name: name, Cause: ByRemoval, Because: "it is no longer a candidate"})
		case !last.Found():
			list = append(list, Shift{Name: name, Cause: cause[name], Because: "no selection is within both thresholds"})
		}
	}
	return list
}

// because explains why a candidate is in or out of a selection.
func (x *explainer) because(a Account, s *Selection) string {
	switch a.Fate {
	case Selected:
		switch {
		case slices.Contains(s.Options.Keep, a.Name):
			return "it is pinned"
		case len(a.Alone) > 0:
			return "it alone catches " + x.ids(a.Alone)
		case len(a.LeftOver) > 0:
			return "it alone implies " + format.Some(a.LeftOver, shownNames)
		}
		return fmt.Sprintf("it catches %d of %s", a.Covered, plural.Of(s.Bad, "bad output"))
	case Unfair:
		fails := plural.Of(a.False, "good output")
		if a.Perhaps > 0 {
			fails = "up to " + fails
		}
		return fmt.Sprintf("it fails %s, %d at most", fails, s.Instance.Allow)
	case Implied:
		return "it is implied by " + format.Some(a.By, shownNames)
	case Dear:
		return fmt.Sprintf("with it the selection would cost more than %s per output", format.Dollars(*s.Options.Budget))
	case Crowded:
		return fmt.Sprintf("with it the selection would fail %s, %d at most", plural.Of(a.Together, "good output"), s.Instance.Allow)
	}
	return "what it catches is caught without it"
}

// shownNames is how many names a sentence lists before it counts the rest.
const shownNames = 5

// ids lists examples, and marks those that were not labelled bad before.
func (x *explainer) ids(ids []string) string {
	fresh := 0
	for _, id := range ids {
		if !slices.Contains(x.before.Matrix.Examples, matrix.Example{ID: id}) {
			fresh++
		}
	}
	text := format.Some(ids, shownNames)
	switch {
	case fresh == 0:
	case fresh == len(ids):
		text += ", labelled bad since"
	default:
		text += fmt.Sprintf(", %d of them labelled bad since", fresh)
	}
	return text
}
