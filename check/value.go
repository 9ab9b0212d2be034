package check

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// operand is the value to compare with: known when the assertion is compiled, or
// computed for each row.
type operand struct {
	static any
	// dynamic computes the value for one row; nil if static is the value.
	dynamic func(ctx context.Context, s *Subject) (any, error)
	traced  bool     // the code that makes it uses the trace
	uses    []string // variables that its templates print
}

// value reads a.Value: loads files, finds templates, checks their syntax.
func (c *Compiler) value(a *proviso.Assertion, k *Kind) (operand, error) {
	switch v := a.Value.(type) {
	case string:
		if !computed(v) {
			return operand{static: a.Value}, nil
		}
		return c.textValue(a, k, v)
	case []any:
		return c.listValue(a, v)
	case *value.Object:
		return c.amountValue(k, v)
	}
	if a.Value == nil && !k.Empty {
		return operand{static: value.Undefined{}}, nil
	}
	return operand{static: a.Value}, nil
}

// asTexts converts the members of a list to texts.
func asTexts(list []any) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = value.ToString(e)
	}
	return out
}

// computed reports whether a text may stand for another value: a file, a package, or
// a template.
func computed(text string) bool {
	return strings.HasPrefix(text, "file://") || strings.HasPrefix(text, "package:") || hasTemplate(text)
}

func (c *Compiler) textValue(a *proviso.Assertion, k *Kind, text string) (operand, error) {
	if name, ok := strings.CutPrefix(text, "file://"); ok {
		if k.Needs&TakesCode != 0 {
			return operand{static: text}, nil
		}
		return c.fileValue(a, name)
	}
	if strings.HasPrefix(text, "package:") {
		return operand{}, proviso.Errorf(proviso.Unsupported, "values from npm packages (%s) are not supported in this version", text)
	}
	if !hasTemplate(text) {
		return operand{static: text}, nil
	}
	uses, err := c.checkTemplate(text)
	if err != nil {
		return operand{}, err
	}
	return operand{uses: uses, dynamic: func(ctx context.Context, s *Subject) (any, error) {
		return c.Templates.Render(ctx, text, s.Row.Vars)
	}}, nil
}

func (c *Compiler) listValue(a *proviso.Assertion, list []any) (operand, error) {
	if !slices.ContainsFunc(list, func(e any) bool { text, ok := e.(string); return ok && computed(text) }) {
		return operand{static: a.Value}, nil
	}
	members := make([]operand, len(list))
	dynamic, traced, uses := false, false, []string(nil)
	for i, e := range list {
		members[i] = operand{static: e}
		if text, ok := e.(string); ok {
			m, err := c.textValue(a, &Kind{}, text)
			if err != nil {
				return operand{}, err
			}
			members[i] = m
			dynamic = dynamic || m.dynamic != nil
			traced = traced || m.traced
			uses = append(uses, m.uses...)
		}
	}
	made := func(ctx context.Context, s *Subject) (any, error) {
		out := make([]any, len(members))
		for i, m := range members {
			out[i] = m.static
			if m.dynamic != nil {
				v, err := m.dynamic(ctx, s)
				if err != nil {
					return nil, err
				}
				out[i] = v
			}
		}
		return out, nil
	}
	if dynamic {
		return operand{dynamic: made, traced: traced, uses: uses}, nil
	}
	v, _ := made(context.Background(), nil) // it has no parts that are made per row
	return operand{static: v}, nil
}

// amountValue is an object of a type that counts: its numbers may be templates over the
// variables of the case, such as {max: "{{ limit }}"}, and so may the text to count.
func (c *Compiler) amountValue(k *Kind, o *value.Object) (operand, error) {
	if !k.Coerced {
		return operand{static: o}, nil
	}
	numbers, templates, uses := strings.Fields(k.Numbers), []string{}, []string(nil)
	for key, v := range o.All() {
		text, ok := v.(string)
		if !ok || !hasTemplate(text) || key != "text" && !slices.Contains(numbers, key) {
			continue
		}
		names, err := c.checkTemplate(text)
		if err != nil {
			return operand{}, err
		}
		templates, uses = append(templates, key), append(uses, names...)
	}
	if len(templates) == 0 {
		return operand{static: o}, nil
	}
	return operand{uses: uses, dynamic: func(ctx context.Context, s *Subject) (any, error) {
		made := o.Clone()
		for _, key := range templates {
			text, err := c.Templates.Render(ctx, o.Text(key), s.Row.Vars)
			if err != nil {
				return nil, err
			}
			made.Set(key, text)
			if key == "text" {
				continue
			}
			f := value.ToNumber(text)
			if f != f || value.TrimSpace(text) == "" {
				return nil, proviso.Errorf(proviso.Undecided, "%s of %q must be a number, found %s", key, k.Type, value.Stringify(text))
			}
			made.Set(key, f)
		}
		return made, nil
	}}, nil
}

