package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Limits of a CSV file.
const (
	maxRecord  = 64 << 20 // bytes of a record
	maxColumns = 10_000   // fields of a record
)

// CSVOptions describe the format of a CSV file. The zero value is the usual CSV.
type CSVOptions struct {
	Delimiter string // between fields; "" means a comma
	Strict    bool   // a quote inside an unquoted field is an error
	NoHeader  bool   // the first record is data
}

// OtherDelimiter returns the delimiter that a header of one field seems to have instead
// of the one that the file was read with: a semicolon, a tab or a bar. It is "" if there is
// none.
func OtherDelimiter(header []string) string {
	if len(header) != 1 {
		return ""
	}
	for _, delimiter := range []string{";", "\t", "|"} {
		if strings.Contains(header[0], delimiter) {
			return delimiter
		}
	}
	return ""
}

// Record is one record of a CSV file. A record may have fewer fields than the
// header, or more.
type Record struct {
	Row    int      // data record, from 1
	Line   int      // line the record begins on, from 1
	Header []string // trimmed; shared by all records, not to be changed
	Fields []string
}

// ReadCSV streams a CSV file: a byte order mark is ignored, empty lines are
// skipped, and a quote that RFC 4180 does not allow is part of its field unless
// the options are strict. A mistake is a *[LineError] and ends the sequence, as
// does an error of r. Memory is bounded by the longest record.
func ReadCSV(r io.Reader, o CSVOptions) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if o.Delimiter == "" {
			o.Delimiter = ","
		}
		c := csvReader{in: bufio.NewReaderSize(r, 64<<10), delimiter: o.Delimiter, strict: o.Strict, line: 1}
		for _, b := range [...]byte{'"', '\r', '\n', o.Delimiter[0]} {
			c.special[b] = true
		}
		if head, _ := c.in.Peek(4); packed(head) != "" {
			yield(Record{Row: 1, Line: 1}, &LineError{Line: 1, Code: proviso.Invalid, Message: packed(head)})
			return
		}
		if mark, _ := c.in.Peek(3); string(mark) == "\ufeff" {
			_, _ = c.in.Discard(3)
		}
		var header []string
		for row := 0; ; {
			line := c.line
			fields, err := c.record()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(Record{Row: row + 1, Line: line, Header: header}, err)
				return
			case fields == nil:
				continue
			case header == nil && !o.NoHeader:
				header = trimAll(fields)
				continue
			}
			row++
			if !yield(Record{Row: row, Line: line, Header: header, Fields: fields}, nil) {
				return
			}
		}
	}
}

func trimAll(fields []string) []string {
	for i, f := range fields {
		fields[i] = value.TrimSpace(f)
	}
	return fields
}

// csvReader reads records as the npm package csv-parse does with relax_quotes.
type csvReader struct {
	in        *bufio.Reader
	delimiter string
	strict    bool
	special   [256]bool // bytes that are not always part of an unquoted field
	line      int       // line of the next byte
	lone      bool      // the first line ends in a carriage return alone: all do
	decided   bool      // lone is known

	text   []byte // the fields of the record, concatenated
	ends   []int  // where each field ends in text
	start  int    // where the current field begins in text
	quoted bool   // the record holds a quoted field
}

// record returns the next record, nil for an empty line, or io.EOF.
func (c *csvReader) record() ([]string, error) {
	c.text, c.ends, c.start, c.quoted = c.text[:0], c.ends[:0], 0, false
	first := true
	for {
		b, err := c.in.ReadByte()
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF):
			return nil, err
		case first:
			return nil, io.EOF
		default:
			return c.finish()
		}
		first = false
		switch {
		case b == '"' && len(c.text) == c.start:
			err = c.quotedField()
		case b == '"' && c.strict:
			err = c.fail("a quote inside an unquoted field; double it and quote the whole field")
		case c.isEnd(b):
			c.line++
			return c.finish()
		case b == c.delimiter[0] && c.rest(c.delimiter[1:]):
			c.field()
		default:
			c.text = append(c.text, b)
			c.unquoted()
		}
		if err != nil {
			return nil, err
		}
		if len(c.text) > maxRecord {
			return nil, &LineError{Line: c.line, Code: proviso.Limit, Message: "the record is longer than 64 MiB"}
		}
	}
}

