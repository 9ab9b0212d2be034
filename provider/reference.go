package provider

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// withFiles are the settings in which file:// references are resolved: those
// with schemas and tool definitions. Their texts, and those of templated, are
// templates over the variables of the case, as in promptfoo.
var withFiles = [...]string{
	"tools", "functions", "tool_choice", "response_format", "responseSchema", "response_schema", "generationConfig",
	"text", "output_format", "output_config", "format", "systemInstruction", "instructions", "toolConfig",
}

// templated are the other settings whose texts are templates.
var templated = [...]string{"reasoning", "reasoning_effort"}

// schemas are the settings whose files are templates, too. A tool definition
// may contain braces, so files of tools are not.
var schemas = [...]string{"response_format", "responseSchema", "response_schema", "output_format", "output_config", "format", "text", "generationConfig"}

// maxReferences bounds how deep files may refer to other files.
const maxReferences = 20

// filler resolves references to files and templates in the settings of a model.
// It is safe for concurrent use.
type filler struct {
	files     proviso.Files
	templates Templates // nil renders none

	mu   sync.Mutex
	read map[fileOf]any // contents of the files that were read
}

// fileOf is a file, and whether its texts are templates.
type fileOf struct {
	name      string
	templates bool
}

// maxRead bounds how many files are kept in memory.
const maxRead = 256

// prepare resolves everything that does not depend on a case. It returns the
// settings with their files, and the names of the settings that need the
// variables of a case. If check is set, templates that cannot be rendered are
// an error.
func (f *filler) prepare(cfg *value.Object, check bool) (out *value.Object, late []string, err error) {
	out = cfg
	set := func(name string, v any) {
		if out == cfg {
			out = cfg.Clone()
		}
		out.Set(name, v)
	}
	for _, name := range withFiles {
		v, ok := cfg.Get(name)
		if !ok || !f.refers(v) {
			continue
		}
		loaded, err := f.load(v, slices.Contains(schemas[:], name), 0)
		if err != nil {
			return nil, nil, err
		}
		set(name, loaded)
	}
	for _, name := range slices.Concat(withFiles[:], templated[:]) {
		v, ok := out.Get(name)
		switch {
		case !ok:
		case f.templates != nil && hasTemplate(v):
			if check {
				err = f.check(v)
			}
			if err != nil {
				return nil, nil, proviso.Errorf(proviso.Invalid, "config.%s: %w", name, err)
			}
			late = append(late, name)
		case hasLiteral(v):
			set(name, unwrap(v))
		}
	}
	return out, late, nil
}

// check finds templates that cannot be rendered, as far as that is known
// without a case.
func (f *filler) check(v any) error {
	checker, ok := f.templates.(interface{ Check(text string) error })
	if !ok {
		return nil
	}
	var err error
	hasText(v, func(text string) bool {
		if isTemplate(text) {
			err = checker.Check(text)
		}
		return err != nil
	})
	return err
}

// fill renders the templates of a setting once. The value of a variable, such as a model's answer,
// is never treated as a template or a file name.
func (f *filler) fill(ctx context.Context, v any, vars *value.Object, depth int) (any, error) {
	return rendered(v, depth, func(text string, depth int) (any, error) { return f.fillText(ctx, text, vars, depth) })
}

func (f *filler) fillText(ctx context.Context, text string, vars *value.Object, depth int) (any, error) {
	if !isTemplate(text) {
		return text, nil
	}
	out, err := f.templates.Render(ctx, text, vars)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(text, "file://") {
		name := strings.TrimPrefix(out, "file://")
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, proviso.Errorf(proviso.Refused, "file://%s: a name that variables make stays below the folder of the suite", name)
		}
		v, err := f.loadFile(name, true, 0)
		if err != nil {
			return nil, err
		}
		return f.fill(ctx, v, vars, depth+1)
	}
	return parsed(out), nil
}

// refers reports whether v contains a file reference that does not depend on the variables of a
// case.
func (f *filler) refers(v any) bool {
	return hasText(v, func(text string) bool {
		return strings.HasPrefix(text, "file://") && (f.templates == nil || !isTemplate(text))
	})
}

