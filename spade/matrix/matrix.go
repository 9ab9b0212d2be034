package matrix

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/trial"
)

// Cell is the result of one candidate on one example.
type Cell uint8

// The cells.
const (
	Failed Cell = iota
	Passed
	Undecided // it could not be decided
)

// Example is an output with a human label.
type Example struct {
	ID   string
	Good bool
}

// Matrix holds the result of each candidate on each example.
type Matrix struct {
	Names     []string // names of the candidates, in file order
	Examples  []Example
	Cells     [][]Cell // by candidate, then by example
	Unlabeled int      // rows that were left out because they have no label
	Rest      [][]Cell // cells of the rows without a label, by candidate; nil if there are none
}

// Count returns the numbers of good and bad examples.
func (m *Matrix) Count() (good, bad int) {
	for _, e := range m.Examples {
		if e.Good {
			good++
		}
	}
	return good, len(m.Examples) - good
}

// cells are the accepted spellings of a cell.
var cells = map[string]Cell{"1": Passed, "0": Failed, "": Undecided, "pass": Passed, "fail": Failed, "true": Passed, "false": Failed, thrownCell: Failed}

// thrownCell is the cell of a candidate that threw, in a matrix that distinguishes this from a
// fail.
const thrownCell = "error"

// Only returns the matrix of the wanted candidates.
func (m *Matrix) Only(wanted func(name string) bool) *Matrix {
	out := &Matrix{Examples: m.Examples, Unlabeled: m.Unlabeled}
	for j, name := range m.Names {
		if !wanted(name) {
			continue
		}
		out.Names, out.Cells = append(out.Names, name), append(out.Cells, m.Cells[j])
		if m.Rest != nil {
			out.Rest = append(out.Rest, m.Rest[j])
		}
	}
	return out
}

// Matrix returns the results by candidate; those of outputs without a label are in Rest.
func (g *Grid) Matrix() *Matrix {
	m := &Matrix{Names: g.Names, Cells: make([][]Cell, len(g.Names))}
	for i, e := range g.Entries {
		to := m.Cells
		if e.Label == "" {
			m.Unlabeled++
			if m.Rest == nil {
				m.Rest = make([][]Cell, len(g.Names))
			}
			to = m.Rest
		} else {
			m.Examples = append(m.Examples, Example{ID: e.ID, Good: e.Label == "1"})
		}
		for j, cell := range g.Cells[i] {
			to[j] = append(to[j], cell)
		}
	}
	return m
}

// Read reads a matrix from CSV: a header id,label and the names of the candidates, then a row
// per example. A label is 1, good, pass or true, or 0, bad, fail or false; rows without a
// label are left out and counted. A cell is 1 or 0 or one of these words, error for a
// candidate that threw, or empty if undecided. Read reports all mistakes with their lines; if
// there are any, the matrix is nil.
func Read(file string, r io.Reader) (*Matrix, proviso.Mistakes) {
	g, mistakes := ReadGrid(file, r)
	if g == nil {
		return nil, mistakes
	}
	return g.Matrix(), mistakes
}

// ReadGrid reads the same file as [Read] but keeps the rows without a label.
func ReadGrid(file string, r io.Reader) (*Grid, proviso.Mistakes) {
	s := &gridReader{Table: format.Table{File: file}, lines: map[string]int{}}
	s.Rows(r, s.header, s.row)
	if s.Mistakes.Err() != nil {
		return nil, s.Mistakes
	}
	return &s.grid, s.Mistakes
}

type gridReader struct {
	format.Table
	grid  Grid
	lines map[string]int // line by id
}

func (s *gridReader) header(header []string) bool {
	if len(header) < 2 || !strings.EqualFold(header[0], "id") || !strings.EqualFold(header[1], "label") {
		s.Mistake(1, "", "the header must begin with id,label and continue with the names of the candidates")
		return false
	}
	seen := map[string]bool{}
	for i, name := range header[2:] {
		switch {
		case name == "":
			s.Mistake(1, "", "column %d has no name", i+3)
		case seen[name]:
			s.Mistake(1, "", "two candidates are called %q", name)
		}
		seen[name] = true
	}
	s.grid.Names, s.grid.Columns = slices.Clone(header[2:]), make([]Column, len(header)-2)
	return true
}

func (s *gridReader) row(rec document.Record) {
	e := trial.Entry{ID: strings.Clone(rec.Fields[0])}
	if first, ok := s.lines[e.ID]; ok && e.ID != "" {
		s.Mistake(rec.Line, "", "the id %q is already on line %d", e.ID, first)
	}
	s.lines[e.ID] = rec.Line
	if text := strings.TrimSpace(rec.Fields[1]); text != "" {
		var err error
		if e.Label, err = trial.ParseLabel(text); err != nil {
			s.Mistake(rec.Line, document.Nearest(strings.ToLower(text), []string{"good", "bad"}), "%v", err)
		}
	}
	row := make([]Cell, len(s.grid.Names))
	for j, field := range rec.Fields[2:] {
		text := strings.ToLower(strings.TrimSpace(field))
		var ok bool
		if row[j], ok = cells[text]; !ok {
			s.Mistake(rec.Line, "", "%s is %q; 1, 0 or nothing is expected", s.grid.Names[j], field)
		}
		if text == thrownCell {
			s.grid.Columns[j].Threw++
		}
	}
	s.grid.Entries, s.grid.Cells = append(s.grid.Entries, e), append(s.grid.Cells, row)
}

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

// ByID maps ids to the rows of a grid.
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
