// Package document parses the text of suite files and records the position of each
// value, so that every mistake has a place.
//
// Start at [Parse]. [Document.Place] turns an RFC 6901 pointer into a line and a
// column; it does no work until it is called. Large files are streamed by [Lines]
// (JSON Lines) and [ReadCSV].
package document

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Document is one parsed text. Values of anchors are shared between the places that
// use them, so nothing below Root may be changed in place; Root itself may be
// replaced. Place is safe for concurrent use as long as no field is set.
type Document struct {
	File string // for messages, as the user named it
	Root any    // the value, of the kinds that the root package lists

	text   string
	node   *yaml.Node // nil unless the text is YAML
	json   bool
	locate func(pointer string) proviso.Place
}

// Located returns a document without text, such as a streamed file, whose places
// come from a function. The function must be safe for concurrent use.
func Located(file string, locate func(pointer string) proviso.Place) *Document {
	return &Document{File: file, locate: locate}
}

// Virtual returns a document that was assembled from others: it has values but no text
// of its own, and its places name only the file.
func Virtual(file string, root any) *Document { return &Document{File: file, Root: root} }

// Head returns the comments at the beginning of the text.
func (d *Document) Head() string {
	end := 0
	for line := range strings.Lines(d.text) {
		if t := strings.TrimSpace(line); t != "" && t[0] != '#' {
			break
		}
		end += len(line)
	}
	return d.text[:end]
}

// SyntaxError says why and where a text could not be read.
type SyntaxError struct {
	Place   proviso.Place
	Message string // lower case: what was found and what would fix it
}

// Error returns place and message.
func (e *SyntaxError) Error() string {
	if at := e.Place.String(); at != "" {
		return at + ": " + e.Message
	}
	return e.Message
}

// Parse reads a file by its name: JSON if it ends in .json, else YAML. The error
// is a *[SyntaxError].
func Parse(file string, data []byte) (*Document, error) {
	return ParseContext(context.Background(), file, data)
}

// ParseContext is Parse until ctx ends; then the error is the cause of ctx.
func ParseContext(ctx context.Context, file string, data []byte) (*Document, error) {
	if n := len(file) - len(".json"); n >= 0 && strings.EqualFold(file[n:], ".json") {
		return ParseJSONContext(ctx, file, data)
	}
	return ParseYAMLContext(ctx, file, data)
}

// Place returns the position of the value that pointer names, or of the nearest
// parent that exists.
func (d *Document) Place(pointer string) proviso.Place { return d.place(pointer, false) }

// KeyPlace returns the position of the key that pointer names rather than of its
// value; for a list member it is the position of the member.
func (d *Document) KeyPlace(pointer string) proviso.Place { return d.place(pointer, true) }

func (d *Document) place(pointer string, key bool) proviso.Place {
	switch {
	case d.locate != nil:
		return d.locate(pointer)
	case d.node != nil:
		n := findNode(d.node, Split(pointer), key)
		return d.placeAt(n.Line, n.Column)
	case d.json:
		return d.placeOffset(findOffset(d.text, Split(pointer), key))
	}
	return proviso.Place{File: d.File}
}

func (d *Document) placeAt(line, column int) proviso.Place {
	return proviso.Place{File: d.File, Line: line, Column: column, Excerpt: Excerpt(lineOf(d.text, line))}
}

// placeOffset turns a byte offset of the text into a place.
func (d *Document) placeOffset(offset int) proviso.Place {
	offset = min(max(offset, 0), len(d.text))
	head := d.text[:offset]
	start := strings.LastIndexByte(head, '\n') + 1
	return proviso.Place{
		File:    d.File,
		Line:    1 + strings.Count(head, "\n"),
		Column:  1 + utf8.RuneCountInString(d.text[start:offset]),
		Excerpt: Excerpt(lineOf(d.text[start:], 1)),
	}
}

// lineOf returns line n of text, from 1, without its end.
func lineOf(text string, n int) string {
	for ; n > 1; n-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r")
}

// Excerpt is [excerpt.Plain].
func Excerpt(line string) string { return excerpt.Plain(line) }

// KeyMark at the end of a pointer refers to the key instead of its value, as in a
// relative JSON pointer.
const KeyMark = "#"

