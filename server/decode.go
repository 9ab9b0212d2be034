package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// decode reads a body into the struct that dst points to. The OpenAPI document
// is generated from the same types by the same rules: a field is required
// unless its tag has omitempty, and unknown names are mistakes. All mistakes
// are reported at once.
func decode(ctx context.Context, data []byte, dst any) error {
	doc, err := parseBody(ctx, data)
	if err != nil {
		return err
	}
	return decodeDocument(doc, dst)
}

// reads returns the handler of a route with a body of type T. A missing body, where it is
// optional, is a zero T.
func reads[T any](handle func(*Server, *call, *T) error) func(*Server, *call) error {
	return func(s *Server, c *call) error {
		in := new(T)
		if len(c.body) == 0 && c.route.Optional {
			return handle(s, c, in)
		}
		if err := c.read(in); err != nil {
			return err
		}
		return handle(s, c, in)
	}
}

// read decodes the body into the struct that dst points to.
func (c *call) read(dst any) error {
	return c.compute(func() (err error) {
		if c.doc, err = parseBody(c.r.Context(), c.body); err == nil {
			err = decodeDocument(c.doc, dst)
		}
		return err
	})
}

// decodeObject parses a body that must be an object.
func decodeObject(ctx context.Context, data []byte) (*document.Document, *value.Object, error) {
	doc, err := parseBody(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	o, ok := doc.Root.(*value.Object)
	if !ok {
		return nil, nil, invalid([]Mistake{{Code: proviso.Invalid, Message: "the body has to be an object, not " + kindOf(doc.Root)}})
	}
	return doc, o, nil
}

// decodeDocument decodes a parsed body into the struct that dst points to.
func decodeDocument(doc *document.Document, dst any) error {
	d := decoder{}
	d.value("", doc.Root, reflect.ValueOf(dst).Elem())
	if len(d.mistakes) > 0 {
		return d.problem(doc)
	}
	return nil
}

// parseBody reads JSON text.
func parseBody(ctx context.Context, data []byte) (*document.Document, error) {
	if !utf8.Valid(data) {
		return nil, problem(proviso.Invalid, "the body is not UTF-8: "+firstInvalid(data))
	}
	if len(strings.TrimSpace(string(data[:min(len(data), 64)]))) == 0 && len(data) <= 64 {
		return nil, problem(codeMalformed, "the body is empty; a JSON object is expected")
	}
	doc, err := document.ParseRequest(ctx, "body", data)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, value.ErrTooMany):
		return nil, proviso.Errorf(proviso.Limit, "%w", err)
	case err != nil:
		return nil, syntaxProblem(err)
	}
	return doc, nil
}

// firstInvalid describes the first byte that is not UTF-8.
func firstInvalid(data []byte) string {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("byte 0x%02x at offset %d", data[i], i)
		}
		i += n
	}
	return "" // unreachable: the caller found an invalid byte
}

// decoder assigns JSON values to Go values.
type decoder struct {
	mistakes []Mistake
	more     int // mistakes beyond maxMistakes
}

// problem is the problem of a body with mistakes.
func (d *decoder) problem(doc *document.Document) *Problem {
	d.place(doc)
	return invalid(d.mistakes, d.more)
}

// add records a mistake, or only counts it if there are too many.
func (d *decoder) add(m Mistake) {
	if len(d.mistakes) < maxMistakes {
		d.mistakes = append(d.mistakes, m)
		return
	}
	d.more++
}

func (d *decoder) mistake(pointer, format string, args ...any) {
	d.add(Mistake{Pointer: pointer, Code: proviso.Invalid, Message: fmt.Sprintf(format, args...)})
}

// place adds positions in the text to the mistakes.
func (d *decoder) place(doc *document.Document) {
	for i := range d.mistakes {
		at := doc.Place(d.mistakes[i].Pointer)
		d.mistakes[i].Line, d.mistakes[i].Column = at.Line, at.Column
	}
}

