package ask

import (
	"errors"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// maxScan bounds the work of finding JSON in a reply, in bytes.
const maxScan = 8 * maxReply

// ListIn finds the list under a key of the one JSON object in a reply that has such a
// list. It skips text around the object. Two different objects, or an object with a
// duplicate key, are an error.
func ListIn(reply, key string) (*value.Object, []any, error) {
	var found *value.Object
	for i, work := 0, 0; i < len(reply) && work < maxScan; {
		next := strings.IndexByte(reply[i:], '{')
		if next < 0 {
			break
		}
		i += next
		v, n, err := value.ParseUniqueJSON(reply[i:])
		var twice *value.DuplicateKeyError
		if err != nil && !errors.As(err, &twice) {
			var broken *value.SyntaxError
			if errors.As(err, &broken) {
				work += broken.Offset
			}
			i, work = i+1, work+1
			continue
		}
		i, work = i+n, work+n
		o, _ := v.(*value.Object)
		if _, ok := o.At(key).([]any); !ok {
			continue
		}
		if twice != nil {
			return nil, nil, twice
		}
		if found != nil && value.Stringify(found) != value.Stringify(o) {
			return nil, nil, fmt.Errorf("it holds several JSON objects with %q that differ", key)
		}
		found = o
	}
	if found == nil {
		return nil, nil, fmt.Errorf("it holds no complete JSON object with a list under %q", key)
	}
	list, _ := found.At(key).([]any)
	return found, list, nil
}

// ObjectSchema is the schema of an object with exactly these members.
func ObjectSchema(pairs ...any) *value.Object {
	properties := value.ObjectOf(pairs...)
	required := make([]any, 0, properties.Len())
	for _, key := range properties.Keys() {
		required = append(required, key)
	}
	return value.ObjectOf("type", "object", "properties", properties, "required", required, "additionalProperties", false)
}

// Schema is the schema of a value of one of several types.
func Schema(types ...any) *value.Object {
	if len(types) == 1 {
		return value.ObjectOf("type", types[0])
	}
	return value.ObjectOf("type", types)
}

// ListSchema is the schema of a list of items.
func ListSchema(items *value.Object) *value.Object {
	return value.ObjectOf("type", "array", "items", items)
}

// EnumSchema is the schema of one of several texts.
func EnumSchema(names []string) *value.Object {
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = n
	}
	return value.ObjectOf("type", "string", "enum", list)
}

// JSONLines writes objects, one to a line.
func JSONLines(list []*value.Object) string {
	var b []byte
	for _, o := range list {
		b = append(value.AppendJSON(b, o), '\n')
	}
	return string(b)
}
