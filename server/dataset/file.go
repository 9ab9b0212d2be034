package dataset

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/convert"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Convert sends a dataset in pieces: as CSV if there are columns, otherwise as YAML. It takes
// turns with other requests.
func Convert(ctx context.Context, content []byte, columns []string, send func([]byte) error) error {
	if columns != nil {
		head := make([]string, len(columns))
		for i, column := range columns {
			head[i] = report.Neutral(column)
		}
		if err := send(csvRecord(head)); err != nil {
			return err
		}
	}
	for rest := content; len(rest) > 0; {
		var part []byte
		_, done, err := turns.Enter(ctx)
		if err == nil {
			part, rest, err = filePart(rest, columns)
			done()
		}
		if err == nil {
			err = send(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filePart converts the next lines of a dataset: to CSV if there are columns, otherwise to
// YAML.
func filePart(content []byte, columns []string) (part, rest []byte, err error) {
	rest = content
	for len(rest) > 0 && len(part) < 64<<10 {
		var line []byte
		line, rest = cut(rest)
		one, err := Case(line)
		if err != nil {
			return nil, nil, err
		}
		if columns != nil {
			cells, _ := cellsOfCase(one)
			row := make([]string, len(columns))
			for i, column := range columns {
				row[i] = report.Neutral(cells.Text(column))
			}
			part = append(part, csvRecord(row)...)
			continue
		}
		text, err := convert.YAML([]any{one})
		if err != nil {
			return nil, nil, err
		}
		part = append(part, text...)
	}
	return part, rest, nil
}

// csvRecord returns a line of a CSV file.
func csvRecord(fields []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(fields) // writing to a buffer cannot fail
	w.Flush()
	return b.Bytes()
}

// Columns returns the CSV columns of a dataset: the variables in the order of their first case,
// then the settings. It takes turns with other requests.
func Columns(ctx context.Context, content []byte) ([]string, error) {
	columns := csvHead{known: map[string]bool{}}
	for rest := content; len(rest) > 0; {
		_, done, err := turns.Enter(ctx)
		if err != nil {
			return nil, err
		}
		rest, err = columns.add(rest)
		done()
		if err != nil {
			return nil, err
		}
	}
	return append(columns.variables, columns.settings...), nil
}

// csvHead collects the columns of a dataset.
type csvHead struct {
	variables, settings []string
	known               map[string]bool
}

// add adds the columns of the next lines.
func (h *csvHead) add(content []byte) (rest []byte, err error) {
	for rest = content; len(rest) > 0 && len(content)-len(rest) < 64<<10; {
		var line []byte
		line, rest = cut(rest)
		one, err := Case(line)
		if err != nil {
			return nil, err
		}
		cells, why := cellsOfCase(one)
		if why != "" {
			return nil, proviso.Errorf(proviso.Unsupported, "CSV cannot hold the case %q: %s; format=jsonl and format=yaml hold all cases", excerpt.Bytes(one.Text("id"), 80), why)
		}
		for name := range cells.All() {
			if h.known[name] {
				continue
			}
			h.known[name] = true
			if strings.HasPrefix(name, "__") {
				h.settings = append(h.settings, name)
			} else {
				h.variables = append(h.variables, name)
			}
		}
		if len(h.known) > maxColumns {
			return nil, proviso.Errorf(proviso.Limit, "the dataset has more than %d variables and settings: too many columns for CSV", maxColumns)
		}
	}
	return rest, nil
}

const maxColumns = 1000

// cellsOfCase returns the cells of a case by column, or why CSV cannot hold the case. The id of
// a case has no column.
func cellsOfCase(one *value.Object) (cells *value.Object, why string) {
	cells = value.NewObject(4)
	for name, v := range one.Object("vars").All() {
		text, ok := v.(string)
		if !ok || len(name) > 1 && name[:2] == "__" {
			return nil, "the variable " + strconv.Quote(excerpt.Bytes(name, 80)) + " is not a text, or its name begins with two underscores"
		}
		cells.Set(name, text)
	}
	if text := one.Text("description"); text != "" {
		cells.Set("__description", text)
	}
	list, _ := one.At("assert").([]any)
	for i, a := range list {
		cell, ok := expectedCell(a)
		if !ok {
			return nil, "its assertion " + strconv.Itoa(i+1) + " has more than a type, a value and a threshold"
		}
		column := "__expected"
		if i > 0 {
			column += strconv.Itoa(i + 1)
		}
		cells.Set(column, cell)
	}
	if threshold, ok := one.At("threshold").(float64); ok {
		cells.Set("__threshold", value.FormatNumber(threshold))
	}
	for name, v := range one.Object("metadata").All() {
		text, ok := v.(string)
		if !ok || text == "" {
			return nil, "the metadata " + strconv.Quote(excerpt.Bytes(name, 80)) + " is not a text"
		}
		cells.Set("__metadata:"+name, text)
	}
	return cells, ""
}

// expectedCell returns the cell that is parsed as this assertion.
func expectedCell(a any) (string, bool) {
	o, ok := a.(*value.Object)
	if !ok {
		return "", false
	}
	cells := suite.Cells(engine.Facts().Types)
	text := value.ToString(o.At("value"))
	if o.At("value") == nil {
		text = ""
	}
	kind := o.Text("type")
	candidates := []string{kind + ": " + text, kind, text, kind + ":" + text}
	if threshold, ok := o.At("threshold").(float64); ok {
		candidates = []string{kind + "(" + value.FormatNumber(threshold) + "): " + text}
	}
	for _, cell := range candidates {
		if cell != "" && same(value.Sorted(cells.ParseExpected(cell)), value.Sorted(o)) {
			return cell, true
		}
	}
	return "", false
}

// cut splits the first line off a dataset.
func cut(content []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(content, []byte{'\n'})
	return line, rest
}
