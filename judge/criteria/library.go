package criteria

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// Limits on the templates of a [Library]: they come from a server's clients.
const (
	maxTemplates    = 100
	maxParts        = 20      // per template
	maxTemplateText = 4000    // bytes per part
	maxFilled       = 8000    // bytes per part after filling in
	maxAllFilled    = 8 << 20 // bytes of all parts that one library fills in
	maxPlaceholders = 20      // per part
)

// Library holds the shipped templates and a client's own. It belongs to one request, and
// is safe for concurrent use.
type Library struct {
	own    map[string]*Template
	source *value.Object // the value that own was read from
	filled atomic.Int64  // bytes filled in so far
}

// templateName matches a template name.
var templateName = pattern.Of(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// ReadLibrary reads templates by name, each in the form of the shipped ones. pointer is
// the pointer of o. Each mistake has the pointer of its template. If there are mistakes,
// the library is nil.
func ReadLibrary(o *value.Object, pointer string) (*Library, []*proviso.Error) {
	var mistakes []*proviso.Error
	l := &Library{own: map[string]*Template{}, source: o}
	if n := o.Len(); n > maxTemplates {
		return nil, []*proviso.Error{withPointer(proviso.Errorf(proviso.Limit, "%d templates, and at most %d are allowed", n, maxTemplates), pointer)}
	}
	for name, v := range o.All() {
		t, err := ownTemplate(name, v)
		if err != nil {
			mistakes = append(mistakes, withPointer(proviso.Errorf(proviso.Invalid, "%s", err.Error()), document.Join(pointer, name)))
			continue
		}
		l.own[name] = t
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return l, nil
}

// MarshalJSON returns the client's own templates by name.
func (l *Library) MarshalJSON() ([]byte, error) { return value.AppendJSON(nil, l.source), nil }

// UnmarshalJSON reads the output of MarshalJSON. It returns the first mistake in the
// templates.
func (l *Library) UnmarshalJSON(data []byte) error {
	v, err := value.ParseJSON(string(data))
	if err != nil {
		return err
	}
	o, ok := v.(*value.Object)
	if !ok {
		return fmt.Errorf("templates have to be an object")
	}
	read, mistakes := ReadLibrary(o, "")
	if len(mistakes) > 0 {
		return mistakes[0]
	}
	l.own, l.source = read.own, read.source
	return nil
}

// ownTemplate reads one of the client's own templates.
func ownTemplate(name string, v any) (*Template, error) {
	o, ok := v.(*value.Object)
	switch {
	case !templateName.Matches(name) || len(name) > 100:
		return nil, fmt.Errorf("the name of a template has up to 100 letters in lower case, digits and dashes between them, not %q", document.Excerpt(name))
	case templates()[name] != nil:
		return nil, fmt.Errorf("a shipped template is called %q; give this one another name", name)
	case !ok:
		return nil, fmt.Errorf("the template %q has to be an object {doc, params, parts}", name)
	}
	t, err := templateOf(name, o)
	if err != nil {
		return nil, err
	}
	if len(t.parts) > maxParts {
		return nil, fmt.Errorf("the template %q has %d parts, and at most %d are allowed", name, len(t.parts), maxParts)
	}
	for i := range t.parts {
		switch t.parts[i].value.(type) {
		case nil, string, bool, float64:
		default:
			return nil, fmt.Errorf("part %d of the template %q: if compares with a text, a number, true or false", i+1, name)
		}
		text := t.parts[i].text + value.Stringify(t.parts[i].check)
		if len(text) > maxTemplateText || len(placeholder.Get().FindAllString(text, maxPlaceholders+1)) > maxPlaceholders {
			return nil, fmt.Errorf("part %d of the template %q has more than %d bytes or %d placeholders", i+1, name, maxTemplateText, maxPlaceholders)
		}
	}
	return t, nil
}

// Expand is [Expand] with the templates of the library. A nil library has only the
// shipped ones.
func (l *Library) Expand(c proviso.Criterion, pointer string) ([]Part, []*proviso.Error) {
	if l == nil || c.Template == "" {
		return Expand(c, pointer)
	}
	tooLong := func(name string) ([]Part, []*proviso.Error) {
		return nil, []*proviso.Error{withPointer(proviso.Errorf(proviso.Limit, "the template %q becomes too long with these parameters", name), pointer)}
	}
	name, params, err := inlineParams(c)
	own := err == nil && l.own[name] != nil
	if own && len(value.Stringify(params)) > maxFilled {
		return tooLong(name)
	}
	parts, wrong := expand(c, pointer, l.find, l.names)
	if len(wrong) > 0 || !own {
		return parts, wrong
	}
	for _, p := range parts {
		size := len(p.Text)
		if p.Check != nil {
			size += len(value.Stringify(p.Check.Raw))
		}
		if size > maxFilled || l.filled.Add(int64(size)) > maxAllFilled {
			return tooLong(name)
		}
	}
	return parts, nil
}

func (l *Library) find(name string) *Template {
	if t := l.own[name]; t != nil {
		return t
	}
	return templates()[name]
}

// names returns the names of all templates, the client's own first.
func (l *Library) names() []string {
	return append(slices.Sorted(maps.Keys(l.own)), shippedNames()...)
}

// shippedNames returns the names of the shipped templates, sorted.
func shippedNames() []string { return slices.Sorted(maps.Keys(templates())) }
