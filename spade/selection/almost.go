package selection

import (
	"slices"

	"github.com/proviso-eval/proviso/spade/matrix"
)

// fewFalse is the number of good outputs up to which a candidate's false failures
// suggest wrong labels.
const fewFalse = 3

// Almost returns the candidate that catches most of the uncaught bad outputs and fails few
// good outputs, with the ids of both; "" if there is none.
func (s *Selection) Almost() (name string, caught, failed []string) {
	for j, fails := range s.Instance.Fails {
		var bad, good []string
		for _, i := range fails {
			switch id := s.Matrix.Examples[i].ID; {
			case s.Matrix.Cells[j][i] != matrix.Failed: // undecided or passed
			case s.Instance.Good[i]:
				good = append(good, id)
			case slices.Contains(s.Uncaught, id):
				bad = append(bad, id)
			}
		}
		if len(good) > 0 && len(good) <= fewFalse && (len(bad) > len(caught) || len(bad) == len(caught) && len(bad) > 0 && len(good) < len(failed)) {
			name, caught, failed = s.Matrix.Names[j], bad, good
		}
	}
	return name, caught, failed
}
