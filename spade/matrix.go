package spade

import (
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// Cell is what one candidate says of one example.
type Cell uint8

// The cells.
const (
	Failed    Cell = iota // the candidate fails it, or threw
	Passed                // it passes it
	Undecided             // it could not be decided
)

// Example is an output that people have looked at.
type Example struct {
	ID   string
	Good bool
}

// Matrix says what each candidate says of each example.
type Matrix struct {
	Names     []string // of the candidates, in the order of the file
	Examples  []Example
	Cells     [][]Cell // by candidate, then by example
	Unlabeled int      // rows that were left out because nobody labelled them
}

// Count returns how many examples are good and how many bad.
func (m *Matrix) Count() (good, bad int) {
	for _, e := range m.Examples {
		if e.Good {
			good++
		}
	}
	return good, len(m.Examples) - good
}

// labels are the ways to write a label, and cells those to write a cell.
var (
	labels = map[string]bool{"1": true, "0": false, "good": true, "bad": false, "pass": true, "fail": false, "true": true, "false": false}
	cells  = map[string]Cell{"1": Passed, "0": Failed, "": Undecided, "pass": Passed, "fail": Failed, "true": Passed, "false": Failed, "error": Failed}
)

// ReadMatrix reads a matrix from CSV: a header id,label and the names of the
// candidates, then a row per example. A label is 1, good, pass or true, or 0,
// bad, fail or false; a row without one is left out and counted. A cell is 1 or 0
// in the same words, error for a candidate that threw, or empty if it could not be
// decided. The mistakes are all that is wrong, with their lines; the matrix is nil
// if there are any.
func ReadMatrix(file string, r io.Reader) (*Matrix, proviso.Mistakes) {
	t := &table{file: file}
	m := &Matrix{}
	lines := map[string]int{}
	t.rows(r, func(header []string) bool { return m.header(t, header) }, func(rec document.Record) { m.row(t, rec, lines) })
	if t.mistakes.Err() != nil {
		return nil, t.mistakes
	}
	return m, t.mistakes
}

func (m *Matrix) header(t *table, header []string) bool {
	if len(header) < 2 || !strings.EqualFold(header[0], "id") || !strings.EqualFold(header[1], "label") {
		t.mistake(1, "", "the header must begin with id,label and go on with the names of the candidates")
		return false
	}
	seen := map[string]bool{}
	for i, name := range header[2:] {
		switch {
		case name == "":
			t.mistake(1, "", "column %d has no name", i+3)
		case seen[name]:
			t.mistake(1, "", "two candidates are called %q", name)
		}
		seen[name] = true
	}
	m.Names = slices.Clone(header[2:])
	m.Cells = make([][]Cell, len(m.Names))
	return true
}

func (m *Matrix) row(t *table, rec document.Record, lines map[string]int) {
	id, label := rec.Fields[0], strings.ToLower(strings.TrimSpace(rec.Fields[1]))
	if first, ok := lines[id]; ok && id != "" {
		t.mistake(rec.Line, "", "the id %q stands in line %d already", id, first)
	}
	lines[id] = rec.Line
	good, ok := labels[label]
	switch {
	case label == "":
		m.Unlabeled++
		return
	case !ok:
		t.mistake(rec.Line, document.Nearest(label, []string{"good", "bad"}), "the label is %q; 1 or good, 0 or bad is expected", rec.Fields[1])
	}
	m.Examples = append(m.Examples, Example{ID: id, Good: good})
	for j, text := range rec.Fields[2:] {
		cell, ok := cells[strings.ToLower(strings.TrimSpace(text))]
		if !ok {
			t.mistake(rec.Line, "", "%s is %q; 1, 0 or nothing is expected", m.Names[j], text)
		}
		m.Cells[j] = append(m.Cells[j], cell)
	}
}
