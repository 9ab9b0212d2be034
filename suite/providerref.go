package suite

import (
	"path"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// providerRef decodes the provider of a case or an assertion: an id, an object, or a
// file that holds one.
func (d *decoder) providerRef(at string, v any) any {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "file://"); ok && isProviderFile(name) && d.trust == nil && d.load != nil {
			return d.providerFile(at, name)
		}
		return v
	case *value.Object, nil:
		return v
	default:
		d.mistake(at, "expected a provider id, or {id, config}, got %s", kindOf(v))
		return nil
	}
}

// grader decodes the provider of an assertion. The type checks values of other kinds.
func (d *decoder) grader(at string, v any) any {
	if name, ok := v.(string); ok {
		return d.providerRef(at, name)
	}
	return v
}

// isProviderFile reports whether a file holds the settings of providers. Other files
// are scripts that answer prompts.
func isProviderFile(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// providerFile reads the one provider of a file.
func (d *decoder) providerFile(at, name string) any {
	if v, ok := d.providers[name]; ok {
		return v
	}
	doc, err := d.load(name)
	if err != nil {
		d.failed = true
		d.report(errorAt(at, err))
		return nil
	}
	root := doc.Root
	if list, ok := root.([]any); ok && len(list) == 1 {
		root = list[0]
	}
	switch v := root.(type) {
	case string:
	case *value.Object:
		if id, ok := v.At("id").(string); !ok || strings.TrimSpace(id) == "" {
			d.mistake(at, "%s: a provider needs an id, such as openai:chat:gpt-5", d.files.Show(name))
			return nil
		}
	default:
		d.mistake(at, "%s: expected one provider, an id or {id, config}, got %s", d.files.Show(name), kindOf(root))
		return nil
	}
	if d.providers == nil {
		d.providers = map[string]any{}
	}
	d.providers[name] = root
	return root
}
