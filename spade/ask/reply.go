package ask

import (
	"errors"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// maxScan bounds the work of finding JSON in a reply, in bytes.
const maxScan = 8 * maxReply

// ListIn finds the list under a key in the only JSON object of a reply that has such a list.
// It skips text around the object, such as a fence or what a model thought first. It also
// accepts JSON with the mistakes that [mended] corrects, the list alone, and the object inside
// another one. Two different objects, an object with a duplicate key and a truncated object
// are errors.
func ListIn(reply, key string) (*value.Object, []any, error) {
	answer, ended := judge.WithoutThoughts(reply)
	if !ended {
		return nil, nil, errors.New("it holds thoughts that do not end, and no answer")
	}
	var found, alone *value.Object
	for _, v := range jsonIn(answer) {
		o := holder(v.value, key)
		if list, ok := v.value.([]any); ok && objects(list) && alone == nil {
			alone = value.ObjectOf(key, list)
		}
		switch {
		case o == nil:
		case v.twice != nil:
			return nil, nil, v.twice
		case found != nil && value.Stringify(found) != value.Stringify(o):
			return nil, nil, fmt.Errorf("it holds several JSON objects with %q that differ", key)
		default:
			found = o
		}
	}
	if found == nil {
		found = alone
	}
	if found == nil {
		return nil, nil, fmt.Errorf("it holds no complete JSON object with a list under %q", key)
	}
	list, _ := found.At(key).([]any)
	return found, list, nil
}

// holder returns the object with a list under the key: v or a member of v.
func holder(v any, key string) *value.Object {
	o, _ := v.(*value.Object)
	if _, ok := o.At(key).([]any); ok {
		return o
	}
	for _, inner := range o.All() {
		in, _ := inner.(*value.Object)
		if _, ok := in.At(key).([]any); ok {
			return in
		}
	}
	return nil
}

// objects reports whether a list contains only objects.
func objects(list []any) bool {
	for _, v := range list {
		if _, ok := v.(*value.Object); !ok {
			return false
		}
	}
	return len(list) > 0
}

// found is an object or a list in a reply.
type found struct {
	value any
	twice error // error for a duplicate key in it; nil if there is none
}

// jsonIn returns the top-level objects and lists in a text. If one is broken, it returns the
// complete ones inside it.
func jsonIn(text string) []found {
	var list []found
	for i, work := 0, 0; i < len(text) && work < maxScan; {
		next := strings.IndexAny(text[i:], "{[")
		if next < 0 {
			break
		}
		i += next
		v, n, err := value.ParseUniqueJSON(text[i:])
		work += n + 1
		var broken *value.SyntaxError
		if errors.As(err, &broken) {
			work += broken.Offset
			strict, length := mended(text[i:])
			work += length + 1
			if v, _, err = value.ParseUniqueJSON(strict); errors.As(err, &broken) {
				i++
				continue
			}
			n = length
		}
		i += max(n, 1)
		switch v.(type) {
		case *value.Object, []any:
			list = append(list, found{v, err})
		}
	}
	return list
}

// JSONLines writes objects, one to a line.
func JSONLines(list []*value.Object) string {
	var b []byte
	for _, o := range list {
		b = append(value.AppendJSON(b, o), '\n')
	}
	return string(b)
}
