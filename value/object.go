package value

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"sync"
)

// Object is a JSON object that keeps its keys in JavaScript's order: array indices
// ascending, then all others in insertion order. The zero value is an empty object.
// Concurrent reads are safe as long as nothing writes.
type Object struct {
	keys  []string // in insertion order, including deleted ones
	vals  []any
	index map[string]int // positions, once the object is too large for linear search
	late  *lateOrder     // nil while keys are in order and none is deleted
}

// lateOrder is the order of an object whose keys are not stored in order. It is computed
// when the members are read in order, not for every added key, so that many keys do not
// take quadratic time.
type lateOrder struct {
	dead int // deleted keys that still have a position

	once sync.Once
	made bool
	keys []string // in order
	at   []int    // position of each
}

// linearKeys is the size up to which a linear search beats a map.
const linearKeys = 12

// NewObject returns an empty object with room for n members.
func NewObject(n int) *Object {
	return &Object{keys: make([]string, 0, n), vals: make([]any, 0, n)}
}

// ObjectOf returns an object with the given keys and values, in alternation. It
// panics if a key is not a string or has no value, because that is a programming
// error.
func ObjectOf(pairs ...any) *Object {
	o := NewObject(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// SetText sets a member to a text, unless that is "".
func (o *Object) SetText(key, text string) {
	if text != "" {
		o.Set(key, text)
	}
}

// OrEmpty returns o, or an empty object if o is nil.
func (o *Object) OrEmpty() *Object {
	if o == nil {
		return NewObject(0)
	}
	return o
}

// Len returns the number of members; it is 0 for a nil object.
func (o *Object) Len() int {
	switch {
	case o == nil:
		return 0
	case o.late != nil:
		return len(o.keys) - o.late.dead
	}
	return len(o.keys)
}

// Get returns the value of key and whether it is present. A nil object has none.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.vals[i], true
	}
	return nil, false
}

// At returns the value of key, or nil if it is absent.
func (o *Object) At(key string) any {
	v, _ := o.Get(key)
	return v
}

// Text returns the value of key if it is a text, else "".
func (o *Object) Text(key string) string {
	s, _ := o.At(key).(string)
	return s
}

// Object returns the value of key if it is an object, else nil.
func (o *Object) Object(key string) *Object {
	v, _ := o.At(key).(*Object)
	return v
}

// Has reports whether key is present.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// Set adds key or replaces its value in place. Go numbers, maps with string keys and
// lists become values of this package, as in [Of]. Values of other types are
// kept unchanged.
func (o *Object) Set(key string, v any) {
	v = kept(v)
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	o.put(key, v)
}

// Delete removes key if it is present.
func (o *Object) Delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	if o.index == nil {
		o.keys = slices.Delete(slices.Clone(o.keys), i, i+1) // other objects may share the keys
		o.vals = slices.Delete(o.vals, i, i+1)
		if o.late != nil {
			o.disorder(0)
		}
		return
	}
	delete(o.index, key)
	o.vals[i] = nil
	o.disorder(1)
	if o.late.dead > len(o.keys)/2 {
		*o = *o.Clone()
	}
}

// Keys returns the keys in order. The caller must not change the slice.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	keys, _ := o.ordered()
	return keys
}

// All yields the members in order.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		keys, at := o.ordered()
		for i, k := range keys {
			if at != nil {
				i = at[i]
			}
			if !yield(k, o.vals[i]) {
				return
			}
		}
	}
}

// Clone returns a shallow copy; the clone of nil is an empty object.
func (o *Object) Clone() *Object {
	if o == nil {
		return &Object{}
	}
	c := &Object{}
	if keys, at := o.ordered(); at == nil {
		c.keys, c.vals = slices.Clone(keys), slices.Clone(o.vals)
	} else {
		c.keys, c.vals = slices.Clone(keys), make([]any, len(at))
		for i, p := range at {
			c.vals[i] = o.vals[p]
		}
	}
	c.reindex()
	return c
}

// MarshalJSON writes the members in order, as JSON.stringify would.
func (o *Object) MarshalJSON() ([]byte, error) { return AppendJSON(nil, o), nil }

