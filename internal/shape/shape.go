// Package shape describes the JSON of the replies that models are asked for, as JSON Schemas.
// [Reply] is the whole request; the other functions make its parts. Objects allow exactly the
// listed members, as the strict modes of vendors demand.
package shape

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Reply requests a reply that is an [Object].
func Reply(name string, pairs ...any) *proviso.Reply {
	return &proviso.Reply{Name: name, Schema: Object(pairs...)}
}

// Object is the schema of an object with exactly these members: pairs of a key and a schema.
func Object(pairs ...any) *value.Object {
	properties := value.ObjectOf(pairs...)
	required := make([]any, 0, properties.Len())
	for _, key := range properties.Keys() {
		required = append(required, key)
	}
	return value.ObjectOf("type", "object", "properties", properties, "required", required, "additionalProperties", false)
}

// Of is the schema of a value that has one of several types.
func Of(types ...any) *value.Object {
	if len(types) == 1 {
		return value.ObjectOf("type", types[0])
	}
	return value.ObjectOf("type", types)
}

// Any is the schema of a value that one of several schemas allows.
func Any(schemas ...any) *value.Object { return value.ObjectOf("anyOf", schemas) }

// List is the schema of a list of items.
func List(items *value.Object) *value.Object {
	return value.ObjectOf("type", "array", "items", items)
}

// Enum is the schema of one of several texts.
func Enum(names ...string) *value.Object {
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = n
	}
	return value.ObjectOf("type", "string", "enum", list)
}
