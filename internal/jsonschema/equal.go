package jsonschema

import (
	"hash/maphash"

	"github.com/proviso-eval/proviso/value"
)

// equal is deep equality as in fast-deep-equal: 0 equals -0, NaN equals itself, the
// order of keys does not matter. Each compared value is a step.
func equal(a, b any, s *state) bool {
	if s.budget--; s.budget < 0 {
		return s.enter() // reports that the limit is reached
	}
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || a != a && b != b)
	case []any, *value.Object:
		return value.EqualFunc(a, b, func(a, b any) bool { return equal(a, b, s) })
	case nil, string, bool:
		return a == b
	}
	return false
}

// enum is a list of allowed values. Once there are many scalars, they are in a set.
type enum struct {
	list    []any
	scalars map[any]struct{} // nil while the list is short
	deep    []any            // members that are compared one by one
}

// fewValues is the number of values up to which comparing one by one is fastest.
const fewValues = 16

func newEnum(list []any) *enum {
	e := &enum{list: list, deep: list}
	if len(list) <= fewValues {
		return e
	}
	e.scalars, e.deep = make(map[any]struct{}, len(list)), nil
	for _, v := range list {
		switch v.(type) {
		case nil, string, float64, bool:
			e.scalars[v] = struct{}{}
		default:
			e.deep = append(e.deep, v)
		}
	}
	return e
}

func (e *enum) has(v any, s *state) bool {
	if e.scalars != nil {
		switch v.(type) {
		case nil, string, float64, bool:
			_, ok := e.scalars[v]
			return ok
		}
	}
	for _, w := range e.deep {
		if equal(v, w, s) {
			return true
		}
	}
	return false
}

// equalScalars finds two equal items, i < j, among those of the given types. It
// searches from the end, as Ajv does when the items are known to be scalars.
func equalScalars(v []any, of types) (i, j int, found bool) {
	seen := make(map[any]int, len(v))
	for i := len(v) - 1; i >= 0; i-- {
		if typesOf(v[i])&of == 0 {
			continue
		}
		if j, ok := seen[v[i]]; ok {
			return i, j, true
		}
		seen[v[i]] = i
	}
	return 0, 0, false
}

// equalItems finds two deeply equal items: the pair with the greatest i, and of
// those the greatest j below it.
func equalItems(v []any, s *state) (i, j int, found bool) {
	if len(v) > fewValues {
		return hashedItems(v, s)
	}
	for i := len(v) - 1; i > 0; i-- {
		for j := i - 1; j >= 0; j-- {
			if equal(v[i], v[j], s) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// hashedItems is equalItems in linear time: it compares only items with equal
// hashes.
func hashedItems(v []any, s *state) (i, j int, found bool) {
	seed := maphash.MakeSeed()
	hashes := make([]uint64, len(v))
	below := make([]int, len(v)) // the next lower item with the same hash, -1 if none
	last := make(map[uint64]int, len(v))
	for i := range v {
		if hashes[i] = hash(v[i], seed, s); s.err != nil {
			return 0, 0, false // unhashed values would all collide
		}
		below[i] = -1
		if at, ok := last[hashes[i]]; ok {
			below[i] = at
		}
		last[hashes[i]] = i
	}
	for i := len(v) - 1; i > 0; i-- {
		for j := below[i]; j >= 0 && s.err == nil; j = below[j] {
			if equal(v[i], v[j], s) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// hash is consistent with equal: equal values have equal hashes. The seed keeps
// hostile input from choosing collisions.
func hash(v any, seed maphash.Seed, s *state) uint64 {
	const odd = 0x9e3779b97f4a7c15
	if !s.step() {
		return 0
	}
	switch v := v.(type) {
	case string:
		return maphash.String(seed, v)
	case float64:
		if v != v {
			return odd
		}
		return maphash.Comparable(seed, v)
	case bool:
		return maphash.Comparable(seed, v)
	case []any:
		h := uint64(len(v)) + odd
		for _, e := range v {
			h = (h ^ hash(e, seed, s)) * odd
		}
		return h
	case *value.Object:
		h := uint64(v.Len()) * odd
		for k, e := range v.All() {
			h += (maphash.String(seed, k) ^ (hash(e, seed, s) * odd)) * odd
		}
		return h
	}
	return odd
}
