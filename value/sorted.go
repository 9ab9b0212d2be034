package value

import "slices"

// Sorted returns v with the keys of all objects in it in order, so that equal values have equal
// JSON. It shares the parts of v that are neither objects nor lists.
func Sorted(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Sorted(e)
		}
		return out
	case *Object:
		if v == nil {
			return nil
		}
		out := NewObject(v.Len())
		for _, key := range slices.Sorted(slices.Values(v.Keys())) {
			out.Set(key, Sorted(v.At(key)))
		}
		return out
	}
	return v
}
