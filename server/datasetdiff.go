package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// DatasetDiff is what changed between two versions of a dataset.
type DatasetDiff struct {
	From    DatasetVersion  `json:"from"`
	To      DatasetVersion  `json:"to"`
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

// ChangedCase is a case that two versions have, with different content.
type ChangedCase struct {
	Case   string        `json:"case" doc:"Its id"`
	Before *value.Object `json:"before"`
	After  *value.Object `json:"after"`
}

// diffDataset sends what changed between two versions.
func (s *Server) diffDataset(c *call) error {
	to, err := s.openDataset(c, c.q.Get("to"))
	if err != nil {
		return err
	}
	before := c.q.Get("from")
	if before == "" {
		before = strconv.Itoa(max(1, to.Number-1))
	}
	from, err := s.openDataset(c, before)
	if err != nil {
		return err
	}
	return c.send(diffOf(&from, &to))
}

// diffOf compares two versions, line by line.
func diffOf(from, to *store.Document) (*DatasetDiff, error) {
	out := &DatasetDiff{From: datasetOf(from), To: datasetOf(to), Added: []*value.Object{}, Removed: []*value.Object{}, Changed: []ChangedCase{}}
	old := map[string][]byte{} // id → line of cases that were not paired
	for line := range linesOf(from.Content) {
		id, err := idOf(line)
		if err != nil {
			return nil, err
		}
		old[id] = line
	}
	room := diffRoom{cases: store.MaxPage, bytes: store.MaxPageBytes}
	for line := range linesOf(to.Content) {
		id, err := idOf(line)
		if err != nil {
			return nil, err
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
			err = room.changed(out, id, before, line)
		}
		if err != nil {
			return nil, err
		}
	}
	out.Counts.Removed = len(old)
	left := len(old)
	for line := range linesOf(from.Content) { // in their order
		if left == 0 || room.cases == 0 {
			break
		}
		id, err := idOf(line)
		if _, removed := old[id]; err == nil && removed {
			left--
			err = room.list(&out.Removed, line)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// diffRoom is how much more of a comparison may be listed.
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
	one, err := caseOf(line)
	*to = append(*to, one)
	return err
}

func (r *diffRoom) changed(out *DatasetDiff, id string, before, after []byte) error {
	if !r.take(len(before) + len(after)) {
		return nil
	}
	was, err := caseOf(before)
	if err != nil {
		return err
	}
	is, err := caseOf(after)
	out.Changed = append(out.Changed, ChangedCase{Case: id, Before: was, After: is})
	return err
}

// sameCase reports whether two lines differ in the order of keys alone.
func sameCase(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	one, err := caseOf(a)
	if err != nil {
		return false
	}
	other, err := caseOf(b)
	return err == nil && sortedHash(one) == sortedHash(other)
}

// sortedHash is the hash of a value with the keys of objects in order.
func sortedHash(v any) [sha256.Size]byte { return sha256.Sum256(value.AppendJSON(nil, sorted(v))) }

func sorted(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = sorted(e)
		}
		return out
	case *value.Object:
		keys := slices.SortedFunc(slices.Values(v.Keys()), cmp.Compare[string])
		out := value.NewObject(len(keys))
		for _, key := range keys {
			out.Set(key, sorted(v.At(key)))
		}
		return out
	}
	return v
}
