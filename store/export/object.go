package export

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Object is a JSON object: alternating keys and values. As in encoding/json tags, a key with
// omitempty is left out if its value is empty.
type Object []any

// MarshalJSON implements [json.Marshaler].
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o)%2 != 0 {
		panic("export: a key without a value")
	}
	out := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		key, optional := strings.CutSuffix(o[i].(string), ",omitempty")
		if v := reflect.ValueOf(o[i+1]); optional && (v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
			continue
		}
		text, err := compact(o[i+1])
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(value.AppendQuoted(out, key), ':'), text...)
	}
	return append(out, '}'), nil
}

// compact encodes a value as JSON without HTML escapes.
func compact(v any) ([]byte, error) {
	line, err := value.EncodeJSON(v, "")
	return bytes.TrimSuffix(line, []byte("\n")), err
}
