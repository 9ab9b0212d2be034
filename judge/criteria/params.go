package criteria

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

const (
	maxParamText = 2000 // characters per text
	maxParamList = 100  // members per list
)

// arguments checks a criterion's parameters and adds the defaults. pointer is the
// criterion's pointer.
func (t *Template) arguments(given *value.Object, pointer string) (*value.Object, []*proviso.Error) {
	var mistakes []*proviso.Error
	mistake := func(at, format string, args ...any) *proviso.Error {
		e := proviso.Errorf(proviso.Invalid, format, args...)
		e.Pointer = at
		mistakes = append(mistakes, e)
		return e
	}
	values := value.NewObject(len(t.Params))
	for name, v := range given.All() {
		i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == name })
		where := document.Join(pointer+"/params", name)
		if i < 0 {
			mistake(where, "there is no parameter %q of the template %q%s", name, t.Name, t.has()).Valid = t.names()
			continue
		}
		if v == nil {
			continue // null means absent
		}
		v, want := t.Params[i].read(v)
		if want != "" {
			mistake(where, "%s of the template %q is %s, not %s", name, t.Name, want, excerpt.Runes(value.Stringify(given.At(name)), 60)).Valid = t.Params[i].Values
			continue
		}
		values.Set(name, v)
	}
	if len(mistakes) == 0 {
		t.complete(values, func(format string, args ...any) { mistake(pointer, format, args...) })
	}
	return values, mistakes
}

// complete reports missing parameters and parameters that exclude each other, and adds
// the defaults.
func (t *Template) complete(values *value.Object, mistake func(format string, args ...any)) {
	for i := range t.Params {
		p := &t.Params[i]
		switch {
		case values.Has(p.Name):
		case p.Required:
			mistake("the template %q needs the parameter %q: %s", t.Name, p.Name, p.Doc)
		case p.Default != nil:
			values.Set(p.Name, p.Default)
		}
	}
	if t.OneOf == nil {
		return
	}
	n := 0
	for _, name := range t.OneOf {
		if values.Has(name) {
			n++
		}
	}
	if n != 1 {
		mistake("the template %q needs exactly one of %s, found %d", t.Name, strings.Join(t.OneOf, ", "), n)
	}
}

func (t *Template) names() []string {
	names := make([]string, len(t.Params))
	for i, p := range t.Params {
		names[i] = p.Name
	}
	return names
}

func (t *Template) has() string {
	if len(t.Params) == 0 {
		return "; it has none"
	}
	return "; it has " + strings.Join(t.names(), ", ")
}

// read converts a value to the parameter's type, or returns a description of the expected
// type. A text that contains a template of the suite is valid for any number, because it
// is rendered with the variables of each case.
func (p *Param) read(v any) (any, string) {
	switch p.Type {
	case ParamText:
		return p.text(v)
	case ParamTexts:
		return p.texts(v)
	case ParamInteger:
		return p.integer(v)
	case ParamBoolean:
		if b, ok := v.(bool); ok {
			return b, ""
		}
		return nil, "true or false"
	case ParamChoice:
		if s, ok := v.(string); ok && slices.Contains(p.Values, s) {
			return s, ""
		}
		return nil, "one of " + strings.Join(p.Values, ", ")
	}
	if s, ok := v.(string); ok && strings.HasPrefix(s, "file://") {
		return s, ""
	}
	if _, ok := v.(*value.Object); ok {
		return v, ""
	}
	return nil, "an object, or file://"
}

func (p *Param) text(v any) (any, string) {
	const want = "a text"
	s, ok := v.(string)
	if f, number := v.(float64); number {
		s, ok = value.FormatNumber(f), true
	}
	switch {
	case !ok || value.TrimSpace(s) == "":
		return nil, want
	case len([]rune(s)) > maxParamText:
		return nil, fmt.Sprintf("a text of at most %d characters", maxParamText)
	}
	return strings.TrimSpace(s), ""
}

func (p *Param) texts(v any) (any, string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) == 0 || len(list) > maxParamList {
		return nil, fmt.Sprintf("a list of 1 to %d texts", maxParamList)
	}
	out := make([]any, len(list))
	for i, e := range list {
		s, want := p.text(e)
		if want != "" {
			return nil, "a list of texts"
		}
		out[i] = s
	}
	return out, ""
}

func (p *Param) integer(v any) (any, string) {
	want := "a whole number"
	if p.Min != nil {
		want += " from " + value.FormatNumber(*p.Min)
	}
	f, ok := v.(float64)
	if s, text := v.(string); text {
		if strings.Contains(s, "{{") {
			return s, ""
		}
		f, ok = value.ToNumber(s), strings.TrimSpace(s) != ""
	}
	if !ok || f != math.Trunc(f) || p.Min != nil && f < *p.Min || math.Abs(f) > 1<<53 {
		return nil, want
	}
	return f, ""
}
