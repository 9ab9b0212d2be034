package provider

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// record is one recorded output and the positions of its fields.
type record struct {
	*value.Object
	place func(key string) proviso.Place
}

// readLines reads one record per line: an object with an output, or the output
// itself.
func readLines(file string, data []byte) ([]record, error) {
	var records []record
	for line, err := range document.Lines(bytes.NewReader(data)) {
		if err != nil {
			return nil, fmt.Errorf("%s %w", file, err)
		}
		records = append(records, record{recordOf(line.Value), func(key string) proviso.Place {
			return document.JSONPlace(file, line, "/"+key, false)
		}})
	}
	return records, nil
}

// readTable reads a CSV file with a column named output. Columns for numbers,
// lists or objects of a response are read as JSON.
func readTable(file string, data []byte) ([]record, error) {
	var records []record
	for row, err := range document.ReadCSV(bytes.NewReader(data), document.CSVOptions{}) {
		if err != nil {
			return nil, err
		}
		rec := value.NewObject(len(row.Header))
		for i, name := range row.Header {
			if i < len(row.Fields) && (row.Fields[i] != "" || name == "output") {
				rec.Set(name, cell(name, row.Fields[i]))
			}
		}
		if !rec.Has("output") {
			return nil, proviso.Errorf(proviso.Invalid, "line %d: expected a column named output", row.Line)
		}
		records = append(records, record{rec, func(string) proviso.Place { return proviso.Place{File: file, Line: row.Line} }})
	}
	return records, nil
}

func cell(column, text string) any {
	switch column {
	case "output", "error", "finishReason", byID, byDescription, byPrompt:
		return text
	}
	if v, err := value.ParseJSON(text); err == nil {
		return v
	}
	return text
}

// fieldKind returns the kind of a response field; "" for an unknown field.
func fieldKind(key string) string {
	switch key {
	case "error", "finishReason":
		return "a text"
	case "cost", "latencyMs":
		return "a number"
	case "cached", "isRefusal":
		return "true or false"
	case "guardrails", "metadata":
		return "an object"
	case "tool_calls", "toolCalls":
		return "a list"
	case "logProbs":
		return "a list of numbers"
	case "tokenUsage":
		return "an object of numbers"
	}
	return ""
}

// mostWrong bounds how many fields of the wrong kind are reported.
const mostWrong = 5

// checkRecords finds fields of the wrong kind. Records are written by hand or
// by scripts, and a cost that is not a number would otherwise be ignored.
func checkRecords(records []record) error {
	var wrong []string
	more := 0
	for _, rec := range records {
		for key, v := range rec.All() {
			kind := fieldKind(key)
			if v == nil || kind == "" || rightKind(key, v) {
				continue
			}
			if len(wrong) == mostWrong {
				more++
				continue
			}
			wrong = append(wrong, fmt.Sprintf("%s: %s: expected %s, got %s", rec.place(key), key, kind, excerpt(value.AppendJSON(nil, v))))
		}
	}
	if more > 0 {
		wrong = append(wrong, fmt.Sprintf("and %d more like these", more))
	}
	if wrong == nil {
		return nil
	}
	return proviso.Errorf(proviso.Invalid, "%s", strings.Join(wrong, "\n"))
}

func rightKind(key string, v any) bool {
	var out proviso.Output
	if !setField(&out, key, v) {
		return false
	}
	if o := object(v); key == "tokenUsage" {
		for _, n := range o.All() {
			switch n.(type) {
			case nil, float64, *value.Object: // objects such as completionDetails
			default:
				return false
			}
		}
	}
	return true
}
