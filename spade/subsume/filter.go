package subsume

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
)

// maxAgainst is the maximum number of kept examples that contradict an implication.
const maxAgainst = 20

// filter finds the examples that contradict implications.
type filter struct {
	passes, fails [][]uint64 // passed and failed examples, by candidate
	unfair        []bool     // candidates whose false failures are above tau
	unreliable    int        // number of these candidates
}

// newFilter reads a matrix; nil filters nothing. An undecided cell is neither a pass nor a
// fail.
func newFilter(names []string, m *matrix.Matrix, tau *float64) (*filter, error) {
	f := &filter{unfair: make([]bool, len(names))}
	if m == nil {
		return f, nil
	}
	columns, err := columnsOf(names, m)
	if err != nil {
		return nil, err
	}
	good, bad := m.Count()
	allow := good
	if tau != nil {
		_, allow = solve.Thresholds(good, bad, 0, *tau)
	}
	words := (len(m.Examples) + 63) / 64
	for i, j := range columns {
		passes, fails, wrong := make([]uint64, words), make([]uint64, words), 0
		for k, cell := range m.Cells[j] {
			switch cell {
			case matrix.Passed:
				passes[k/64] |= 1 << (k % 64)
			case matrix.Failed:
				fails[k/64] |= 1 << (k % 64)
				if m.Examples[k].Good {
					wrong++
				}
			}
		}
		f.passes, f.fails = append(f.passes, passes), append(f.fails, fails)
		if wrong > allow {
			f.unfair[i] = true
			f.unreliable++
		}
	}
	return f, nil
}

// against returns the examples that pass a and fail b.
func (f *filter) against(a, b int) []int {
	if f.passes == nil {
		return nil
	}
	var list []int
	for w, word := range f.passes[a] {
		for both := word & f.fails[b][w]; both != 0 && len(list) < maxAgainst; both &= both - 1 {
			list = append(list, w*64+bits.TrailingZeros64(both))
		}
	}
	return list
}

// judge sets the outcome of a pair from the examples.
func (f *filter) judge(p *Pair) {
	p.Outcome = Kept
	switch p.Against = f.against(p.A, p.B); {
	case len(p.Against) > 0:
		p.Outcome = Contradicted
	case f.unfair[p.A] || f.unfair[p.B]:
		p.Outcome = Unreliable
	}
}

// pairSet is a set of ordered pairs of candidates.
type pairSet struct {
	n    int
	bits []uint64
}

func newPairSet(n int) *pairSet { return &pairSet{n, make([]uint64, (n*n+63)/64)} }

func (s *pairSet) add(a, b int) {
	at := a*s.n + b
	s.bits[at/64] |= 1 << (at % 64)
}

func (s *pairSet) has(a, b int) bool {
	at := a*s.n + b
	return s.bits[at/64]&(1<<(at%64)) != 0
}

// follows returns the pairs that follow from others and are not among them, each with an
// intermediate candidate: the last one before B on a shortest path from A.
func follows(n int, list [][2]int) []Pair {
	words := (n + 63) / 64
	next := make([][]uint64, n)
	for i := range next {
		next[i] = make([]uint64, words)
	}
	for _, p := range list {
		next[p[0]][p[1]/64] |= 1 << (p[1] % 64)
	}
	var found []Pair
	seen := make([]uint64, words)
	for a := range n {
		clear(seen)
		seen[a/64] |= 1 << (a % 64)
		queue := []int{a}
		for at := 0; at < len(queue); at++ {
			via := queue[at]
			for w, word := range next[via] {
				for fresh := word &^ seen[w]; fresh != 0; fresh &= fresh - 1 {
					b := w*64 + bits.TrailingZeros64(fresh)
					seen[w] |= 1 << (b % 64)
					queue = append(queue, b)
					if via != a {
						found = append(found, Pair{A: a, B: b, Via: via, Source: FromClosure})
					}
				}
			}
		}
	}
	slices.SortFunc(found, func(p, q Pair) int { return cmp.Or(p.A-q.A, p.B-q.B) })
	return found
}
