package runfile

import (
	"cmp"
	"slices"
)

// entry is the position of a row in the file. It takes 16 bytes, whatever indices the file
// claims to hold.
type entry struct {
	off  int64
	row  uint32
	size uint32
}

// index finds rows. It is in file order until order is called.
type index struct {
	entries  []entry
	disorder bool // rows are not strictly ascending
}

func (x *index) add(e entry) {
	if n := len(x.entries); n > 0 && x.entries[n-1].row >= e.row {
		x.disorder = true
	}
	x.entries = append(x.entries, e)
}

// order sorts by row. Of several records of a row it keeps the last one, which a resumed run
// wrote.
func (x *index) order() {
	if !x.disorder {
		return
	}
	slices.SortFunc(x.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.off, b.off))
	})
	kept := x.entries[:0]
	for i, e := range x.entries {
		if i+1 < len(x.entries) && x.entries[i+1].row == e.row {
			continue
		}
		kept = append(kept, e)
	}
	x.entries, x.disorder = kept, false
}

// find returns the entry of a row; the index must be in order.
func (x *index) find(row int) (entry, bool) {
	at, ok := slices.BinarySearchFunc(x.entries, row, func(e entry, row int) int {
		return cmp.Compare(int64(e.row), int64(row))
	})
	if !ok {
		return entry{}, false
	}
	return x.entries[at], true
}

// after returns the entries of the rows after the given one; the index must be in order.
func (x *index) after(row int) []entry {
	at, _ := slices.BinarySearchFunc(x.entries, int64(row)+1, func(e entry, row int64) int {
		return cmp.Compare(int64(e.row), row)
	})
	return x.entries[at:]
}
