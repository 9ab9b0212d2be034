package format

import (
	"bytes"
	"encoding/json"
)

// JSON returns JSON without HTML escapes, with a line break at the end.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
