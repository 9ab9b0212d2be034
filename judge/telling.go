package judge

import (
	"sync/atomic"

	"github.com/proviso-eval/proviso"
)

// telling tells of the answers of a session as they become known. The zero value tells
// of none.
type telling struct {
	known     func(i int, g proviso.Graded) // nil if nobody wants to know
	questions [][]int                       // indexes of the questions about each item
	open      []atomic.Int64                // votes on each item that are not in
}

// tells prepares for telling of the questions in place, which has their items.
func (s *session) tells(place map[int]int, known func(i int, g proviso.Graded)) {
	if known == nil {
		return
	}
	s.known, s.questions, s.open = known, make([][]int, len(s.items)), make([]atomic.Int64, len(s.items))
	for i, n := range place {
		s.questions[n] = append(s.questions[n], i)
	}
	for n := range s.open {
		s.open[n].Store(int64(s.voteCount()))
	}
}

// voted counts a vote on an item that is in, and tells of the item after the last one.
func (s *session) voted(n int) {
	if s.known == nil || s.open[n].Add(-1) != 0 {
		return
	}
	for _, i := range s.questions[n] {
		var g proviso.Graded
		g.Grade, g.Err = s.grade(n) // each question owns its grade
		s.known(i, g)
	}
}

// tellStored counts the votes that came from the store, before any call.
func (s *session) tellStored() {
	for i := range s.votes {
		if s.votes[i].stored {
			s.voted(i / s.voteCount())
		}
	}
}
