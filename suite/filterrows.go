package suite

import (
	"crypto/sha256"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// RowKind selects rows of a report.
type RowKind uint8

// The kinds of rows.
const (
	NotPassed RowKind = iota // failures and errors (--filter-failing)
	Failures                 // only failures (--filter-failing-only)
	Errors                   // only errors (--filter-errors-only)
)

// rowError is the failureReason of a row that is undecided.
const rowError = 2

// RowSet holds the variables of rows of an earlier report, as hashes.
type RowSet struct {
	vars map[[sha256.Size]byte]struct{}
}

// ReadRows reads the rows of one kind from a JSON or JSON Lines report. The
// error is a *[proviso.Error] that names the file.
func ReadRows(file string, r io.Reader, kind RowKind) (*RowSet, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	switch {
	case err != nil:
		return nil, proviso.Errorf(proviso.Invalid, "reading the report %s: %w", file, err)
	case len(data) > maxReport:
		return nil, proviso.Errorf(proviso.Limit, "the report %s is larger than %d MiB", file, maxReport>>20)
	}
	rows, err := reportRows(string(data))
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "reading the report %s: %w", file, err)
	}
	s := &RowSet{vars: map[[sha256.Size]byte]struct{}{}}
	ids := identities{}
	for _, row := range rows {
		o, _ := row.(*value.Object)
		if !kind.counts(o) {
			continue
		}
		s.add(&ids, o.At("vars"))
		if c, ok := o.At("testCase").(*value.Object); ok {
			s.add(&ids, c.At("vars"))
		}
	}
	return s, nil
}

// maxReport is the maximum size of a report for a filter, in bytes.
const maxReport = 1 << 30

func (s *RowSet) add(ids *identities, vars any) {
	if o, ok := vars.(*value.Object); ok {
		s.vars[ids.content(nil, o)] = struct{}{}
	}
}

// reportRows returns the rows of a report: {results: {results: []}}, {results: []}, a
// list, or one row per line.
func reportRows(text string) ([]any, error) {
	v, n, err := value.ParseJSONPrefix(text)
	if err != nil {
		return nil, err
	}
	if value.TrimSpace(text[n:]) != "" {
		var rows []any
		for line, err := range document.Lines(strings.NewReader(text)) {
			if err != nil {
				return nil, err
			}
			rows = append(rows, line.Value)
		}
		return rows, nil
	}
	for range 3 {
		switch t := v.(type) {
		case []any:
			return t, nil
		case *value.Object:
			if !t.Has("results") {
				return []any{t}, nil
			}
			v = t.At("results")
		}
	}
	return nil, proviso.Errorf(proviso.Invalid, "no results in it")
}

func (k RowKind) counts(row *value.Object) bool {
	if row == nil || row.At("success") != false {
		return false
	}
	undecided := row.At("failureReason") == float64(rowError)
	switch k {
	case Failures:
		return !undecided
	case Errors:
		return undecided
	default:
		return true
	}
}

// keepRows reports whether any combination of a case's variables is in the rows of
// the earlier report.
func (p *pass) keepRows(l *layer) bool {
	f := &p.source.filter
	if f.rows == nil {
		return true
	}
	axes, ok := p.axes(l)
	if !ok {
		return false
	}
	return !combine(l.vars, axes, func(vars *value.Object) bool { return !f.keepRow(vars) })
}

// keepRow reports whether one combination is among them.
func (f *filter) keepRow(vars *value.Object) bool {
	if f.rows == nil {
		return true
	}
	if vars == nil {
		vars = &value.Object{}
	}
	ids := identities{}
	_, ok := f.rows.vars[ids.content(nil, vars)]
	return ok
}
