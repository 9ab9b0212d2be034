package provider

import (
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// withFiles are the settings in which file:// references are resolved: those
// that hold schemas and definitions of tools.
var withFiles = [...]string{
	"tools", "functions", "tool_choice", "response_format", "responseSchema", "response_schema", "generationConfig",
	"text", "output_format", "output_config", "format", "systemInstruction", "instructions", "toolConfig",
}

// maxReferences bounds how deep files may refer to files.
const maxReferences = 20

// resolve replaces references to files in cfg by what the files hold. It returns
// cfg itself if there are none.
func resolve(cfg *proviso.Object, files proviso.Files) (*proviso.Object, error) {
	out := cfg
	for _, name := range withFiles {
		v, ok := cfg.Get(name)
		if !ok || !refers(v) {
			continue
		}
		loaded, err := load(v, files, 0)
		if err != nil {
			return nil, err
		}
		if out == cfg {
			out = cfg.Clone()
		}
		out.Set(name, loaded)
	}
	return out, nil
}

// refers reports whether v has a reference somewhere.
func refers(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, "file://")
	case []any:
		for _, e := range v {
			if refers(e) {
				return true
			}
		}
	case *proviso.Object:
		for _, e := range v.All() {
			if refers(e) {
				return true
			}
		}
	}
	return false
}

func load(v any, files proviso.Files, depth int) (any, error) {
	if depth > maxReferences {
		return nil, proviso.Errorf(proviso.Limit, "file references are nested more than %d deep", maxReferences)
	}
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "file://"); ok {
			return loadFile(name, files, depth)
		}
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			loaded, err := load(e, files, depth+1)
			if err != nil {
				return nil, err
			}
			if inner, ok := loaded.([]any); ok && refers(e) { // a file of several tools among others
				out = append(out, inner...)
				continue
			}
			out = append(out, loaded)
		}
		return out, nil
	case *proviso.Object:
		out := proviso.NewObject(v.Len())
		for k, e := range v.All() {
			loaded, err := load(e, files, depth+1)
			if err != nil {
				return nil, err
			}
			out.Set(k, loaded)
		}
		return out, nil
	}
	return v, nil
}

func loadFile(name string, files proviso.Files, depth int) (any, error) {
	if files == nil {
		return nil, proviso.Errorf(proviso.Refused, "file://%s: files cannot be read here", name)
	}
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, proviso.Errorf(proviso.NotFound, "file://%s: %w", name, err)
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
	case ".js", ".ts", ".mjs", ".cjs", ".py":
		return nil, proviso.Errorf(proviso.Unsupported, "file://%s: settings of a provider cannot come from code", name)
	default:
		return strings.TrimSpace(string(data)), nil
	}
	doc, err := document.ParseYAML(name, data)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%s: %w", name, err)
	}
	return load(doc.Root, files, depth+1)
}
