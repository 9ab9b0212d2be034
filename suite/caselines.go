package suite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// caseFile is a file with cases. Its pointers are /N, the position in the list, or
// the line counted from 0 in a streamed file.
type caseFile struct {
	files     *Files
	convert   func(at string, v any) written // makes a case from a value in the file
	name      string
	at        string // pointer of the file's root
	rowTitles bool   // a case without a description is named Row #N
	csv       document.CSVOptions
}

func (f *caseFile) title(row int) string {
	if !f.rowTitles {
		return ""
	}
	return "Row #" + strconv.Itoa(row)
}

// jsonLines streams a file with one case per line.
func (f *caseFile) jsonLines(_ *pass, visit func(written) bool) bool {
	file, err := f.files.Open(f.name)
	if err != nil {
		return visit(written{at: f.at, err: errorAt(f.at, err)})
	}
	defer file.Close()
	row := 0
	for line, err := range document.Lines(file) {
		row++
		at := document.Join(f.at, line.Number-1)
		var w written
		if err != nil {
			w = written{at: at, err: errorAt(at, err)}
		} else {
			w = f.convert(at, line.Value)
			w.title, w.line = f.title(row), line.Text
		}
		if !visit(w) {
			return false
		}
	}
	return row > 0 || f.empty(visit)
}

func (f *caseFile) empty(visit func(written) bool) bool {
	return f.wrong(visit, "the file holds no cases")
}

// wrong yields a mistake in the file as a whole.
func (f *caseFile) wrong(visit func(written) bool, format string, args ...any) bool {
	return visit(written{at: f.at, err: proviso.ErrorAt(f.at, proviso.Invalid, format, args...)})
}

// csvCases streams a CSV file with one case per record.
func (f *caseFile) csvCases(p *pass, visit func(written) bool) bool {
	file, err := f.files.Open(f.name)
	if err != nil {
		return visit(written{at: f.at, err: errorAt(f.at, err)})
	}
	defer file.Close()
	rows, at := 0, ""
	var header []string
	var known *expectations
	known = &expectations{cells: Cells(p.source.facts.Types), last: map[string]expectation{}, warned: map[string]bool{}, warn: func(odd suspicion) {
		p.Report(&proviso.Error{Code: proviso.Invalid, Pointer: known.at(at, header), Message: odd.message, Valid: odd.meant, Warning: true})
	}}
	for rec, err := range document.ReadCSV(file, f.csv) {
		at = document.Join(f.at, max(rec.Line, 1)-1)
		if err != nil {
			var line *document.LineError
			if errors.As(err, &line) {
				at = document.Join(f.at, max(line.Line, 1)-1)
			}
			return visit(written{at: at, err: errorAt(at, err)})
		}
		if header = rec.Header; rows == 0 {
			f.checkHeader(p, rec.Header)
		}
		rows++
		w := f.record(at, rec, known)
		w.title = f.title(rows)
		if !visit(w) {
			return false
		}
	}
	return rows > 0 || f.empty(visit)
}

// at returns the pointer of the cell that is being read, in the record with the
// given pointer.
func (e *expectations) at(record string, header []string) string {
	if i := slices.Index(header, e.column); i >= 0 {
		return document.Join(record, i)
	}
	return record
}

func (f *caseFile) record(at string, rec document.Record, known *expectations) written {
	w := written{at: at}
	if len(rec.Fields) != len(rec.Header) {
		w.err = &proviso.Error{Code: proviso.Invalid, Pointer: at, Message: fmt.Sprintf(
			"the record has %d fields and the header %d; a comma in a text needs quotes around it", len(rec.Fields), len(rec.Header))}
		return w
	}
	row := known.row // the records of a file have the same columns
	if row == nil {
		row = value.NewObject(len(rec.Fields))
		known.row = row
	}
	for i, field := range rec.Fields {
		if rec.Header[i] != "" {
			row.Set(rec.Header[i], field)
		}
	}
	o, err := known.caseFromRow(row)
	if err != nil {
		w.err = errorAt(known.at(at, rec.Header), err)
		return w
	}
	w.object = o
	return w
}

// checkHeader warns of suspicious column names.
func (f *caseFile) checkHeader(p *pass, header []string) {
	at := document.Join(f.at, 0)
	seen, warned := make(map[string]bool, len(header)), 0
	if other := document.OtherDelimiter(header); other != "" {
		p.Warn(at, "the header is one column; if %q separates the fields, set PROMPTFOO_CSV_DELIMITER to it", other)
		return
	}
	for _, column := range header {
		if column != "" && seen[column] {
			warned++
			p.Warn(at, "the column %q occurs twice; the last one counts", column)
		}
		seen[column] = true
		if message, valid := columnWarning(column); message != "" {
			e := &proviso.Error{Code: proviso.Invalid, Pointer: at, Message: message, Warning: true}
			if warned < maxMistakes { // count the rest only
				if near := document.Nearest(column, valid); near != "" {
					e.Valid = []string{near}
				}
			}
			warned++
			p.Report(e)
		}
	}
}

// wholeFile reads a YAML or JSON file with a list of cases.
func (f *caseFile) wholeFile(p *pass, visit func(written) bool) bool {
	d, err := p.source.loadFrom(f.files, f.name)
	if err != nil {
		return visit(written{at: f.at, err: errorAt(f.at, err)})
	}
	list, ok := d.Root.([]any)
	if o, isObject := d.Root.(*value.Object); isObject {
		if !looksLikeCase(o) && o.Has("tests") {
			return f.wrong(visit, "expected a list of cases, got a mapping with tests; put the list itself into the file")
		}
		w := f.convert(f.at, o)
		w.title = f.title(1)
		return visit(w)
	}
	if !ok && d.Root != nil {
		return f.wrong(visit, "expected a list of cases, got %s", kind.Shown(d.Root))
	}
	for i, v := range list {
		w := f.convert(document.Join(f.at, i), v)
		w.title = f.title(i + 1)
		if !visit(w) {
			return false
		}
	}
	return len(list) > 0 || f.empty(visit)
}
