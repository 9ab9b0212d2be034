// Package criteria holds the criteria that proviso ships as templates with parameters,
// and expands the criteria of an assertion into questions for the judge model and checks
// that need none.
package criteria

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// templateFiles hold one shipped template each. The name of a file is the name of its
// template; docs/criteria.md describes the format.
//
//go:embed templates/*.yaml
var templateFiles embed.FS

// Template is a shipped criterion with parameters. It becomes questions for the
// judge, deterministic checks, or both.
type Template struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"` // one line
	Params []Param  `json:"params"`
	OneOf  []string `json:"one_of,omitempty"` // parameters of which exactly one must be given; nil if there is no such rule

	parts []templatePart
}

// Param is one parameter of a [Template].
type Param struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"` // one of the Param types, such as [ParamInteger]
	Doc      string   `json:"doc"`  // one line
	Required bool     `json:"required,omitempty"`
	Default  any      `json:"default,omitempty"` // nil if there is none
	Values   []string `json:"values,omitempty"`  // valid values of a choice
	Min      *float64 `json:"min,omitempty"`     // minimum value; nil if there is none
}

// The types of parameters.
const (
	ParamText    = "text"
	ParamTexts   = "texts" // a list of texts; a single text is a list of one
	ParamInteger = "integer"
	ParamBoolean = "boolean"
	ParamChoice  = "choice" // one of Values
	ParamObject  = "object"
)

// Part is one part of a criterion: a question for the judge, or a check.
type Part = check.Part

// templatePart is a part with placeholders, and the condition under which it applies.
type templatePart struct {
	given, missing string // parameter that must be set, or must not be set
	name           string // parameter that must have the given value
	value          any
	text           string
	check          *value.Object
}

// templates returns every template by name. It skips invalid files; this package's tests
// find those.
var templates = sync.OnceValue(func() map[string]*Template {
	all := map[string]*Template{}
	entries, _ := templateFiles.ReadDir("templates")
	for _, e := range entries {
		data, _ := templateFiles.ReadFile(path.Join("templates", e.Name()))
		t, err := readTemplate(e.Name(), data)
		if err == nil {
			all[t.Name] = t
		}
	}
	return all
})

// Templates returns every shipped template, sorted by name.
func Templates() []Template {
	all := make([]Template, 0, len(templates()))
	for _, t := range templates() {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b Template) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Expand returns the parts of a criterion: its own text, or the filled-in parts of the
// template that it names. Mistakes have the given pointer, or one below it, and the valid
// names.
func Expand(c proviso.Criterion, pointer string) ([]Part, []*proviso.Error) {
	return expand(c, pointer, func(name string) *Template { return templates()[name] }, shippedNames)
}

// expand is [Expand] with a lookup function for templates.
func expand(c proviso.Criterion, pointer string, find func(name string) *Template, known func() []string) ([]Part, []*proviso.Error) {
	if c.Template == "" {
		return []Part{{Text: c.Text}}, nil
	}
	name, params, err := inlineParams(c)
	if err != nil {
		return nil, []*proviso.Error{withPointer(err, pointer+"/template")}
	}
	t := find(name)
	if t == nil {
		return nil, []*proviso.Error{{Code: proviso.Invalid, Pointer: pointer + "/template", Message: fmt.Sprintf("unknown template %q", name), Valid: known()}}
	}
	if c.Text != "" {
		return nil, []*proviso.Error{withPointer(proviso.Errorf(proviso.Invalid, "a criterion has a text or a template, not both"), pointer+"/text")}
	}
	values, mistakes := t.arguments(params, pointer)
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	var parts []Part
	for i := range t.parts {
		if p := &t.parts[i]; p.applies(values) {
			parts = append(parts, p.fill(values, pointer))
		}
	}
	return parts, nil
}

func withPointer(e *proviso.Error, pointer string) *proviso.Error {
	e.Pointer = pointer
	return e
}

// inlineParams splits `max-length {tokens: 1000}`, the short form of a template with its
// parameters in one text.
func inlineParams(c proviso.Criterion) (string, *value.Object, *proviso.Error) {
	name, rest, ok := strings.Cut(c.Template, "{")
	if !ok {
		return strings.TrimSpace(name), c.Params, nil
	}
	name = strings.TrimSpace(name)
	if c.Params != nil {
		return "", nil, proviso.Errorf(proviso.Invalid, "the parameters of %q are given both in the template and in params", name)
	}
	doc, err := document.ParseYAML("", []byte("{"+rest))
	if err != nil {
		return "", nil, proviso.Errorf(proviso.Invalid, "the parameters of %q are not a YAML mapping, such as {words: 100}: %s", name, strings.TrimPrefix(err.Error(), ":"))
	}
	params, ok := doc.Root.(*value.Object)
	if !ok {
		return "", nil, proviso.Errorf(proviso.Invalid, "the parameters of %q are not a mapping, such as {words: 100}", name)
	}
	return name, params, nil
}

// applies reports whether the part applies to these values.
func (p *templatePart) applies(values *value.Object) bool {
	switch {
	case p.given != "":
		return values.Has(p.given)
	case p.missing != "":
		return !values.Has(p.missing)
	case p.name != "":
		return values.At(p.name) == p.value
	}
	return true
}

// fill replaces the placeholders with the values. Placeholders in values are not
// replaced.
func (p *templatePart) fill(values *value.Object, pointer string) Part {
	if p.check == nil {
		return Part{Text: fillText(p.text, values)}
	}
	check, _ := fillValue(p.check, values).(*value.Object)
	return Part{Check: assertion.Of(check, pointer)}
}
