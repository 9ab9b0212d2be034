package proviso

import (
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Undefined is the JavaScript value undefined, which differs from nil (null).
type Undefined struct{}

// Object is a JSON object that keeps its keys in the order JavaScript gives
// them: array indices ascending, then all others in order of insertion.
// The zero value is an empty object. Any number of goroutines may read it while
// none writes.
type Object struct {
	keys  []string
	vals  []any
	index map[string]int // positions, of an object that has outgrown linear search
}

// linearKeys is the size up to which comparing keys one by one beats a map.
const linearKeys = 12

// NewObject returns an empty object with room for n members.
func NewObject(n int) *Object {
	return &Object{keys: make([]string, 0, n), vals: make([]any, 0, n)}
}

// ObjectOf returns an object with the given keys and values in turn; it panics
// if a key is not a string or has no value, which is a mistake of the caller.
func ObjectOf(pairs ...any) *Object {
	o := NewObject(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Len returns the number of members; it is 0 for a nil object.
func (o *Object) Len() int {
	if o == nil {
		return 0
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

// Has reports whether key is present.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// Set adds key or replaces its value in place.
func (o *Object) Set(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	o.put(key, v)
	if _, ok := arrayIndex(key); ok {
		o.order()
	}
}

// Delete removes key if it is present.
func (o *Object) Delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	o.keys = slices.Delete(slices.Clone(o.keys), i, i+1) // other objects may have the same
	o.vals = slices.Delete(o.vals, i, i+1)
	o.reindex()
}

// Keys returns the keys in order. The caller must not change the slice.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return o.keys
}

// All yields the members in order.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		for i, k := range o.keys {
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
	c := &Object{keys: slices.Clone(o.keys), vals: slices.Clone(o.vals)}
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
	if len(o.keys) <= linearKeys {
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

// reindex makes the index anew. Only what changes an object does, so that any
// number of goroutines may read it.
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

// put adds a key that is not there at the end, whatever its order.
func (o *Object) put(key string, v any) {
	o.keys = append(o.keys, key)
	o.vals = append(o.vals, v)
	if o.index != nil {
		o.index[key] = len(o.keys) - 1
	} else {
		o.reindex()
	}
}

// order moves array indices to the front, ascending (ECMA-262,
// OrdinaryOwnPropertyKeys). It does nothing if they are there.
func (o *Object) order() {
	less := func(a, b string) bool {
		m, first := arrayIndex(a)
		n, second := arrayIndex(b)
		return first && (!second || m < n)
	}
	if slices.IsSortedFunc(o.keys, func(a, b string) int {
		if less(a, b) {
			return -1
		}
		if less(b, a) {
			return 1
		}
		return 0
	}) {
		return
	}
	sort.Stable(members{o, less})
	o.reindex()
}

// members sorts keys and values together.
type members struct {
	*Object
	less func(a, b string) bool
}

// Less reports whether the key at i stands before the key at j.
func (m members) Less(i, j int) bool { return m.less(m.keys[i], m.keys[j]) }

// Swap exchanges two members.
func (m members) Swap(i, j int) {
	m.keys[i], m.keys[j] = m.keys[j], m.keys[i]
	m.vals[i], m.vals[j] = m.vals[j], m.vals[i]
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

// ToString converts v as JavaScript's String(v) does: null is "null", arrays are
// joined by commas, objects are "[object Object]".
func ToString(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case Undefined:
		return "undefined"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return FormatNumber(v)
	case []any:
		return joinArray(v)
	default:
		return "[object Object]"
	}
}

func joinArray(list []any) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if _, undef := e.(Undefined); e != nil && !undef {
			b.WriteString(ToString(e))
		}
	}
	return b.String()
}

// ToNumber converts v as JavaScript's Number(v) does; what is no number is NaN.
func ToNumber(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case string:
		return stringToNumber(v)
	case []any:
		return stringToNumber(joinArray(v))
	default:
		return math.NaN()
	}
}

// stringToNumber is ECMA-262 StringToNumber: trimmed, empty is 0, the prefixes
// 0x, 0o and 0b are read, "Infinity" is, "inf" and "1_000" are not.
func stringToNumber(s string) float64 {
	s = TrimSpace(s)
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' {
		base := map[byte]int{'x': 16, 'X': 16, 'o': 8, 'O': 8, 'b': 2, 'B': 2}[s[1]]
		if base != 0 {
			return digitsToNumber(s[2:], base)
		}
	}
	switch s {
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E' {
			return math.NaN()
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

func digitsToNumber(s string, base int) float64 {
	f := 0.0
	for _, c := range []byte(s) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if c >= '0' && c <= '9' {
			d = int(c - '0')
		}
		if d < 0 || d >= base {
			return math.NaN()
		}
		f = f*float64(base) + float64(d)
	}
	return f
}

// Truthy reports whether v counts as true in a JavaScript condition.
func Truthy(v any) bool {
	switch v := v.(type) {
	case nil, Undefined:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	default:
		return true
	}
}

// FormatNumber writes f as JavaScript's Number.prototype.toString does
// (ECMA-262, Number::toString): 1.0 is "1", 1e21 is "1e+21", -0 is "0".
func FormatNumber(f float64) string { return string(AppendNumber(nil, f)) }

// AppendNumber appends what [FormatNumber] returns to dst.
func AppendNumber(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		return append(dst, '0')
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go pads the exponent to two digits, JavaScript does not.
	if n := len(dst); n-start > 3 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// IsSpace reports whether r is white space or a line terminator in JavaScript,
// which is what String.prototype.trim and \s see.
func IsSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\v', '\f', '\r', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// TrimSpace trims s as JavaScript's String.prototype.trim does.
func TrimSpace(s string) string { return strings.TrimFunc(s, IsSpace) }