// Split returns the unescaped segments of an RFC 6901 pointer.
func Split(pointer string) []string {
	pointer = strings.TrimPrefix(pointer, "/")
	if pointer == "" {
		return nil
	}
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		if strings.Contains(p, "~") {
			parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
		}
	}
	return parts
}

// Last returns the last segment of an RFC 6901 pointer, unescaped and without [KeyMark]; ""
// for the whole document.
func Last(pointer string) string {
	parts := Split(strings.TrimSuffix(pointer, KeyMark))
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

// Join appends a segment, a key or an index, to an RFC 6901 pointer.
func Join[T string | int](pointer string, segment T) string {
	switch s := any(segment).(type) {
	case int:
		var buf [48]byte // enough for most pointers, so that only the result is allocated
		return string(strconv.AppendInt(append(append(buf[:0], pointer...), '/'), int64(s), 10))
	case string:
		if strings.ContainsAny(s, "~/") {
			s = strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
		}
		return pointer + "/" + s
	}
	return pointer
}

// Lookup returns the value that pointer names below root.
func Lookup(root any, pointer string) (any, bool) {
	for _, s := range Split(pointer) {
		switch v := root.(type) {
		case *value.Object:
			m, ok := v.Get(s)
			if !ok {
				return nil, false
			}
			root = m
		case []any:
			i, ok := index(s, len(v))
			if !ok {
				return nil, false
			}
			root = v[i]
		default:
			return nil, false
		}
	}
	return root, true
}

// OnlyKeys returns an error for a key of o that is not known, such as the rest of an
// unquoted text after a comma.
func OnlyKeys(o *value.Object, known ...string) error {
	for key := range o.All() {
		if !slices.Contains(known, key) {
			return fmt.Errorf("unknown key %q", key)
		}
	}
	return nil
}

// index reads a list index below n.
func index(s string, n int) (int, bool) {
	i, err := strconv.Atoi(s)
	return i, err == nil && i >= 0 && i < n
}

// checkText returns why data is not UTF-8 text; "" if it is.
func checkText(data []byte) (message string, offset int) {
	if len(data) >= 2 && (data[0] == 0xfe && data[1] == 0xff || data[0] == 0xff && data[1] == 0xfe) {
		return "the file is UTF-16; save it as UTF-8", 0
	}
	if how := packed(data); how != "" {
		return how, 0
	}
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return "", 0
	}
	for i := 0; i < len(data); {
		c := data[i]
		if c == 0 {
			return "the file is binary: it holds a NUL byte", i
		}
		if c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("the file is not UTF-8: byte 0x%02x", c), i
		}
		i += n
	}
	return "", 0
}

// packed returns how to handle a file that must be unpacked first; "" for others.
func packed(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return "the file is compressed by gzip; unpack it with gunzip"
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "the file is compressed by zstd; unpack it with unzstd"
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return "the file is a ZIP archive, which spreadsheets are, too; save it as text, such as CSV"
	}
	return ""
}

// newText checks data and returns a document that holds it without its byte
// order mark.
func newText(file string, data []byte) (*Document, error) {
	d := &Document{File: file}
	message, offset := checkText(data)
	if message != "" {
		d.text = string(data[:offset])
		p := d.placeOffset(offset)
		p.Excerpt = ""
		return nil, &SyntaxError{Place: p, Message: message}
	}
	d.text = strings.TrimPrefix(string(data), "\ufeff")
	return d, nil
}

// fail returns a syntax error at a line and column.
func (d *Document) fail(line, column int, format string, args ...any) error {
	return &SyntaxError{Place: d.placeAt(line, column), Message: fmt.Sprintf(format, args...)}
}

// Mentions reports whether the document's text contains s, so that callers can skip a
// search.
func (d *Document) Mentions(s string) bool { return strings.Contains(d.text, s) }

// Text checks that data is UTF-8 text and returns it without its byte order
// mark. The error is a *[SyntaxError].
func Text(file string, data []byte) (string, error) {
	d, err := newText(file, data)
	if err != nil {
		return "", err
	}
	return d.text, nil
}

// Anchored reports whether the value at pointer, or a value in it, has a YAML
// anchor that aliases may refer to.
func (d *Document) Anchored(pointer string) bool {
	return d.node != nil && anchored(findNode(d.node, Split(pointer), false))
}