// quotedField reads from after an opening quote to after the closing one. If text
// directly follows a closing quote, the quotes are part of the field.
func (c *csvReader) quotedField() error {
	open := c.line
	c.quoted = true
	for {
		text, err := c.in.ReadSlice('"')
		c.line += bytes.Count(text, []byte{'\n'})
		c.text = append(c.text, text...)
		if len(c.text) > maxRecord {
			return &LineError{Line: open, Code: proviso.Limit, Message: "the record is longer than 64 MiB"}
		}
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return &LineError{Line: open, Code: proviso.Invalid, Message: "a quoted field begins here and does not end"}
		default:
			return err
		}
		c.text = c.text[:len(c.text)-1] // remove the quote
		if c.rest(`"`) {
			c.text = append(c.text, '"')
			continue
		}
		if c.fieldEnds() {
			return nil
		}
		if c.strict {
			return c.fail("text after the closing quote of a field")
		}
		c.text = append(c.text, 0, '"')
		copy(c.text[c.start+1:], c.text[c.start:len(c.text)-2])
		c.text[c.start], c.text[len(c.text)-1] = '"', '"'
		return nil
	}
}

// unquoted reads the buffered part of an unquoted field, up to a special byte.
func (c *csvReader) unquoted() {
	next, _ := c.in.Peek(c.in.Buffered())
	n := 0
	for n < len(next) && !c.special[next[n]] {
		n++
	}
	c.text = append(c.text, next[:n]...)
	_, _ = c.in.Discard(n)
}

// rest consumes text if it comes next.
func (c *csvReader) rest(text string) bool {
	next, _ := c.in.Peek(len(text))
	if string(next) != text {
		return false
	}
	_, _ = c.in.Discard(len(text))
	return true
}

// fieldEnds reports whether a delimiter, a line end or the end of the file
// comes next.
func (c *csvReader) fieldEnds() bool {
	next, _ := c.in.Peek(max(2, len(c.delimiter)))
	return len(next) == 0 || next[0] == '\n' || next[0] == '\r' && (len(next) == 1 || next[1] == '\n' || c.lone || !c.decided) ||
		strings.HasPrefix(string(next), c.delimiter)
}

// isEnd reports whether b, which was read, ends the line; it consumes the line
// feed after a carriage return.
func (c *csvReader) isEnd(b byte) bool {
	switch b {
	case '\n':
		c.decided = true
		return true
	case '\r':
		if c.rest("\n") {
			c.decided = true
			return true
		}
		if !c.decided {
			c.decided, c.lone = true, true
		}
		return c.lone
	}
	return false
}

func (c *csvReader) field() {
	c.ends = append(c.ends, len(c.text))
	c.start = len(c.text)
}

// finish ends the record. The fields share one string.
func (c *csvReader) finish() ([]string, error) {
	if len(c.text) == 0 && len(c.ends) == 0 && !c.quoted {
		return nil, nil
	}
	c.field()
	if len(c.ends) > maxColumns {
		return nil, &LineError{Line: c.line, Code: proviso.Limit, Message: fmt.Sprintf("the record has %d columns, and at most %d are read", len(c.ends), maxColumns)}
	}
	if message, _ := checkText(c.text); message != "" {
		return nil, c.fail("%s", strings.Replace(message, "file", "record", 1))
	}
	text := string(c.text)
	fields, start := make([]string, len(c.ends)), 0
	for i, end := range c.ends {
		fields[i] = text[start:end]
		start = end
	}
	return fields, nil
}

func (c *csvReader) fail(format string, args ...any) error {
	return &LineError{Line: c.line, Code: proviso.Invalid, Message: fmt.Sprintf(format, args...)}
}
