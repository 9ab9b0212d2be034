package solve

import (
	"encoding/binary"
	"math"
)

// weights combine the costs of a selection into one number, lower is better: a sum over the
// selected and left-over candidates, the uncovered bad examples and the failed good ones.
type weights struct {
	cost, left, bad, good int64
}

// primary counts only what the method minimises.
func primary(method Method) weights {
	if method == Subsumption {
		return weights{cost: 1, left: 1}
	}
	return weights{cost: 1}
}

// tied adds the tie-break below what the method minimises: fewest left over, most covered,
// fewest failed. ok is false if the sum exceeds the exact range of float64.
func tied(in *Instance, method Method) (w weights, ok bool) {
	good, bad := in.Count()
	w.good = 1
	w.bad = int64(good) + 1
	next := w.bad * (int64(bad) + 1)
	total := 0.0
	for j := range in.Fails {
		total += float64(in.cost(j)) + 1
	}
	switch method {
	case Subsumption:
		w.cost = next * int64(len(in.Fails)+1)
		w.left = w.cost + next
	default:
		w.cost = next
	}
	return w, total*float64(w.cost) < math.MaxInt64/4 && total*float64(w.cost) < 1<<52
}

// covering maximises the caught bad examples.
var covering = weights{bad: 1}

// rows are the examples of one kind; examples that the same candidates fail are merged.
type rows struct {
	start  []int32   // row r is failed by cand[start[r]:start[r+1]]
	cand   []int32   // positions in model.ids, ascending in each row
	weight []int32   // number of examples that the row stands for
	of     [][]int32 // rows of each candidate
}

func (r *rows) len() int { return len(r.weight) }

func (r *rows) row(i int) []int32 { return r.cand[r.start[i]:r.start[i+1]] }

// model is an instance in the form that the search uses: only candidates that may be selected,
// and merged rows.
type model struct {
	in     *Instance
	method Method
	ids    []int // candidates that may be selected, ascending
	good   rows
	bad    rows
	lost   int // bad examples that no candidate in ids catches
	need   int
	allow  int
	succ   [][]int32 // by position: candidates of the instance that this one implies
	pred   [][]int32 // by candidate of the instance: positions that imply this one
	local  []int32   // by candidate of the instance: its position, -1 if none
}

func newModel(in *Instance, method Method, ids []int, need int) *model {
	m := &model{in: in, method: method, ids: ids, need: need, allow: in.Allow, local: make([]int32, len(in.Fails))}
	for j := range m.local {
		m.local[j] = -1
	}
	for k, j := range ids {
		m.local[j] = int32(k)
	}
	m.merge()
	m.succ, m.pred = make([][]int32, len(ids)), make([][]int32, len(in.Fails))
	if method == Subsumption {
		for a, next := range successors(len(in.Fails), in.Implies) {
			k := m.local[a]
			if k < 0 {
				continue
			}
			for _, b := range next {
				m.succ[k] = append(m.succ[k], int32(b))
				m.pred[b] = append(m.pred[b], k)
			}
		}
	}
	return m
}

// merge fills in the rows.
func (m *model) merge() {
	by := make([][]int32, len(m.in.Good))
	for k, j := range m.ids {
		for _, i := range m.in.Fails[j] {
			by[i] = append(by[i], int32(k))
		}
	}
	seen := [2]map[string]int{{}, {}}
	kinds := [2]*rows{&m.bad, &m.good}
	var key []byte
	for i, cands := range by {
		kind := 0
		if m.in.Good[i] {
			kind = 1
		}
		if len(cands) == 0 {
			m.lost += 1 - kind
			continue
		}
		key = key[:0]
		for _, k := range cands {
			key = binary.LittleEndian.AppendUint32(key, uint32(k))
		}
		r := kinds[kind]
		if at, ok := seen[kind][string(key)]; ok {
			r.weight[at]++
			continue
		}
		seen[kind][string(key)] = r.len()
		r.start = append(r.start, int32(len(r.cand)))
		r.cand = append(r.cand, cands...)
		r.weight = append(r.weight, 1)
	}
	for _, r := range kinds {
		r.start = append(r.start, int32(len(r.cand)))
		r.of = make([][]int32, len(m.ids))
		for i := range r.len() {
			for _, k := range r.row(i) {
				r.of[k] = append(r.of[k], int32(i))
			}
		}
	}
}

// cells returns how many cells one pass over the whole model visits.
func (m *model) cells() int64 {
	return int64(len(m.good.cand) + len(m.bad.cand) + len(m.ids))
}
