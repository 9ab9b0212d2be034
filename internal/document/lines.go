package document

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"unsafe"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// MaxLine is the longest line of a JSON Lines file, in bytes.
const MaxLine = 64 << 20

// Line is one line of a JSON Lines file.
type Line struct {
	Number int    // from 1
	Text   string // without the line end
	Value  any    // the parsed line
}

// LineError describes one broken line; the lines after it are still read.
type LineError struct {
	Line    int // from 1
	Column  int // from 1, in characters; 0 if unknown
	Message string
	Excerpt string
	Code    string // as in [proviso.Error]
}

// MistakeOf converts an error of this package to a mistake with its place in a
// file. The place of any other error is the file alone.
func MistakeOf(file string, err error) proviso.Mistake {
	m := proviso.Mistake{Place: proviso.Place{File: file}, Code: proviso.Invalid, Message: err.Error()}
	var syntax *SyntaxError
	var line *LineError
	switch {
	case errors.As(err, &syntax):
		m.Place, m.Message = syntax.Place, syntax.Message
	case errors.As(err, &line):
		m.Place.Line, m.Place.Column, m.Place.Excerpt = line.Line, line.Column, line.Excerpt
		m.Code, m.Message = line.Code, line.Message
	}
	return m
}

// Error returns line, column and message.
func (e *LineError) Error() string {
	p := proviso.Place{File: "line", Line: e.Line, Column: e.Column}
	return p.String() + ": " + e.Message
}

// Lines streams a JSON Lines file: one value per line, blank lines skipped, a byte
// order mark ignored. Equal parts of values may be shared between lines, so they
// must not be changed. A broken line, or one with more than [value.MaxReplyValues]
// values, yields a *[LineError], and reading continues; an error of r ends the
// sequence. Memory is bounded by the longest line.
func Lines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := lineReader{r: bufio.NewReaderSize(r, 64<<10)}
		var parser value.Parser
		for {
			text, err := in.next()
			if err != nil {
				var broken *LineError
				if errors.Is(err, io.EOF) || !yield(Line{Number: in.number}, err) || !errors.As(err, &broken) {
					return
				}
				continue
			}
			line := Line{Number: in.number, Text: text}
			if len(text) > 2*value.MaxReplyValues { // a shorter one cannot hold too many
				line.Value, err = value.ParseReply(context.Background(), text)
			} else {
				line.Value, err = parser.Parse(text)
			}
			if err == nil && !yield(line, nil) || err != nil && !brokenLine(line, err, yield) {
				return
			}
		}
	}
}

// brokenLine yields the error of a line, unless the line is blank.
func brokenLine(line Line, err error, yield func(Line, error) bool) bool {
	message, offset, code := err.Error(), 0, proviso.Invalid
	if errors.Is(err, value.ErrTooMany) {
		code = proviso.Limit
	}
	var s *value.SyntaxError
	if errors.As(err, &s) {
		message, offset = s.Message, s.Offset
	}
	text := line.Text
	if strings.Trim(text, " \t\r\ufeff") == "" {
		return true
	}
	d := Document{text: text}
	p := d.placeOffset(offset)
	return yield(line, &LineError{
		Line: line.Number, Column: p.Column, Message: message, Excerpt: p.Excerpt, Code: code,
	})
}

// lineReader reads lines up to MaxLine.
type lineReader struct {
	r      *bufio.Reader
	number int
}

// next returns the next line in memory of its own, because values parsed from the
// line share that memory.
func (l *lineReader) next() (string, error) {
	l.number++
	chunk, err := l.r.ReadSlice('\n')
	line := append([]byte(nil), chunk...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(line) > MaxLine {
			return "", l.skipLong()
		}
		chunk, err = l.r.ReadSlice('\n')
		line = append(line, chunk...)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return "", err
	}
	if len(line) > MaxLine {
		return "", l.tooLong()
	}
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if l.number == 1 && packed(line) != "" {
		_, _ = io.Copy(io.Discard, l.r) // no line of it can be read
		return "", &LineError{Line: 1, Code: proviso.Invalid, Message: packed(line)}
	}
	if message, i := checkText(line); message != "" {
		d := Document{text: string(line[:i])}
		return "", &LineError{
			Line: l.number, Column: d.placeOffset(i).Column, Code: proviso.Invalid,
			Message: strings.Replace(message, "file", "line", 1),
		}
	}
	line = bytes.TrimRight(line, "\r\n")
	// The slice is not kept, so the string may take its memory.
	return unsafe.String(unsafe.SliceData(line), len(line)), nil
}

func (l *lineReader) skipLong() error {
	for {
		_, err := l.r.ReadSlice('\n')
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	return l.tooLong()
}

func (l *lineReader) tooLong() error {
	return &LineError{Line: l.number, Code: proviso.Limit, Message: "the line is longer than 64 MiB"}
}
