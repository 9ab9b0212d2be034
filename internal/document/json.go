package document

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// ParseJSON reads one strict JSON text. The error is a *[SyntaxError].
func ParseJSON(file string, data []byte) (*Document, error) {
	return ParseJSONContext(context.Background(), file, data)
}

// ParseJSONContext is [ParseJSON] until ctx ends; then the error is the cause of ctx.
func ParseJSONContext(ctx context.Context, file string, data []byte) (*Document, error) {
	return parseJSON(ctx, file, data, value.ParseJSONContext)
}

// ParseRequest is [ParseJSONContext] for text from the network: more values than
// [value.MaxReplyValues] are [value.ErrTooMany].
func ParseRequest(ctx context.Context, file string, data []byte) (*Document, error) {
	return parseJSON(ctx, file, data, value.ParseReply)
}

func parseJSON(ctx context.Context, file string, data []byte, parse func(context.Context, string) (any, error)) (*Document, error) {
	d, err := newText(file, data)
	if err != nil {
		return nil, err
	}
	d.json = true
	d.Root, err = parse(ctx, d.text)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, value.ErrTooMany):
		return nil, err
	case err != nil:
		return nil, d.jsonError(err)
	}
	if pointer, keys := tooWide(d.Root, ""); keys > 0 {
		return nil, &SyntaxError{Place: d.Place(pointer), Message: fmt.Sprintf("the object has %d keys, and at most %d are read", keys, MaxKeys)}
	}
	return d, nil
}

// tooWide returns the first object with more than MaxKeys keys, and how many it has.
// The pointer is made on the way back, because values may nest deeply.
func tooWide(v any, below string) (pointer string, keys int) {
	switch v := v.(type) {
	case *value.Object:
		if v.Len() > MaxKeys {
			return below, v.Len()
		}
		for key, member := range v.All() {
			if at, keys := tooWide(member, ""); keys > 0 {
				return Join(below, key) + at, keys
			}
		}
	case []any:
		for i, member := range v {
			if at, keys := tooWide(member, ""); keys > 0 {
				return Join(below, i) + at, keys
			}
		}
	}
	return "", 0
}

func (d *Document) jsonError(err error) error {
	var s *value.SyntaxError
	if !errors.As(err, &s) {
		return &SyntaxError{Place: proviso.Place{File: d.File}, Message: err.Error()}
	}
	message := s.Message
	rest := d.text[min(s.Offset, len(d.text)):]
	switch {
	case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*"):
		message += "; JSON has no comments"
	case (strings.HasPrefix(rest, "}") || strings.HasPrefix(rest, "]")) && trailingComma(d.text[:s.Offset]):
		message += "; remove the comma before it"
	case strings.TrimSpace(d.text) == "":
		message = "the file is empty"
	case s.Offset >= len(d.text):
		message += d.unclosed()
	}
	return &SyntaxError{Place: d.placeOffset(s.Offset), Message: message}
}

// unclosed names the last bracket of the text that is not closed, and its place; ""
// if there is none.
func (d *Document) unclosed() string {
	var open []int
	for i := 0; i < len(d.text); i++ {
		switch d.text[i] {
		case '"':
			for i++; i < len(d.text) && d.text[i] != '"'; i++ {
				if d.text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		}
	}
	if len(open) == 0 {
		return ""
	}
	last := open[len(open)-1]
	at := d.placeOffset(last)
	return fmt.Sprintf("; the '%c' of line %d, column %d is not closed", d.text[last], at.Line, at.Column)
}

func trailingComma(head string) bool {
	return strings.HasSuffix(strings.TrimRight(head, " \t\r\n"), ",")
}

// JSONPlace returns the place of a pointer inside one line of a JSON Lines file.
func JSONPlace(file string, line Line, pointer string, key bool) proviso.Place {
	d := Document{File: file, text: line.Text, json: true}
	p := d.place(pointer, key)
	p.Line = line.Number
	return p
}

// findOffset scans text, which was parsed before, for the value that the segments name
// and returns its offset; if there is none, the offset of the last value on the way.
// With key it is the offset of the last segment's key.
func findOffset(text string, segments []string, key bool) int {
	s := scan{text: text}
	s.space()
	at := s.i
	for n, seg := range segments {
		keyAt, ok := s.enter(seg)
		if !ok {
			return at
		}
		at = s.i
		if key && n == len(segments)-1 {
			return keyAt
		}
	}
	return at
}

// scan walks over JSON text that is known to be valid.
type scan struct {
	text string
	i    int
}

func (s *scan) space() {
	for s.i < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.i]) >= 0 {
		s.i++
	}
}

// enter moves from the beginning of a container to the member that segment names and
// returns where its key begins. Of duplicate keys the last one counts, as it does for
// the value.
func (s *scan) enter(segment string) (keyAt int, ok bool) {
	if s.i >= len(s.text) || (s.text[s.i] != '{' && s.text[s.i] != '[') {
		return 0, false
	}
	object := s.text[s.i] == '{'
	s.i++
	found := -1
	for n := 0; ; n++ {
		s.space()
		if s.i >= len(s.text) || s.text[s.i] == '}' || s.text[s.i] == ']' {
			break
		}
		start := s.i
		match := false
		if object {
			s.str()
			name, _ := value.ParseJSON(s.text[start:s.i])
			match = name == segment
			s.space()
			s.i++ // the colon
			s.space()
		} else {
			i, valid := index(segment, n+1)
			match = valid && i == n
		}
		if match {
			keyAt, found = start, s.i
			if !object {
				return keyAt, true
			}
		}
		s.skip()
		s.space()
		if s.i < len(s.text) && s.text[s.i] == ',' {
			s.i++
		}
	}
	if found >= 0 {
		s.i = found
	}
	return keyAt, found >= 0
}

// skip moves over one value.
func (s *scan) skip() {
	depth := 0
	for s.i < len(s.text) {
		switch s.text[s.i] {
		case '"':
			s.str()
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return // the end of the container around a plain value
			}
			depth--
			if depth == 0 {
				s.i++
				return
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
		}
		s.i++
	}
}

// str moves over one string.
func (s *scan) str() {
	for s.i++; s.i < len(s.text); s.i++ {
		switch s.text[s.i] {
		case '\\':
			s.i++
		case '"':
			s.i++
			return
		}
	}
}
