package meteor

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// alignment maps words of a candidate to words of a reference.
type alignment struct {
	candidate int     // number of words in the candidate
	rest      []int32 // positions in the candidate without a match, from the end
	taken     []bool  // by position in the reference
	matches   []match
}

// match is a position in the candidate with one in the reference.
type match struct{ candidate, reference int32 }

func newAlignment(candidate, reference int) *alignment {
	a := &alignment{candidate: candidate, rest: make([]int32, candidate), taken: make([]bool, reference)}
	for i := range a.rest {
		a.rest[i] = int32(candidate - 1 - i)
	}
	return a
}

// open reports whether both texts have unmatched words.
func (a *alignment) open() bool { return len(a.rest) > 0 && len(a.matches) < len(a.taken) }

// align calls find for each unmatched word of the candidate, to choose an unmatched
// position in the reference; -1 is none.
func (a *alignment) align(ctx context.Context, x index, find func(i int32, q *queue) int32) error {
	if !a.open() {
		return nil
	}
	q := newQueue(x, a.taken)
	rest := a.rest[:0]
	for n, i := range a.rest {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := find(i, q)
		if at < 0 {
			rest = append(rest, i)
			continue
		}
		q.take(x.places[at])
		a.taken[at] = true
		a.matches = append(a.matches, match{i, at})
	}
	a.rest = rest
	return nil
}

// queue returns the positions of each word of a reference, from the last to the
// first.
type queue struct {
	heads []int32 // last remaining position of each word, by number; -1 if none is left
	prev  []int32 // for each position, the previous position of the same word
}

func newQueue(x index, taken []bool) *queue {
	q := &queue{heads: make([]int32, len(x.ids)), prev: make([]int32, len(x.places))}
	for i := range q.heads {
		q.heads[i] = -1
	}
	for i, id := range x.places {
		if !taken[i] {
			q.prev[i], q.heads[id] = q.heads[id], int32(i)
		}
	}
	return q
}

// last returns the last remaining position of word, or -1.
func (q *queue) last(ids map[string]int32, word string) int32 {
	if id, ok := ids[word]; ok {
		return q.heads[id]
	}
	return -1
}

// take removes the last position of the word with the number id.
func (q *queue) take(id int32) { q.heads[id] = q.prev[q.heads[id]] }

func (a *alignment) score(p Params) float64 {
	if len(a.matches) == 0 {
		return 0
	}
	m := float64(len(a.matches))
	precision, recall := m/float64(a.candidate), m/float64(len(a.taken))
	mean := precision * recall / (p.Alpha*precision + (1-p.Alpha)*recall)
	return (1 - p.Gamma*math.Pow(float64(a.chunks())/m, p.Beta)) * mean
}

// chunks counts the runs of matches that are adjacent in both texts.
func (a *alignment) chunks() int {
	slices.SortFunc(a.matches, func(x, y match) int { return cmp.Compare(x.candidate, y.candidate) })
	n := 1
	for i := 1; i < len(a.matches); i++ {
		if x, y := a.matches[i-1], a.matches[i]; y.candidate != x.candidate+1 || y.reference != x.reference+1 {
			n++
		}
	}
	return n
}
