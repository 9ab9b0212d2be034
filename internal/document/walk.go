package document

import (
	"iter"
	"slices"

	"github.com/proviso-eval/proviso/value"
)

// Map returns v with each of its members replaced by the result of change. change
// gets the member, its pointer below that of v, and its key, which is "" in a list.
// A list or an object whose members do not change is not copied. For a member that
// is neither a text nor a container, change gets the pointer of v.
func Map(pointer string, v any, change func(at, key string, member any) any) any {
	switch v := v.(type) {
	case []any:
		out := v
		for i, e := range v {
			n := change(below(pointer, i, e), "", e)
			if Same(n, e) {
				continue
			}
			if Same(out, v) {
				out = slices.Clone(v)
			}
			out[i] = n
		}
		return out
	case *value.Object:
		out := v
		for key, e := range v.All() {
			n := change(below(pointer, key, e), key, e)
			if Same(n, e) {
				continue
			}
			if out == v {
				out = v.Clone()
			}
			out.Set(key, n)
		}
		return out
	}
	return v
}

// below is [Join] for a member that is a text or a container, and pointer for any
// other.
func below[T string | int](pointer string, segment T, member any) string {
	switch member.(type) {
	case string, []any, *value.Object:
		return Join(pointer, segment)
	}
	return pointer
}

// Same reports whether a and b are the same value; lists and objects are compared by
// identity. NaN is the same as itself.
func Same(a, b any) bool {
	p, ok := a.([]any)
	q, both := b.([]any)
	if ok || both {
		return ok && both && len(p) == len(q) && (len(p) == 0 || &p[0] == &q[0])
	}
	if f, ok := a.(float64); ok && f != f {
		g, ok := b.(float64)
		return ok && g != g
	}
	return a == b
}

// Texts yields the texts in v, which may itself be one, with their pointers.
func Texts(pointer string, v any) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { texts(pointer, v, yield) }
}

func texts(pointer string, v any, yield func(string, string) bool) bool {
	switch v := v.(type) {
	case string:
		return yield(pointer, v)
	case []any:
		for i, e := range v {
			if !texts(below(pointer, i, e), e, yield) {
				return false
			}
		}
	case *value.Object:
		for key, e := range v.All() {
			if !texts(below(pointer, key, e), e, yield) {
				return false
			}
		}
	}
	return true
}
