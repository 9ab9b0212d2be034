// Package kind names the kinds of values for messages, and checks a value against a
// set of kinds.
package kind

import (
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Of names the kind of a value. Undefined counts as null.
func Of(v any) string {
	switch v.(type) {
	case nil, value.Undefined:
		return "null"
	case string:
		return names[0]
	case float64:
		return names[1]
	case bool:
		return names[2]
	case []any:
		return names[3]
	}
	return names[4]
}

// Shown describes a value for messages: a short one by itself and its kind, any
// other by its kind.
func Shown(v any) string {
	switch v := v.(type) {
	case nil, value.Undefined:
		return "nothing"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return "the number " + value.FormatNumber(v)
	case string:
		if len(v) <= 40 {
			return `the text "` + excerpt.Plain(v) + `"`
		}
	}
	return Of(v)
}

// Set is a set of kinds.
type Set uint8

// The kinds.
const (
	Text Set = 1 << iota
	Number
	Boolean
	List
	Object
	Null
	Any = Text | Number | Boolean | List | Object | Null
)

// names has the names of the kinds in the order of the constants, without null.
var names = [...]string{"a text", "a number", "a boolean", "a list", "an object"}

// String lists the kinds, as in messages.
func (s Set) String() string {
	if s == Any {
		return "any value"
	}
	var all []string
	for i, name := range names {
		if s&(1<<i) != 0 {
			all = append(all, name)
		}
	}
	switch n := len(all); n {
	case 0:
		return "nothing"
	case 1:
		return all[0]
	default:
		return strings.Join(all[:n-1], ", ") + " or " + all[n-1]
	}
}

// Has reports whether v is of one of the kinds. Null counts as absent and is always
// valid.
func (s Set) Has(v any) bool {
	switch v.(type) {
	case string:
		return s&Text != 0
	case float64:
		return s&Number != 0
	case bool:
		return s&Boolean != 0
	case []any:
		return s&List != 0
	case *value.Object:
		return s&Object != 0
	}
	return true
}
