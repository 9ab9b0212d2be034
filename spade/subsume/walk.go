package subsume

import (
	"encoding/binary"
	"slices"
)

// language is a set of texts: those in which a pattern matches, or a combination of
// such sets.
type language struct {
	op   byte     // 'm' is a machine, '&' the intersection of subs, '|' their union, '!' the complement of the only sub
	m    *machine // for 'm'
	subs []*language
	size int // number of machines, once counted
}

// machines adds the machines of l to list, each once.
func (l *language) machines(list []*machine) []*machine {
	if l.op == 'm' && !slices.Contains(list, l.m) {
		list = append(list, l.m)
	}
	for _, sub := range l.subs {
		list = sub.machines(list)
	}
	return list
}

// holds evaluates l from the states of its machines.
func (l *language) holds(accepts func(*machine) bool) bool {
	switch l.op {
	case 'm':
		return accepts(l.m)
	case '!':
		return !l.subs[0].holds(accepts)
	case '&':
		for _, sub := range l.subs {
			if !sub.holds(accepts) {
				return false
			}
		}
		return true
	}
	for _, sub := range l.subs {
		if sub.holds(accepts) {
			return true
		}
	}
	return false
}

// nothing is the language without texts.
var nothing = &language{op: '|'}

// explorer searches for texts that separate languages, within its effort.
type explorer struct {
	effort int // remaining steps
}

// between searches for a shortest text that is in a and not in b, by a search through the
// product of their machines. known is false if it ran out of effort.
func (x *explorer) between(a, b *language) (units []rune, found, known bool) {
	if x.effort <= 0 {
		return nil, false, false
	}
	w := &walk{list: b.machines(a.machines(nil)), index: map[string]int32{}}
	w.letters()
	w.spent = len(w.reps)
	before := w.cost() - w.spent
	defer func() { x.effort -= w.cost() - before }()
	tuple := make([]int32, len(w.list))
	for i, m := range w.list {
		tuple[i] = m.start()
	}
	w.add(tuple, -1, 0)
	for at := 0; at < len(w.nodes); at++ {
		here := w.tuple(at)
		accepts := func(m *machine) bool { return m.accepts(here[slices.Index(w.list, m)]) }
		if a.holds(accepts) && !b.holds(accepts) {
			return w.text(at), true, w.whole()
		}
		if cost := w.cost() - before; cost > maxDistance || cost > x.effort || len(w.nodes) > maxStates {
			return nil, false, false
		}
		for _, r := range w.reps {
			here = w.tuple(at) // adding a node may have moved it
			for i, m := range w.list {
				tuple[i] = m.step(here[i], r)
			}
			w.add(tuple, int32(at), r)
		}
		w.spent += len(w.reps) * (1 + len(w.list))
	}
	return nil, false, w.whole()
}

// cost returns the cost of the search and of its machines so far.
func (w *walk) cost() int {
	sum := w.spent
	for _, m := range w.list {
		sum += m.work
	}
	return sum
}

// walk is one search through a product of machines.
type walk struct {
	list  []*machine
	reps  []rune // one unit per class that any of the machines distinguishes
	index map[string]int32
	nodes []node
	slab  []int32 // states, len(list) per node
	key   []byte
	spent int
}

// node is a combination of states, and how it was reached.
type node struct {
	from int32
	unit rune
}

func (w *walk) tuple(at int) []int32 { return w.slab[at*len(w.list) : (at+1)*len(w.list)] }

func (w *walk) add(tuple []int32, from int32, unit rune) {
	w.key = w.key[:0]
	for _, s := range tuple {
		w.key = binary.LittleEndian.AppendUint32(w.key, uint32(s))
	}
	if _, ok := w.index[string(w.key)]; ok {
		return
	}
	w.index[string(w.key)] = int32(len(w.nodes))
	w.nodes = append(w.nodes, node{from, unit})
	w.slab = append(w.slab, tuple...)
}

// text returns the text on the path to a node.
func (w *walk) text(at int) []rune {
	var units []rune
	for ; w.nodes[at].from >= 0; at = int(w.nodes[at].from) {
		units = append(units, w.nodes[at].unit)
	}
	slices.Reverse(units)
	return units
}

// whole reports whether all machines stayed within their limits.
func (w *walk) whole() bool {
	return !slices.ContainsFunc(w.list, func(m *machine) bool { return m.full })
}

// unitSpans are the code units that texts are made of (see package regex).
var unitSpans = [...][2]rune{{0, 0xd7ff}, {0xe000, 0xffff}, {0x10d800, 0x10dfff}}

// letters picks a unit of each class, a readable one if possible.
func (w *walk) letters() {
	var cuts []rune
	for _, m := range w.list {
		cuts = append(cuts, m.cuts...)
	}
	for _, span := range unitSpans {
		cuts = append(cuts, span[0], span[1]+1)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i, lo := range cuts[:len(cuts)-1] {
		hi := cuts[i+1] - 1
		if !slices.ContainsFunc(unitSpans[:], func(span [2]rune) bool { return span[0] <= lo && hi <= span[1] }) {
			continue
		}
		rep := lo
		for _, r := range [...]rune{'a', 'x', 'A', '1', ' ', '.', '!'} {
			if lo <= r && r <= hi {
				rep = r
				break
			}
		}
		w.reps = append(w.reps, rep)
	}
}
