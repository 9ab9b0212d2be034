package suite

import (
	"path"
	"strings"

	"github.com/proviso-eval/proviso/internal/kind"
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
		d.Mistake(at, "expected a provider id, or {id, config}, got %s", kind.Shown(v))
		return nil
	}
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
		d.Failed = true
		d.Report(errorAt(at, err))
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
			d.Mistake(at, "%s: a provider needs an id, such as openai:chat:gpt-5", d.files.Show(name))
			return nil
		}
	default:
		d.Mistake(at, "%s: expected one provider, an id or {id, config}, got %s", d.files.Show(name), kind.Shown(root))
		return nil
	}
	if d.providers == nil {
		d.providers = map[string]any{}
	}
	d.providers[name] = root
	return root
}
