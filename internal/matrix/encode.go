package matrix

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
)

// WriteJSON writes the matrix as one JSON object, piece by piece, so memory use does not grow
// with the matrix.
func (m *Matrix) WriteJSON(w io.Writer) error {
	e := encoder{w: bufio.NewWriterSize(w, 32<<10)}
	e.open()
	e.member("columns", m.Columns)
	e.member("assertions", m.Assertions)
	e.member("types", m.Types)
	e.member("more_assertions", m.MoreAssertions)
	e.list("cases", m.Cases)
	e.list("titles", m.Titles)
	e.member("repeats", m.Repeats)
	e.base64("cells", m.Cells)
	e.base64("index", m.Index)
	e.key("verdicts")
	e.open()
	for _, name := range m.Assertions {
		e.base64(name, m.Verdicts[name])
	}
	e.first = false // even if the list is empty
	e.text("}")
	e.member("finished", m.Finished)
	e.member("rows", m.Rows)
	e.member("status", m.Status)
	e.text("}\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// encoder writes the members of an object until the first error.
type encoder struct {
	w     *bufio.Writer
	first bool
	err   error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

// open starts an object.
func (e *encoder) open() {
	e.text("{")
	e.first = true
}

func (e *encoder) value(v any) {
	data, err := json.Marshal(v)
	if e.err == nil {
		e.err = err
	}
	e.text(string(data))
}

func (e *encoder) key(name string) {
	if !e.first {
		e.text(",")
	}
	e.first = false
	e.value(name)
	e.text(":")
}

func (e *encoder) member(name string, v any) {
	e.key(name)
	e.value(v)
}

func (e *encoder) list(name string, texts []string) {
	e.key(name)
	e.text("[")
	for i, s := range texts {
		if i > 0 {
			e.text(",")
		}
		e.value(s)
	}
	e.text("]")
}

func (e *encoder) base64(name string, data []byte) {
	e.key(name)
	e.text(`"`)
	if e.err == nil {
		b := base64.NewEncoder(base64.StdEncoding, e.w)
		_, e.err = b.Write(data)
		if err := b.Close(); e.err == nil {
			e.err = err
		}
	}
	e.text(`"`)
}
