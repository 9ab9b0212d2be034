package criteria

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

// paramTypes are the types of parameters, sorted.
var paramTypes = []string{ParamBoolean, ParamChoice, ParamInteger, ParamObject, ParamText, ParamTexts}

// readTemplate reads the file of one template.
func readTemplate(file string, data []byte) (*Template, error) {
	doc, err := document.ParseYAML(file, data)
	if err != nil {
		return nil, err
	}
	o, _ := doc.Root.(*value.Object)
	return templateOf(strings.TrimSuffix(path.Base(file), ".yaml"), o)
}

// templateOf reads a template with a name.
func templateOf(name string, o *value.Object) (*Template, error) {
	if err := document.OnlyKeys(o, "doc", "params", "one-of", "parts"); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &Template{Name: name, Params: []Param{}}
	t.Doc = o.Text("doc")
	params, _ := o.At("params").(*value.Object)
	for param, v := range params.All() {
		p, err := readParam(param, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.Params = append(t.Params, p)
	}
	t.OneOf = textlist.Of(o.At("one-of"))
	parts, _ := o.At("parts").([]any)
	for i, v := range parts {
		p, err := t.readPart(v)
		if err != nil {
			return nil, fmt.Errorf("%s: part %d: %w", name, i+1, err)
		}
		t.parts = append(t.parts, p)
	}
	return t, t.sound()
}

// sound reports whether a template is complete.
func (t *Template) sound() error {
	switch {
	case t.Doc == "":
		return fmt.Errorf("%s: no doc", t.Name)
	case len(t.parts) == 0:
		return fmt.Errorf("%s: no parts", t.Name)
	}
	for _, name := range t.OneOf {
		if !slices.Contains(t.names(), name) {
			return fmt.Errorf("%s: one-of names no parameter: %s", t.Name, name)
		}
	}
	return nil
}

func readParam(name string, v any) (Param, error) {
	o, _ := v.(*value.Object)
	if err := document.OnlyKeys(o, "type", "doc", "required", "default", "values", "min"); err != nil {
		return Param{}, fmt.Errorf("parameter %q: %w", name, err)
	}
	p := Param{Name: name, Values: textlist.Of(o.At("values"))}
	p.Type = o.Text("type")
	p.Doc = o.Text("doc")
	p.Required, _ = o.At("required").(bool)
	if least, ok := o.At("min").(float64); ok {
		p.Min = &least
	}
	if !slices.Contains(paramTypes, p.Type) || p.Doc == "" || !regexp.MustCompile(`^\w+$`).MatchString(name) {
		return p, fmt.Errorf("parameter %q needs a doc and one of the types %s", name, strings.Join(paramTypes, ", "))
	}
	if d, ok := o.Get("default"); ok {
		var want string
		if p.Default, want = p.read(d); want != "" {
			return p, fmt.Errorf("the default of %q is not %s", name, want)
		}
	}
	return p, nil
}

func (t *Template) readPart(v any) (templatePart, error) {
	o, _ := v.(*value.Object)
	var p templatePart
	if err := document.OnlyKeys(o, "given", "missing", "if", "text", "check"); err != nil {
		return p, err
	}
	p.given = o.Text("given")
	p.missing = o.Text("missing")
	p.text = o.Text("text")
	p.check, _ = o.At("check").(*value.Object)
	condition, _ := o.At("if").(*value.Object)
	for name, value := range condition.All() {
		p.name, p.value = name, value
	}
	if (p.text == "") == (p.check == nil) {
		return p, fmt.Errorf("it has either a text or a check")
	}
	names := append(placeholder.Get().FindAllStringSubmatch(p.text+value.Stringify(p.check), -1), []string{"", p.given}, []string{"", p.missing}, []string{"", p.name})
	for _, m := range names {
		if m[1] != "" && !slices.Contains(t.names(), m[1]) {
			return p, fmt.Errorf("there is no parameter %q", m[1])
		}
	}
	return p, nil
}
