package selection

import (
	"slices"

	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
)

// Fate is the result for a candidate in a selection.
type Fate uint8

// The fates.
const (
	Selected Fate = iota
	Unfair        // by itself fails more good examples than tau allows
	Implied       // a selected candidate implies it
	Spare         // not needed, but could also be selected
	Crowded       // together with the selected ones, fails more good examples than tau allows
	Dear          // together with the selected ones, costs more per output than the budget allows
)

var fateNames = [...]string{"selected", "unfair", "implied", "spare", "crowded", "dear"}

// String returns the fate as one word.
func (f Fate) String() string { return fateNames[f] }

// Account describes one candidate of a selection.
type Account struct {
	Name     string
	Fate     Fate
	Covered  int      // bad examples that it fails
	False    int      // good examples that it fails or may fail
	Unknown  int      // examples on which it is undecided
	Perhaps  int      // part of False that fails only if an undecided cell counts as a fail
	Alone    []string // ids of the bad examples that no other selected candidate fails
	By       []string // for an implied candidate: the selected candidates that imply it
	Together int      // for a spare or crowded candidate: good examples that would fail if it were also selected

	// For a selected candidate, OnlyFalse counts the good examples that no other selected
	// candidate fails; LeftOver are the candidates that only this one implies.
	OnlyFalse int
	LeftOver  []string
}

// Accounts returns an account of every candidate in the matrix's order, or nil if there
// is no selection.
func (s *Selection) Accounts() []Account {
	if !s.Found() {
		return nil
	}
	list := make([]Account, len(s.Matrix.Names))
	hits := s.hits()
	implied := s.impliedBy()
	for j := range list {
		a := &list[j]
		a.Name = s.Matrix.Names[j]
		s.tally(a, j)
		if _, picked := slices.BinarySearch(s.Answer.Selected, j); picked {
			s.accountSelected(a, j, hits)
			continue
		}
		a.By = s.names(implied[j])
		s.accountExcluded(a, j, hits)
	}
	for j, by := range implied {
		if _, picked := slices.BinarySearch(s.Answer.Selected, j); !picked && len(by) == 1 {
			only := &list[by[0]]
			only.LeftOver = append(only.LeftOver, s.Matrix.Names[j])
		}
	}
	return list
}

// Found reports whether there is a selection.
func (s *Selection) Found() bool {
	return s.Answer.Status == solve.Optimal || s.Answer.Status == solve.Feasible
}

// hits counts, for each example, the selected candidates that fail it.
func (s *Selection) hits() []int {
	hits := make([]int, len(s.Matrix.Examples))
	for _, j := range s.Answer.Selected {
		for _, i := range s.Instance.Fails[j] {
			hits[i]++
		}
	}
	return hits
}

// impliedBy lists, for each candidate, the selected ones that imply it.
func (s *Selection) impliedBy() [][]int {
	by := make([][]int, len(s.Matrix.Names))
	for _, p := range s.Instance.Implies {
		if _, picked := slices.BinarySearch(s.Answer.Selected, p[0]); picked && p[0] != p[1] && !slices.Contains(by[p[1]], p[0]) {
			by[p[1]] = append(by[p[1]], p[0])
		}
	}
	return by
}

func (s *Selection) tally(a *Account, j int) {
	for _, i := range s.Instance.Fails[j] {
		if s.Instance.Good[i] {
			a.False++
		} else {
			a.Covered++
		}
	}
	for i, cell := range s.Matrix.Cells[j] {
		if cell != matrix.Undecided {
			continue
		}
		a.Unknown++
		if s.bounds() && s.Instance.Good[i] {
			a.Perhaps++
		}
	}
}

func (s *Selection) accountSelected(a *Account, j int, hits []int) {
	a.Fate = Selected
	for _, i := range s.Instance.Fails[j] {
		switch {
		case hits[i] != 1:
		case s.Instance.Good[i]:
			a.OnlyFalse++
		default:
			a.Alone = append(a.Alone, s.Matrix.Examples[i].ID)
		}
	}
}

func (s *Selection) accountExcluded(a *Account, j int, hits []int) {
	a.Together = s.Answer.False
	for _, i := range s.Instance.Fails[j] {
		if s.Instance.Good[i] && hits[i] == 0 {
			a.Together++
		}
	}
	switch {
	case a.False > s.Instance.Allow:
		a.Fate = Unfair
	case len(a.By) > 0:
		a.Fate = Implied
	case a.Together <= s.Instance.Allow && s.dear(j):
		a.Fate = Dear
	case a.Together <= s.Instance.Allow:
		a.Fate = Spare
	default:
		a.Fate = Crowded
	}
}