func (d *decoder) value(at string, v any, dst reflect.Value) {
	if _, is := dst.Interface().(*value.Object); is {
		if o, ok := v.(*value.Object); ok {
			dst.Set(reflect.ValueOf(o))
		} else {
			d.wants(at, "an object", v)
		}
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		if v == nil {
			return // null counts as missing
		}
		to := reflect.New(dst.Type().Elem())
		d.value(at, v, to.Elem())
		dst.Set(to)
	case reflect.Interface:
		if v != nil {
			dst.Set(reflect.ValueOf(v))
		}
	case reflect.Struct:
		d.object(at, v, dst)
	case reflect.Slice:
		d.list(at, v, dst)
	case reflect.Map:
		d.dict(at, v, dst)
	default:
		d.scalar(at, v, dst)
	}
}

func (d *decoder) scalar(at string, v any, dst reflect.Value) {
	number, isNumber := v.(float64)
	switch text, isText := v.(string); dst.Kind() {
	case reflect.String:
		if dst.SetString(text); !isText {
			d.wants(at, "text", v)
		}
	case reflect.Bool:
		is, ok := v.(bool)
		if dst.SetBool(is); !ok {
			d.wants(at, "true or false", v)
		}
	case reflect.Int, reflect.Int64:
		if dst.SetInt(int64(number)); !isNumber || number != math.Trunc(number) || math.Abs(number) >= 1<<53 {
			d.wants(at, "a whole number", v)
		}
	case reflect.Float64:
		if dst.SetFloat(number); !isNumber {
			d.wants(at, "a number", v)
		}
	}
}

// wants records what was expected instead of a value.
func (d *decoder) wants(at, what string, got any) {
	where := at
	if where == "" {
		where = "the body"
	}
	d.mistake(at, "%s has to be %s, not %s", where, what, kindOf(got))
}

// kindOf names the kind of a JSON value.
func kindOf(v any) string {
	if _, ok := v.(string); ok {
		return "text"
	}
	return kind.Of(v)
}

func (d *decoder) object(at string, v any, dst reflect.Value) {
	o, ok := v.(*value.Object)
	if !ok {
		d.wants(at, "an object", v)
		return
	}
	names, fields := fieldsOf(dst.Type())
	for key, member := range o.All() {
		i := slices.Index(names, key)
		if i < 0 {
			d.unknown(at, key, names)
			continue
		}
		if member == nil && fields[i].optional {
			continue
		}
		d.value(document.Join(at, key), member, dst.FieldByIndex(fields[i].index))
	}
	for i, name := range names {
		if !fields[i].optional && !o.Has(name) {
			d.mistake(at, "%s is missing", strconv.Quote(name))
		}
	}
}

// unknown records a member without a field.
func (d *decoder) unknown(at, key string, names []string) {
	if len(d.mistakes) >= maxMistakes {
		d.more++
		return
	}
	message, near := nearestTo("unknown field "+strconv.Quote(shortened(key)), key, names)
	d.add(Mistake{Pointer: document.Join(at, key), Code: proviso.Invalid, Message: message, Nearest: near, Valid: fewNames(names)})
}

// nearestTo suggests the nearest of the valid names in a message about an unknown name.
func nearestTo(message, name string, names []string) (with, near string) {
	return message + document.DidYouMean(name, names), document.Nearest(name, names)
}

// shortened cuts a client's text to 80 bytes for a message.
func shortened(s string) string { return excerpt.Bytes(s, 80) }

// field is a field of a struct, or of an embedded struct, with a JSON name.
type field struct {
	index    []int
	optional bool
}

// fieldsOf returns the JSON names of a struct's fields.
func fieldsOf(t reflect.Type) (names []string, fields []field) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		names = append(names, name)
		fields = append(fields, field{f.Index, strings.Contains(options, "omitempty")})
	}
	return names, fields
}

func (d *decoder) list(at string, v any, dst reflect.Value) {
	list, ok := v.([]any)
	if !ok {
		d.wants(at, "a list", v)
		return
	}
	out := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, e := range list {
		d.value(document.Join(at, i), e, out.Index(i))
	}
	dst.Set(out)
}

func (d *decoder) dict(at string, v any, dst reflect.Value) {
	o, ok := v.(*value.Object)
	if !ok {
		d.wants(at, "an object", v)
		return
	}
	out := reflect.MakeMapWithSize(dst.Type(), o.Len())
	for key, member := range o.All() {
		e := reflect.New(dst.Type().Elem()).Elem()
		d.value(document.Join(at, key), member, e)
		out.SetMapIndex(reflect.ValueOf(key), e)
	}
	dst.Set(out)
}
