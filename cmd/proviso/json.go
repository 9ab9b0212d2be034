package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// object is a JSON object: keys and values, in alternation. As in the tags of encoding/json,
// a key with omitempty is left out if its value is empty.
type object []any

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i := 0; i+1 < len(o); i += 2 {
		key, optional := strings.CutSuffix(o[i].(string), ",omitempty")
		if v := reflect.ValueOf(o[i+1]); optional && (v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
			continue
		}
		text, err := compactJSON(o[i+1])
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, key), ':'), text...)
	}
	return append(out, '}'), nil
}

// compactJSON is a value as JSON, without the escapes for HTML.
func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// printJSON writes a value as one line of JSON, without the escapes for HTML.
func (a *app) printJSON(v any) error {
	line, err := compactJSON(v)
	if err != nil {
		return err
	}
	_, err = a.out.Write(append(line, '\n'))
	return err
}

// writeJSON writes a value for people and programs.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// escaped writes JSON without characters that control a terminal or turn the direction of
// text. They can only be in its texts, where an escape means the same.
func escaped(json []byte) []byte {
	var out []byte
	from := 0
	for at := 0; at < len(json); {
		r, size := utf8.DecodeRune(json[at:])
		if r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			out = append(out, json[from:at]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			from = at + size
		}
		at += size
	}
	if from == 0 {
		return json
	}
	return append(out, json[from:]...)
}
