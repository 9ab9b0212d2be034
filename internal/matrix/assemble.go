package matrix

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/proviso-eval/proviso"
)

// Size limits of a matrix.
const (
	maxCells    = 16 << 20
	maxVerdicts = 64 << 20 // verdict bytes of all assertions

	// A single row may claim a high column or many repeats. Beyond this number of cells, a
	// matrix has at most a fixed number of cells per row.
	maxClaimed = 1 << 20
	maxPerRow  = 256
)

// Matrix returns the verdicts of the rows so far. The caller sets Rows, the number of rows in
// the run, and Status. Matrix returns an error if the run has too many cells.
func (b *Builder) Matrix() (*Matrix, error) {
	most := min(maxCells, max(maxClaimed, maxPerRow*len(b.rows)))
	if n := len(b.cases) * b.repeats; n > 0 && (n > most || len(b.columns) > most/n) {
		return nil, proviso.Errorf(proviso.Limit, "%d cases, %d columns and %d repeats are more than the %d cells that can be shown at once",
			len(b.cases), len(b.columns), b.repeats, most)
	}
	m := &Matrix{Columns: append([]Column{}, b.columns...), Repeats: b.repeats, Finished: len(b.rows), Verdicts: map[string][]byte{},
		Assertions: []string{}, Types: []string{}, Cases: []string{}, Titles: []string{}}
	order := b.order(m)
	cells := len(b.cases) * len(b.columns) * b.repeats
	m.Cells, m.Index = make([]byte, cells), bytes.Repeat([]byte{0xff}, 4*cells)
	places := make([]uint32, len(b.rows)) // by row
	for i := range b.rows {
		r := &b.rows[i]
		at := (int(order[r.testCase])*len(b.columns)+int(r.column))*b.repeats + int(r.repeat)
		places[i] = uint32(at)
		m.Cells[at] = worse(m.Cells[at], r.status)
		if index := m.Index[4*at:]; r.index < binary.LittleEndian.Uint32(index) {
			binary.LittleEndian.PutUint32(index, r.index)
		}
	}
	b.verdicts(m, places)
	return m, nil
}

// order sets a matrix's cases, in suite order, and returns the position of each.
func (b *Builder) order(m *Matrix) []uint32 {
	sorted := make([]uint32, len(b.cases))
	titled := false
	for i := range sorted {
		sorted[i] = uint32(i)
		titled = titled || b.cases[i].title != ""
	}
	slices.SortStableFunc(sorted, func(x, y uint32) int { return cmp.Compare(b.cases[x].test, b.cases[y].test) })
	order := make([]uint32, len(sorted))
	for at, i := range sorted {
		order[i] = uint32(at)
		m.Cases = append(m.Cases, b.cases[i].id)
		if titled {
			m.Titles = append(m.Titles, b.cases[i].title)
		}
	}
	return order
}

// verdicts sets a matrix's assertions. If there are too many, it keeps those with the most
// verdicts.
func (b *Builder) verdicts(m *Matrix, places []uint32) {
	list := make([]*assertion, len(b.list))
	for i := range list {
		list[i] = &b.list[i]
	}
	inOrder := func(x, y *assertion) int { return cmp.Compare(x.first, y.first) }
	m.MoreAssertions = len(b.others)
	if most := maxVerdicts / max(1, len(m.Cells)); len(list) > most {
		slices.SortFunc(list, func(x, y *assertion) int { return cmp.Or(cmp.Compare(len(y.verdicts), len(x.verdicts)), inOrder(x, y)) })
		m.MoreAssertions += len(list) - most
		list = list[:most]
	}
	slices.SortFunc(list, inOrder)
	for _, a := range list {
		codes := make([]byte, len(m.Cells))
		for _, v := range a.verdicts {
			at := places[v>>3]
			codes[at] = worse(codes[at], byte(v&7))
		}
		m.Assertions, m.Types = append(m.Assertions, a.name), append(m.Types, a.kind)
		m.Verdicts[a.name] = codes
	}
}
