package suite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// text returns a text, or reports a value of another kind. Null counts as absent.
func (d *decoder) text(at string, v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	}
	d.mistake(at, "expected a text, got %s", kindOf(v))
	return ""
}

// label returns a text that is a name. A number or a boolean is valid too, because
// YAML reads names such as 2024 and true as these.
func (d *decoder) label(at string, v any) string {
	switch v := v.(type) {
	case float64, bool:
		return value.ToString(v)
	default:
		return d.text(at, v)
	}
}

func (d *decoder) flag(at string, v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case nil:
		return false
	}
	d.mistake(at, "expected true or false, got %s", kindOf(v))
	return false
}

// object returns an object, or nil after reporting a value of another kind.
func (d *decoder) object(at string, v any) *value.Object {
	switch v := v.(type) {
	case *value.Object:
		return v
	case nil:
		return nil
	}
	d.mistake(at, "expected an object, got %s", kindOf(v))
	return nil
}

func (d *decoder) oneOf(at string, v any, valid []string) string {
	s := d.text(at, v)
	if s == "" || slices.Contains(valid, s) {
		return s
	}
	e := proviso.Errorf(proviso.Invalid, "expected one of %s, got %q", strings.Join(valid, ", "), s)
	e.Pointer, e.Valid, e.Warning = at, nearest(s, valid), d.promptfoo
	d.failed = d.failed || !d.promptfoo
	d.report(e)
	return ""
}

// memberPointer returns the pointer of member i of the list at a pointer.
func memberPointer(at string, i int) string {
	var buf [48]byte
	b := append(append(buf[:0], at...), '/')
	return string(strconv.AppendInt(b, int64(i), 10))
}

// pointers returns the pointers of a list's members. They share one string.
type pointers struct {
	all  string
	head int // length of the list's own pointer, including the slash after it
}

func memberPointers(at string, n int) pointers {
	b := make([]byte, 0, n*(len(at)+4))
	for i := range n {
		b = append(b, at...)
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(i), 10)
	}
	return pointers{all: string(b), head: len(at) + 1}
}

// at returns the pointer of member i.
func (p pointers) at(i int) string {
	start, digits := 0, 1
	for low, width := 0, 10; ; {
		if i < width {
			start += (i - low) * (p.head + digits)
			return p.all[start : start+p.head+digits]
		}
		start += (width - low) * (p.head + digits)
		low, width, digits = width, width*10, digits+1
	}
}
