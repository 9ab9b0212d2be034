package value

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Of converts a Go value to a value of this package: nil, [Undefined], a string,
// a bool, a float64, a list ([]any) or an *[Object]. Numbers of any type become
// float64, slices and arrays become lists, maps with string keys become objects with
// sorted keys, and bytes become text. A pointer becomes the value that it points to.
// Any other type is converted through encoding/json. A value of this package is
// returned unchanged. So is a value without a JSON form, such as one that contains
// itself: [Valid] reports that.
func Of(v any) any { return convert(v, true) }

// maxGoDepth limits the nesting of Go lists, maps and pointers.
const maxGoDepth = 1000

// conversion converts a Go value.
type conversion struct {
	reflects bool // also convert values of unknown types
	depth    int
	tooDeep  bool
}

// convert converts v, or returns it unchanged if it nests too deeply.
func convert(v any, reflects bool) any {
	c := conversion{reflects: reflects}
	made := c.value(v)
	if c.tooDeep {
		return v
	}
	return made
}

func (c *conversion) value(v any) any {
	if Valid(v) {
		return v
	}
	if c.depth++; c.tooDeep || c.depth > maxGoDepth {
		c.tooDeep = true
		return nil // an object would convert v again
	}
	defer func() { c.depth-- }()
	if known, ok := fromGo(v, c.value); ok || !c.reflects {
		if ok {
			return known
		}
		return v
	}
	return c.reflected(v)
}

// kept is Of, except that it returns values of unknown types unchanged.
func kept(v any) any { return convert(v, false) }

// Valid reports whether v is a value of this package, which [Of] returns
// unchanged. It does not check the members of objects.
func Valid(v any) bool { return isValue(v, 0) }

func isValue(v any, depth int) bool {
	switch v := v.(type) {
	case nil, string, float64, bool, *Object, Undefined, *Opaque:
		return true
	case []any:
		return depth < maxGoDepth && !slices.ContainsFunc(v, func(e any) bool { return !isValue(e, depth+1) })
	}
	return false
}

// number reads Go's number types.
func number(v any) (float64, bool) {
	if text, ok := v.(json.Number); ok {
		f, err := strconv.ParseFloat(string(text), 64)
		return f, err == nil || math.IsInf(f, 0)
	}
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid() || r.Type().PkgPath() != "": // a named type may be more than a number
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.Kind() == reflect.Float32:
		return shortest(float32(r.Float())), true
	}
	return 0, false
}

// shortest returns f as it is written: 0.1, not 0.10000000149011612.
func shortest(f float32) float64 {
	n, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return float64(f)
	}
	return n
}

// fromGo converts types that need no reflection. member converts their members.
func fromGo(v any, member func(any) any) (any, bool) {
	if f, ok := number(v); ok {
		return f, true
	}
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = member(e)
		}
		return list, true
	case []string:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = e
		}
		return list, true
	case []byte:
		return string(v), true
	case map[string]any:
		o := NewObject(len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			o.Set(key, member(v[key]))
		}
		return o, true
	}
	return nil, false
}

// reflected converts types that fromGo does not know.
func (c *conversion) reflected(v any) any {
	_, own := v.(json.Marshaler)
	r := reflect.ValueOf(v)
	switch kind := r.Kind(); {
	case own:
	case r.CanInt():
		return float64(r.Int())
	case r.CanUint():
		return float64(r.Uint())
	case kind == reflect.Float32:
		return shortest(float32(r.Float()))
	case kind == reflect.Float64:
		return r.Float()
	case kind == reflect.String:
		return r.String()
	case kind == reflect.Bool:
		return r.Bool()
	case kind == reflect.Pointer && r.IsNil():
		return nil
	case kind == reflect.Pointer:
		return c.value(r.Elem().Interface())
	case kind == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8:
		return string(r.Bytes())
	case kind == reflect.Slice, kind == reflect.Array:
		list := make([]any, r.Len())
		for i := range list {
			list[i] = c.value(r.Index(i).Interface())
		}
		return list
	case kind == reflect.Map && r.Type().Key().Kind() == reflect.String:
		members := make(map[string]any, r.Len())
		for it := r.MapRange(); it.Next(); {
			members[it.Key().String()] = it.Value().Interface()
		}
		o, _ := fromGo(members, c.value)
		return o
	}
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	parsed, err := ParseJSON(string(text))
	if err != nil {
		return v
	}
	return parsed
}
