package server

import (
	"bytes"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/runfile"
)

// runLines checks the lines of a run file by their form, as they arrive. It keeps the
// first and the last one.
type runLines struct {
	longest int64  // bytes of a row
	n       int    // lines so far
	line    []byte // the current one
	header  []byte
	trailer []byte
	rows    int
}

// add takes the next bytes.
func (l *runLines) add(data []byte) error {
	for len(data) > 0 {
		part, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		l.line = append(l.line, part...)
		if err := l.fits(); err != nil {
			return err
		}
		if !ended {
			return nil
		}
		l.n++
		if err := l.check(); err != nil {
			return err
		}
		l.line = l.line[:0]
	}
	return nil
}

// fits bounds the current line.
func (l *runLines) fits() error {
	most, what, flag := l.longest, "row", "; --body-limit sets the limit"
	if _, row := runfile.RowIndex(l.line); !row {
		most, what, flag = maxPushedHead, "header or trailer", ""
	}
	if int64(len(l.line)) > most {
		return proviso.Errorf(proviso.Limit, "line %d: the %s has more than %d bytes%s", l.n+1, what, most, flag)
	}
	return nil
}

// check tells what the current line is.
func (l *runLines) check() error {
	if !utf8.Valid(l.line) {
		return proviso.Errorf(proviso.Invalid, "line %d is not UTF-8: %s", l.n, firstInvalid(l.line))
	}
	if l.n == 1 {
		if _, err := runfile.ParseHeader(l.line); err != nil {
			return proviso.Errorf(proviso.Invalid, "line 1: %w", err)
		}
		l.header = bytes.Clone(l.line)
		return nil
	}
	if l.trailer != nil {
		return proviso.Errorf(proviso.Invalid, "line %d: nothing may follow the totals of the run", l.n)
	}
	if _, ok := runfile.ParseTrailer(l.line); ok {
		l.trailer = bytes.Clone(l.line)
		return nil
	}
	if _, ok := runfile.RowIndex(l.line); !ok || l.line[len(l.line)-1] != '}' {
		return proviso.Errorf(proviso.Invalid, "line %d is not a row of a run: %q", l.n, excerpt.Bytes(string(l.line), 60))
	}
	if l.rows++; l.rows > maxPushedRows {
		return proviso.Errorf(proviso.Limit, "line %d: the run has more than %d rows", l.n, maxPushedRows)
	}
	return nil
}

// end reports what is missing at the end.
func (l *runLines) end() error {
	switch {
	case len(l.line) > 0:
		return proviso.Errorf(proviso.Invalid, "line %d is cut off: it has no line break", l.n+1)
	case l.n == 0:
		return problem(codeMalformed, "the body is empty; the file of a run is expected")
	case l.trailer == nil:
		return proviso.Errorf(proviso.Invalid, "the run is unfinished, or was cut off: its last line (%d) is not its totals", l.n)
	}
	return nil
}
