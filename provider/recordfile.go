package provider

import (
	"bytes"
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// readLines reads one record a line: an object with an output, or the output
// itself.
func readLines(file string, data []byte) ([]*proviso.Object, error) {
	var records []*proviso.Object
	for line, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			return nil, fmt.Errorf("%s %w", file, err)
		}
		records = append(records, recordOf(line.Value))
	}
	return records, nil
}

// readTable reads a CSV file with a column named output. Columns that hold
// numbers, lists or objects of a response are read as JSON.
func readTable(data []byte) ([]*proviso.Object, error) {
	var records []*proviso.Object
	for row, err := range document.ReadCSV(bytes.NewReader(data), document.CSVOptions{}) {
		if err != nil {
			return nil, err
		}
		rec := proviso.NewObject(len(row.Header))
		for i, name := range row.Header {
			if i < len(row.Fields) && (row.Fields[i] != "" || name == "output") {
				rec.Set(name, cell(name, row.Fields[i]))
			}
		}
		if !rec.Has("output") {
			return nil, proviso.Errorf(proviso.Invalid, "line %d: expected a column named output", row.Line)
		}
		records = append(records, rec)
	}
	return records, nil
}

func cell(column, text string) any {
	switch column {
	case "output", "error", "finishReason", byID, byDescription, byPrompt:
		return text
	}
	if v, err := proviso.ParseJSON(text); err == nil {
		return v
	}
	return text
}
