package report

import "encoding/binary"

// tallies counts verdicts by the hash of an assertion. In a large suite most assertions
// belong to one case and pass, so an assertion that passed once takes no more space than
// its hash.
type tallies struct {
	once map[[8]byte]struct{} // passed once; byte keys take half the space of numbers
	more map[uint64]Counts
}

func newTallies() tallies {
	return tallies{once: map[[8]byte]struct{}{}, more: map[uint64]Counts{}}
}

func onceKey(key uint64) (k [8]byte) {
	binary.NativeEndian.PutUint64(k[:], key)
	return k
}

func (t *tallies) len() int { return len(t.once) + len(t.more) }

// get returns the counts of an assertion, and false if there are none.
func (t *tallies) get(key uint64) (Counts, bool) {
	if _, ok := t.once[onceKey(key)]; ok {
		return Counts{Passed: 1}, true
	}
	c, ok := t.more[key]
	return c, ok
}

func (t *tallies) set(key uint64, c Counts) {
	t.remove(key)
	if c == (Counts{Passed: 1}) {
		t.once[onceKey(key)] = struct{}{}
	} else {
		t.more[key] = c
	}
}

func (t *tallies) remove(key uint64) {
	delete(t.once, onceKey(key))
	delete(t.more, key)
}

// total adds up all counts.
func (t *tallies) total() Counts {
	sum := Counts{Passed: len(t.once)}
	for _, c := range t.more {
		sum.plus(c)
	}
	return sum
}
