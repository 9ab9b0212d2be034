// Package format reads and writes the common formats of the files of spade's steps: CSV with
// the place of each mistake, JSON, YAML for people to edit, and shortened texts.
package format

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Table reads a CSV file and collects its mistakes.
type Table struct {
	File     string
	Mistakes proviso.Mistakes
}

// Mistake adds a mistake in a line.
func (t *Table) Mistake(line int, nearest, format string, args ...any) {
	t.Mistakes.Add(proviso.Mistake{
		Place: proviso.Place{File: t.File, Line: line}, Code: proviso.Invalid, Message: fmt.Sprintf(format, args...), Nearest: nearest,
	})
}

// MistakeAt adds a mistake at a value in a line of JSON, or at its key, with the column.
func (t *Table) MistakeAt(line document.Line, pointer string, key bool, nearest, format string, args ...any) {
	t.MistakeHere(PlaceIn(t.File, line, pointer, key), nearest, format, args...)
}

// MistakeHere adds a mistake at a place.
func (t *Table) MistakeHere(place proviso.Place, nearest, format string, args ...any) {
	t.Mistakes.Add(proviso.Mistake{Place: place, Code: proviso.Invalid, Message: fmt.Sprintf(format, args...), Nearest: nearest})
}

// PlaceIn returns the place of a value in a line of JSON, or of its key.
func PlaceIn(file string, line document.Line, pointer string, key bool) proviso.Place {
	place := proviso.Place{File: file, Line: line.Number}
	if doc, err := document.ParseJSON(file, []byte(line.Text)); err == nil {
		at := doc.Place(pointer)
		if key {
			at = doc.KeyPlace(pointer)
		}
		place.Column, place.Excerpt = at.Column, at.Excerpt
	}
	return place
}

// MistakeInField adds a mistake in a field of a CSV record. The column comes from lines, the
// lines of the file; a field after a line break has none.
func (t *Table) MistakeInField(rec document.Record, field int, lines [][]byte, nearest, format string, args ...any) {
	place := proviso.Place{File: t.File, Line: rec.Line}
	if rec.Line >= 1 && rec.Line <= len(lines) {
		text := strings.TrimPrefix(string(bytes.TrimRight(lines[rec.Line-1], "\r")), "\ufeff")
		place.Column, place.Excerpt = columnOf(text, field), document.Excerpt(text)
	}
	t.MistakeHere(place, nearest, format, args...)
}

// columnOf returns the column of a field in a CSV line, from 1, in characters; 0 if the line
// does not have the field.
func columnOf(line string, field int) int {
	quoted, column, fresh := false, 1, true
	for _, r := range line {
		if field == 0 {
			return column
		}
		switch {
		case r == '"' && (quoted || fresh):
			quoted, fresh = !quoted, false
		case r == ',' && !quoted:
			field--
			fresh = true
		default:
			fresh = false
		}
		column++
	}
	if field == 0 {
		return column
	}
	return 0
}

// Slip returns a key of an object that is probably a typo of a valid key that the object
// lacks, and that valid key; "" if there is none.
func Slip(o *value.Object, valid []string) (key, meant string) {
	for name := range o.All() {
		if slices.Contains(valid, name) || len(name) < 3 {
			continue
		}
		if near := document.Nearest(name, valid); near != "" && !o.Has(near) {
			return name, near
		}
	}
	return "", ""
}

// Broken adds a mistake for an unreadable line.
func (t *Table) Broken(err error) {
	t.Mistakes.Add(document.MistakeOf(t.File, err))
}

// Rows calls each for every record that has as many fields as the header. Before that, it
// calls head once.
func (t *Table) Rows(r io.Reader, head func(header []string) bool, each func(rec document.Record)) {
	t.RowsUntil(r, head, func(rec document.Record) bool { each(rec); return true })
}

// RowsUntil is like [Table.Rows], but stops when each returns false.
func (t *Table) RowsUntil(r io.Reader, head func(header []string) bool, each func(rec document.Record) bool) {
	var header []string
	for rec, err := range document.ReadCSV(r, document.CSVOptions{NoHeader: true}) {
		switch {
		case err != nil:
			m := document.MistakeOf(t.File, err)
			m.Place.Line = cmp.Or(m.Place.Line, rec.Line)
			t.Mistakes.Add(m)
			return
		case header == nil:
			for i, name := range rec.Fields {
				rec.Fields[i] = strings.TrimSpace(name)
			}
			if other := document.OtherDelimiter(rec.Fields); other != "" {
				t.Mistake(rec.Line, "", "the header is one column; if %q separates the fields, replace it by a comma", other)
				return
			}
			if header = rec.Fields; !head(header) {
				return
			}
		case len(rec.Fields) != len(header):
			t.Mistake(rec.Line, "", "the row has %d fields, the header %d", len(rec.Fields), len(header))
		case !each(rec):
			return
		}
	}
	if header == nil && len(t.Mistakes) == 0 {
		t.Mistake(0, "", "the file is empty; a header is expected")
	}
}
