package align

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/value"
)

// csv reads labels as CSV with a header.
func (in *labelReader) csv(text string) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = delimiterOf(text), -1
	at := func(field int) position {
		line, column := r.FieldPos(field)
		return in.column(line, column)
	}
	var columns []int // column of each field, -1 if the field is ignored
	for {
		record, err := r.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.As(err, &wrong):
			in.mistake(in.column(wrong.Line, wrong.Column), "%v", wrong.Err)
			continue
		case err != nil:
			in.mistake(position{}, "%v", err)
			return
		}
		if columns == nil {
			header := make([]position, len(record))
			for i := range record {
				header[i] = at(i)
			}
			if columns = in.header(record, header); columns == nil {
				return
			}
			continue
		}
		f := &fields{}
		for c := range f.at {
			f.at[c] = position{line: at(0).line}
		}
		for i, field := range record {
			if i >= len(columns) {
				in.mistake(at(i), "the row has %d fields, the header %d; put fields with the delimiter in quotes", len(record), len(columns))
				break
			}
			if c := columns[i]; c >= 0 {
				f.text[c], f.at[c] = field, at(i)
			}
		}
		in.row(f)
	}
}

// column converts a column in bytes to a column in characters; both start at 1.
func (in *labelReader) column(line, bytes int) position {
	if line < 1 || line > len(in.labels.lines) || bytes < 1 {
		return position{line: line}
	}
	text := in.labels.lines[line-1]
	return position{line, 1 + utf8.RuneCountInString(text[:min(bytes-1, len(text))])}
}

// header returns the column of each field. If the header is invalid, it records the
// mistakes and returns nil.
func (in *labelReader) header(names []string, at []position) []int {
	columns := make([]int, len(names))
	var has [len(labelColumns)]bool
	for i, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		columns[i] = slices.Index(labelColumns[:], name)
		if c := columns[i]; c >= 0 {
			if has[c] {
				in.mistake(at[i], "a second column %q", name)
			}
			has[c] = true
		}
	}
	for i, name := range names {
		if columns[i] < 0 {
			in.slip(strings.TrimSpace(name), at[i], func(c int) bool { return has[c] })
		}
	}
	if len(in.mistakes) > 0 {
		return nil
	}
	for _, c := range requiredColumns {
		if !has[c] {
			in.mistake(at[0], "no column %q; the first line names the columns: case, assertion, human and, if wanted, judge", labelColumns[c])
		}
	}
	if len(in.mistakes) > 0 {
		return nil
	}
	return columns
}

// slip records an unknown column name that resembles a missing one. Other unknown names
// are ignored: a spreadsheet may have any further columns.
func (in *labelReader) slip(name string, at position, has func(column int) bool) {
	var missing []string
	for c, known := range labelColumns {
		if !has(c) && c != colNote {
			missing = append(missing, known)
		}
	}
	if near := document.Nearest(name, missing); near != "" {
		in.near(at, near, "unknown column %q", clipped(name))
	}
}

// delimiterOf returns the delimiter that splits the first line into the most known
// columns.
func delimiterOf(text string) rune {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	best, most := ',', 0
	for _, d := range [...]rune{',', ';', '\t'} {
		n := 0
		for name := range strings.SplitSeq(line, string(d)) {
			if slices.Contains(labelColumns[:], strings.ToLower(strings.Trim(name, " \"\r"))) {
				n++
			}
		}
		if n > most {
			best, most = d, n
		}
	}
	return best
}

// jsonLines reads labels as one JSON object per line.
func (in *labelReader) jsonLines(text string) {
	for line, err := range document.Lines(strings.NewReader(text)) {
		if err != nil {
			in.broken(err)
			continue
		}
		o, ok := line.Value.(*value.Object)
		if !ok {
			in.mistake(position{line.Number, 1}, "expected an object with case, assertion and human")
			continue
		}
		switch {
		case label.IsLine(o):
			in.add(line, o)
		case isOutputLabel(o):
			in.labels.Outputs++
		default:
			in.object(line, o)
		}
	}
}

func (in *labelReader) object(line document.Line, o *value.Object) {
	f := &fields{}
	for c := range f.at {
		f.at[c] = position{line: line.Number, column: 1}
	}
	place := func(key string, ofKey bool) position {
		p := document.JSONPlace(in.labels.File, line, document.Join("", key), ofKey)
		return position{p.Line, p.Column}
	}
	has := func(c int) bool { return o.Has(labelColumns[c]) }
	before := len(in.mistakes)
	for key, v := range o.All() {
		c := slices.Index(labelColumns[:], key)
		if c < 0 {
			in.slip(key, place(key, true), has)
			continue
		}
		f.at[c] = place(key, false)
		switch v := v.(type) {
		case nil:
		case string:
			f.text[c] = v
		case bool, float64:
			f.text[c] = value.ToString(v)
		default:
			in.mistake(f.at[c], "%s: expected a text", key)
		}
	}
	if len(in.mistakes) > before {
		return
	}
	for _, c := range requiredColumns {
		if !has(c) {
			in.mistake(position{line.Number, 1}, "no %q in this label", labelColumns[c])
		}
	}
	if len(in.mistakes) == before {
		in.row(f)
	}
}
