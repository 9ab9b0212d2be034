package matrix

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
)

// Kept returns how many cells were taken from earlier runs.
func (g *Grid) Kept() int {
	n := 0
	for i := range g.Columns {
		n += g.Columns[i].Kept
	}
	return n
}

// NeverDecided reports whether a candidate is undecided on all outputs.
func (g *Grid) NeverDecided() bool {
	return slices.ContainsFunc(g.Rates(), func(r Rate) bool { return r.Undecided == len(g.Entries) && r.Undecided > 0 })
}

// Rates counts the cells of each candidate.
func (g *Grid) Rates() []Rate {
	rates := make([]Rate, len(g.Names))
	for _, row := range g.Cells {
		for j, cell := range row {
			switch cell {
			case Passed:
				rates[j].Passed++
			case Failed:
				rates[j].Failed++
			default:
				rates[j].Undecided++
			}
		}
	}
	for j := range rates {
		rates[j].Threw = g.Columns[j].Threw
	}
	return rates
}

// ByID finds the rows of a grid.
func (g *Grid) ByID() map[string]int {
	at := make(map[string]int, len(g.Entries))
	for i, e := range g.Entries {
		at[e.ID] = i
	}
	return at
}

// CSV writes the grid: id, label and a column for each candidate, with 1 for pass, 0
// for fail and an empty cell for undecided.
func (g *Grid) CSV(w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	out := csv.NewWriter(b)
	record := append([]string{"id", "label"}, g.Names...)
	if err := out.Write(record); err != nil {
		return err
	}
	for i, e := range g.Entries {
		record = append(record[:0], e.ID, e.Label)
		for _, cell := range g.Cells[i] {
			record = append(record, [...]string{Failed: "0", Passed: "1", Undecided: ""}[cell])
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return b.Flush()
}
