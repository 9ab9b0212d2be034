package assertion

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// Text returns a text, or reports a value of another kind. Null counts as absent.
func (d *Decoder) Text(at string, v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	}
	d.Mistake(at, "expected a text, got %s", kind.Shown(v))
	return ""
}

// Label returns a text that is a name. A number or a boolean is valid too, because
// YAML reads names such as 2024 and true as these.
func (d *Decoder) Label(at string, v any) string {
	switch v := v.(type) {
	case float64, bool:
		return value.ToString(v)
	default:
		return d.Text(at, v)
	}
}

// Flag returns a boolean, or reports a value of another kind. Null counts as false.
func (d *Decoder) Flag(at string, v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case nil:
		return false
	}
	d.Mistake(at, "expected true or false, got %s", kind.Shown(v))
	return false
}

// Object returns an object, or nil after reporting a value of another kind.
func (d *Decoder) Object(at string, v any) *value.Object {
	switch v := v.(type) {
	case *value.Object:
		return v
	case nil:
		return nil
	}
	d.Mistake(at, "expected an object, got %s", kind.Shown(v))
	return nil
}

// number returns a number, or nil after reporting a value of another kind.
func (d *Decoder) number(at string, v any) *float64 {
	f, ok := v.(float64)
	switch {
	case ok:
		return &f
	case v != nil:
		d.Mistake(at, "expected a number, got %s", kind.Shown(v))
	}
	return nil
}

// oneOf returns one of the valid texts.
func (d *Decoder) oneOf(at string, v any, valid []string) string {
	s := d.Text(at, v)
	if s == "" || d.unchecked || len(valid) == 0 || slices.Contains(valid, s) {
		return s
	}
	e := proviso.Errorf(proviso.Invalid, "expected one of %s, got %q", strings.Join(valid, ", "), s)
	e.Pointer, e.Valid, e.Warning = at, document.Suggest(s, valid), d.Lenient
	d.Failed = d.Failed || !d.Lenient
	d.Report(e)
	return ""
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
