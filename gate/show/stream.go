package show

import (
	"bufio"
	"bytes"
	"encoding/json"

	"github.com/proviso-eval/proviso"
)

// stream writes indented JSON value by value, so that the whole text is never in memory.
// It keeps the first error until end.
type stream struct {
	w       *bufio.Writer
	indent  string
	filled  bool // the current block contains a value
	one     bytes.Buffer
	encoder *json.Encoder // writes to one; it reuses its memory
	err     error
}

// block writes an object or a list: its brackets, and between them the output of fill.
func (s *stream) block(brackets string, fill func()) {
	s.w.WriteByte(brackets[0])
	s.indent, s.filled = s.indent+"  ", false
	fill()
	s.indent = s.indent[2:]
	if s.filled {
		s.w.WriteString("\n" + s.indent)
	}
	s.w.WriteByte(brackets[1])
	s.filled = true // the enclosing block now contains a value
}

// next starts the next value of a block.
func (s *stream) next() {
	if s.filled {
		s.w.WriteByte(',')
	}
	s.filled = true
	s.w.WriteString("\n" + s.indent)
}

// key starts the next member of an object.
func (s *stream) key(name string) {
	s.next()
	s.w.WriteString(`"` + name + `": `)
}

// member writes the next member of an object.
func (s *stream) member(name string, v any) {
	s.key(name)
	s.value(v)
}

// item writes the next value of a list.
func (s *stream) item(v any) {
	s.next()
	s.value(v)
}

// value writes one value.
func (s *stream) value(v any) {
	if s.encoder == nil {
		s.encoder = json.NewEncoder(&s.one)
	}
	s.encoder.SetIndent(s.indent, "  ")
	s.one.Reset()
	if err := s.encoder.Encode(v); err != nil && s.err == nil {
		s.err = err
	}
	s.w.Write(bytes.TrimSuffix(s.one.Bytes(), []byte("\n")))
}

// end finishes the text and returns the first error.
func (s *stream) end() error {
	s.w.WriteByte('\n')
	if err := s.w.Flush(); err != nil && s.err == nil {
		s.err = err
	}
	if s.err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the comparison: %w", s.err)
	}
	return nil
}
