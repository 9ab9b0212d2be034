package report

import (
	"cmp"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"maps"
	"slices"
)

// maxErrorText is how many bytes of an error are compared.
const maxErrorText = 500

// sameError combines the rows that are undecided for the same reason, such as a model that
// does not exist. Reports show one of these rows and their number.
type sameError struct {
	text  string
	first int // index of the first row
	rows  int
}

// undecided counts a row with an error.
func (s *Summary) undecided(index int, text string) {
	text = excerpt.Head(text, maxErrorText)
	e := s.errors[text]
	switch {
	case e != nil:
		e.rows++
		e.first = min(e.first, index)
	case len(s.errors) < maxLabels:
		s.errors[text] = &sameError{text, index, 1}
	}
}

// undecidedRows returns the distinct errors in order of first occurrence.
func (s *Summary) undecidedRows() []*sameError {
	return slices.SortedFunc(maps.Values(s.errors), func(a, b *sameError) int { return cmp.Compare(a.first, b.first) })
}

// distinct is a row to show, and how many rows it represents.
type distinct struct {
	mark
	rows int
}

// distinct returns the failed rows, and one row for each distinct error, in the order of
// the marks.
func (s *Summary) distinct(marks []mark) []distinct {
	rows := map[int]int{}
	for _, e := range s.errors {
		rows[e.first] = e.rows
	}
	var list []distinct
	for _, m := range marks {
		n := 1
		if urgency(m) == 1 {
			n = rows[m.index]
		}
		if n > 0 {
			list = append(list, distinct{m, n})
		}
	}
	return list
}
