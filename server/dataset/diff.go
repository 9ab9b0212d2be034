package dataset

import (
	"bytes"
	"crypto/sha256"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// Diff lists the changes between two versions.
type Diff struct {
	Added   []*value.Object `json:"added" doc:"Cases that only the later version has"`
	Removed []*value.Object `json:"removed" doc:"Cases that only the earlier version has"`
	Changed []ChangedCase   `json:"changed"`
	Counts  DiffCounts      `json:"counts" doc:"How many there are, also beyond those that are listed"`
}

// DiffCounts counts the cases of two versions.
type DiffCounts struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	Same    int `json:"same"`
}

// ChangedCase is a case that both versions have, with different content.
type ChangedCase struct {
	Case   string        `json:"case" doc:"Its id"`
	Before *value.Object `json:"before"`
	After  *value.Object `json:"after"`
}

// Compare compares two versions line by line. It lists at most [store.MaxPage] cases.
func Compare(from, to []byte) (Diff, error) {
	out := Diff{Added: []*value.Object{}, Removed: []*value.Object{}, Changed: []ChangedCase{}}
	old := map[string][]byte{} // id → line of cases that are not paired yet
	for line := range Lines(from) {
		id, err := ID(line)
		if err != nil {
			return out, err
		}
		old[id] = line
	}
	room := diffRoom{cases: store.MaxPage, bytes: store.MaxPageBytes}
	for line := range Lines(to) {
		id, err := ID(line)
		if err != nil {
			return out, err
		}
		before, paired := old[id]
		delete(old, id)
		switch {
		case !paired:
			out.Counts.Added++
			err = room.list(&out.Added, line)
		case bytes.Equal(before, line) || sameCase(before, line):
			out.Counts.Same++
		default:
			out.Counts.Changed++
			err = room.changed(&out, id, before, line)
		}
		if err != nil {
			return out, err
		}
	}
	out.Counts.Removed = len(old)
	left := len(old)
	for line := range Lines(from) { // in their original order
		if left == 0 || room.cases == 0 {
			break
		}
		id, err := ID(line)
		if _, removed := old[id]; err == nil && removed {
			left--
			err = room.list(&out.Removed, line)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// diffRoom is how much more a comparison may list.
type diffRoom struct{ cases, bytes int }

func (r *diffRoom) take(size int) bool {
	if r.cases == 0 || r.bytes < size {
		return false
	}
	r.cases, r.bytes = r.cases-1, r.bytes-size
	return true
}

func (r *diffRoom) list(to *[]*value.Object, line []byte) error {
	if !r.take(len(line)) {
		return nil
	}
	one, err := Case(line)
	*to = append(*to, one)
	return err
}

func (r *diffRoom) changed(out *Diff, id string, before, after []byte) error {
	if !r.take(len(before) + len(after)) {
		return nil
	}
	was, err := Case(before)
	if err != nil {
		return err
	}
	is, err := Case(after)
	out.Changed = append(out.Changed, ChangedCase{Case: id, Before: was, After: is})
	return err
}

// sameCase reports whether two lines differ only in the order of keys.
func sameCase(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	one, err := Case(a)
	if err != nil {
		return false
	}
	other, err := Case(b)
	return err == nil && sortedHash(one) == sortedHash(other)
}

// sortedHash returns the hash of a value with sorted object keys.
func sortedHash(v any) [sha256.Size]byte {
	return sha256.Sum256(value.AppendJSON(nil, value.Sorted(v)))
}
