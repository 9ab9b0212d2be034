package document

import (
	"context"
	"encoding/json"
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

// tooWide returns the first object with more than MaxKeys keys, and its number of
// keys. The pointer is built on the way back, because values may nest deeply.
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

// findOffset returns the offset of the value that the segments name in text, which
// was parsed before. If there is none, it returns the offset of the last value on
// the path. With key it is the offset of the last segment's key.
func findOffset(text string, segments []string, key bool) int {
	at := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	for n, segment := range segments {
		keyAt, valueAt, ok := findMember(text[at:], segment)
		switch {
		case !ok:
			return at
		case key && n == len(segments)-1:
			return at + keyAt
		}
		at += valueAt
	}
	return at
}

// findMember returns the offsets of a member in the list or object that text begins
// with, and of its key. Of duplicate keys the last one counts, as in the parsed
// value.
func findMember(text, segment string) (keyAt, valueAt int, ok bool) {
	in := json.NewDecoder(strings.NewReader(text))
	begin, _ := in.Token()
	offset := func() int {
		rest := text[in.InputOffset():]
		return len(text) - len(strings.TrimLeft(rest, " \t\r\n,:"))
	}
	_, holds := begin.(json.Delim)
	for n := 0; holds && in.More(); n++ {
		start := offset()
		i, match := index(segment, n+1)
		match = match && i == n
		if begin == json.Delim('{') {
			name, _ := in.Token()
			match = name == segment
		}
		if match {
			keyAt, valueAt, ok = start, offset(), true
		}
		var member json.RawMessage
		if in.Decode(&member) != nil {
			break
		}
	}
	return keyAt, valueAt, ok
}