// UnmarshalJSON reads one JSON object and keeps the order of its keys.
func (o *Object) UnmarshalJSON(data []byte) error {
	v, err := ParseJSON(string(data))
	if err != nil {
		return err
	}
	p, ok := v.(*Object)
	if !ok {
		return &SyntaxError{Message: "expected an object"}
	}
	*o = *p
	return nil
}

func (o *Object) find(key string) int {
	if o == nil {
		return -1
	}
	if o.index == nil {
		for i, k := range o.keys {
			if k == key {
				return i
			}
		}
		return -1
	}
	if i, ok := o.index[key]; ok {
		return i
	}
	return -1
}

// reindex rebuilds the index. Only writes call it, so that concurrent reads are safe.
func (o *Object) reindex() {
	o.index = nil
	if len(o.keys) <= linearKeys {
		return
	}
	o.index = make(map[string]int, 2*len(o.keys))
	for i, k := range o.keys {
		o.index[k] = i
	}
}

// put adds a key that is not present.
func (o *Object) put(key string, v any) {
	if o.late != nil || o.precedes(key) {
		o.disorder(0)
	}
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
	if o.index != nil {
		o.index[key] = len(o.keys) - 1
	} else {
		o.reindex()
	}
}

// precedes reports whether key comes before the last key in JavaScript's order.
func (o *Object) precedes(key string) bool {
	n, ok := arrayIndex(key)
	if !ok || len(o.keys) == 0 {
		return false
	}
	last, ok := arrayIndex(o.keys[len(o.keys)-1])
	return !ok || n < last
}

// disorder records that the keys are no longer stored in order, and that the given
// number of further keys is deleted.
func (o *Object) disorder(deleted int) {
	if o.late == nil {
		o.late = &lateOrder{}
	} else if o.late.made {
		o.late = &lateOrder{dead: o.late.dead}
	}
	o.late.dead += deleted
}

// ordered returns the keys in order (ECMA-262, OrdinaryOwnPropertyKeys) and the
// position of each; nil means that they are stored in order.
func (o *Object) ordered() (keys []string, at []int) {
	l := o.late
	if l == nil {
		return o.keys, nil
	}
	l.once.Do(func() { l.arrange(o) })
	return l.keys, l.at
}

// arrange sorts the positions of the keys that are not deleted.
func (l *lateOrder) arrange(o *Object) {
	type member struct {
		n  uint64
		at int
	}
	var indices []member
	var others []int
	for i, k := range o.keys {
		if p, alive := o.index[k]; o.index != nil && (!alive || p != i) {
			continue
		}
		if n, ok := arrayIndex(k); ok {
			indices = append(indices, member{n, i})
		} else {
			others = append(others, i)
		}
	}
	slices.SortFunc(indices, func(a, b member) int { return cmp.Compare(a.n, b.n) })
	l.at = make([]int, 0, len(indices)+len(others))
	for _, m := range indices {
		l.at = append(l.at, m.at)
	}
	l.at = append(l.at, others...)
	l.keys = make([]string, len(l.at))
	for i, p := range l.at {
		l.keys[i] = o.keys[p]
	}
	l.made = true
}

// EqualFunc reports whether a and b are lists of the same length or objects with the same
// keys, in any order, and equal reports true for each pair of members.
func EqualFunc(a, b any, equal func(a, b any) bool) bool {
	if list, ok := a.([]any); ok {
		other, ok := b.([]any)
		return ok && slices.EqualFunc(list, other, equal)
	}
	object, ok := a.(*Object)
	other, same := b.(*Object)
	if !ok || !same || object.Len() != other.Len() {
		return false
	}
	for key, member := range object.All() {
		v, ok := other.Get(key)
		if !ok || !equal(member, v) {
			return false
		}
	}
	return true
}

// arrayIndex reports whether key is a canonical array index: a decimal integer
// from 0 to 2^32-2 without leading zeros.
func arrayIndex(key string) (uint64, bool) {
	if key == "" || len(key) > 10 || key[0] < '0' || key[0] > '9' || (key[0] == '0' && len(key) > 1) {
		return 0, false
	}
	n, err := strconv.ParseUint(key, 10, 64)
	return n, err == nil && n < math.MaxUint32
}