// fileValue loads the value from a file, or compiles the script that makes it. The
// content of the file is not a template.
func (c *Compiler) fileValue(a *proviso.Assertion, name string) (operand, error) {
	if file, entry := splitEntry(name); LanguageOf(file) != "" {
		return c.scriptValue(a, scriptFile{language: LanguageOf(file), file: file, entry: entry, standard: verdictEntry})
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		v, err := c.readData(name)
		return operand{static: v}, err
	case ".txt":
		data, err := c.readFile(name)
		return operand{static: value.TrimSpace(string(data))}, err
	}
	return operand{}, &proviso.Error{
		Code:    proviso.Invalid,
		Message: "a value cannot be read from " + name + ": expected a .json, .yaml, .yml, .txt or script file",
		Valid:   []string{".json", ".yaml", ".yml", ".txt", ".js", ".ts", ".py", ".rb"},
	}
}

// scriptValue is a file whose function returns the value to compare with.
func (c *Compiler) scriptValue(a *proviso.Assertion, script scriptFile) (operand, error) {
	fn, traced, err := c.compileFile(script)
	if err != nil {
		return operand{}, err
	}
	return operand{traced: traced, dynamic: func(ctx context.Context, s *Subject) (any, error) {
		second := scriptContext(a, s)
		if traced {
			if err := c.addTrace(ctx, second, s, a.Type); err != nil {
				return nil, err
			}
		}
		v, err := fn.Call(ctx, s.Value, second)
		if err != nil {
			return nil, proviso.Errorf(proviso.Undecided, "value from %s: %w", script.file, err)
		}
		switch v := v.(type) {
		case bool, *value.Opaque, value.Undefined, nil:
			return nil, proviso.Errorf(proviso.Undecided, "%s returned %s; as the value of %q it must return what to compare with", script.file, kindOf(v), a.Type)
		case *value.Object:
			if v.Has("pass") || v.Has("pass_") {
				return nil, proviso.Errorf(proviso.Undecided, "%s returned a verdict; as the value of %q it must return what to compare with (for a verdict use type: %s)", script.file, a.Type, script.language)
			}
		}
		return v, nil
	}}, nil
}

func (c *Compiler) readFile(name string) ([]byte, error) {
	if c.Files == nil {
		return nil, proviso.Errorf(proviso.Refused, "%s: files may not be read", name)
	}
	return c.Files.ReadFile(name)
}

// readData reads a file of JSON or YAML.
func (c *Compiler) readData(name string) (any, error) {
	data, err := c.readFile(name)
	if err != nil {
		return nil, err
	}
	doc, err := document.ParseYAML(name, data)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%w", err)
	}
	return doc.Root, nil
}

// hasTemplate reports whether text contains the start of a nunjucks tag.
func hasTemplate(text string) bool {
	for i := 0; ; i += 2 {
		at := strings.IndexByte(text[i:], '{')
		if at < 0 || i+at+1 >= len(text) {
			return false
		}
		i += at
		if c := text[i+1]; c == '{' || c == '%' || c == '#' {
			return true
		}
		i--
	}
}

// checkTemplate returns the variables that a template prints, as far as they are known.
func (c *Compiler) checkTemplate(text string) (uses []string, err error) {
	if c.Templates == nil {
		return nil, proviso.Errorf(proviso.Unavailable, "templates cannot be rendered: no template engine is available")
	}
	if err := c.Templates.Check(text); err != nil {
		return nil, err
	}
	uses, _ = c.Templates.Needs(text) // not every template can be part of a question
	return uses, nil
}