// hasTemplate reports whether v contains a template.
func hasTemplate(v any) bool { return hasText(v, isTemplate) }

// hasText reports whether v contains a text that satisfies is.
func hasText(v any, is func(string) bool) bool {
	return has(v, func(leaf any) bool {
		text, ok := leaf.(string)
		return ok && is(text)
	})
}

func hasLiteral(v any) bool {
	return has(v, func(leaf any) bool {
		_, ok := leaf.(literalValue)
		return ok
	})
}

// has reports whether v contains a value, neither a list nor an object, that satisfies is.
func has(v any, is func(leaf any) bool) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return has(e, is) })
	case *value.Object:
		for _, e := range v.All() {
			if has(e, is) {
				return true
			}
		}
		return false
	}
	return is(v)
}

// unwrap removes the marks of literal values.
func unwrap(v any) any {
	switch v := v.(type) {
	case literalValue:
		return v.v
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = unwrap(e)
		}
		return out
	case *value.Object:
		out := value.NewObject(v.Len())
		for k, e := range v.All() {
			out.Set(k, unwrap(e))
		}
		return out
	}
	return v
}

// load replaces references by the contents of the files. The contents are marked as literal, unless
// the setting allows templates.
func (f *filler) load(v any, templates bool, depth int) (any, error) {
	if depth > maxReferences {
		return nil, proviso.Errorf(proviso.Limit, "file references are nested more than %d deep", maxReferences)
	}
	switch v := v.(type) {
	case string:
		name, ok := strings.CutPrefix(v, "file://")
		if !ok || f.templates != nil && isTemplate(v) {
			return v, nil
		}
		return f.loadFile(name, templates, depth)
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			loaded, err := f.load(e, templates, depth+1)
			if err != nil {
				return nil, err
			}
			if inner, ok := listIn(loaded); ok && f.refers(e) { // a list item that is a file with several tools
				out = append(out, inner...)
				continue
			}
			out = append(out, loaded)
		}
		return out, nil
	case *value.Object:
		out := value.NewObject(v.Len())
		for k, e := range v.All() {
			loaded, err := f.load(e, templates, depth+1)
			if err != nil {
				return nil, err
			}
			out.Set(k, loaded)
		}
		return out, nil
	}
	return v, nil
}

// listIn returns the members of a list, each with the mark of the list.
func listIn(v any) ([]any, bool) {
	marked, ok := v.(literalValue)
	if !ok {
		l, ok := v.([]any)
		return l, ok
	}
	inner, ok := marked.v.([]any)
	out := make([]any, len(inner))
	for i, e := range inner {
		out[i] = literalValue{e}
	}
	return out, ok
}

// loadFile reads a file once for all requests.
func (f *filler) loadFile(name string, templates bool, depth int) (any, error) {
	key := fileOf{name, templates}
	f.mu.Lock()
	v, ok := f.read[key]
	f.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := f.readFile(name, templates, depth)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read == nil || len(f.read) >= maxRead {
		f.read = map[fileOf]any{}
	}
	f.read[key] = v
	return v, nil
}

func (f *filler) readFile(name string, templates bool, depth int) (any, error) {
	if f.files == nil {
		return nil, proviso.Errorf(proviso.Refused, "file://%s: files may not be read", name)
	}
	data, err := f.files.ReadFile(name)
	if err != nil {
		return nil, proviso.Errorf(cmp.Or(proviso.CodeOf(err), proviso.NotFound), "file://%s: %w", name, err)
	}
	mark := func(v any) any {
		if templates || !hasTemplate(v) {
			return v
		}
		return literalValue{unwrap(v)}
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
	case ".js", ".ts", ".mjs", ".cjs", ".py":
		return nil, proviso.Errorf(proviso.Unsupported, "file://%s: settings of a provider cannot come from code", name)
	default:
		return mark(strings.TrimSpace(string(data))), nil
	}
	doc, err := document.ParseYAML(name, data)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%s: %w", name, err)
	}
	v, err := f.load(doc.Root, templates, depth+1)
	if err != nil {
		return nil, err
	}
	return mark(v), nil
}
