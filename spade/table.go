package spade

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// maxMistakes bounds how many mistakes of one file are kept.
const maxMistakes = 100

// table reads a CSV file and collects its mistakes.
type table struct {
	file     string
	mistakes proviso.Mistakes
}

func (t *table) mistake(line int, nearest, format string, args ...any) {
	if len(t.mistakes) == maxMistakes {
		return
	}
	t.mistakes = append(t.mistakes, proviso.Mistake{
		Place: proviso.Place{File: t.file, Line: line}, Code: proviso.Invalid, Message: fmt.Sprintf(format, args...), Nearest: nearest,
	})
}

// broken adds a mistake for an unreadable line.
func (t *table) broken(err error) {
	if len(t.mistakes) < maxMistakes {
		t.mistakes = append(t.mistakes, mistakeOfLine(t.file, err))
	}
}

// rows calls each for every record that has as many fields as the header; head is
// called once before.
func (t *table) rows(r io.Reader, head func(header []string) bool, each func(rec document.Record)) {
	t.rowsUntil(r, head, func(rec document.Record) bool { each(rec); return true })
}

// rowsUntil is rows, but stops when each returns false.
func (t *table) rowsUntil(r io.Reader, head func(header []string) bool, each func(rec document.Record) bool) {
	var header []string
	for rec, err := range document.ReadCSV(r, document.CSVOptions{NoHeader: true}) {
		var broken *document.LineError
		switch {
		case errors.As(err, &broken):
			t.mistakes = append(t.mistakes, proviso.Mistake{
				Place: proviso.Place{File: t.file, Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt}, Code: broken.Code, Message: broken.Message,
			})
			return
		case err != nil:
			t.mistake(rec.Line, "", "%v", err)
			return
		case header == nil:
			for i, name := range rec.Fields {
				rec.Fields[i] = strings.TrimSpace(name)
			}
			if header = rec.Fields; !head(header) {
				return
			}
		case len(rec.Fields) != len(header):
			t.mistake(rec.Line, "", "the row has %d fields, the header %d", len(rec.Fields), len(header))
		case !each(rec):
			return
		}
	}
	if header == nil && len(t.mistakes) == 0 {
		t.mistake(0, "", "the file is empty; a header is expected")
	}
}

func mistakeOfLine(file string, err error) proviso.Mistake {
	var broken *document.LineError
	if errors.As(err, &broken) {
		return proviso.Mistake{
			Place: proviso.Place{File: file, Line: broken.Line, Column: broken.Column, Excerpt: broken.Excerpt}, Code: broken.Code, Message: broken.Message,
		}
	}
	return proviso.Mistake{Place: proviso.Place{File: file}, Code: proviso.Invalid, Message: err.Error()}
}
