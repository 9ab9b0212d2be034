package value

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes a Go value as [encoding/json] does, but without HTML escapes: texts stay
// readable. A line break ends it. indent is the indent of each level; "" means one line.
func WriteJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// EncodeJSON returns what [WriteJSON] writes.
func EncodeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	err := WriteJSON(&b, v, indent)
	return b.Bytes(), err
}
