package suite

import (
	"path"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
)

// rebased makes the file names in a part of a suite from another folder relative to
// the folder of the first file, from which they are opened.
func (r *reading) rebased(v any, base, key string) any {
	if base == "" {
		return v
	}
	switch key {
	case "prompts", "providers", "targets", "target", "tests", "scenarios", "envPath", "nunjucksFilters", "defaultTest":
		return r.rebaseMember(v, base, key)
	case "outputPath":
		return v // relative to the working folder
	}
	return rebaseFiles(v, base)
}

// rebaseMember rebases names where they need no file://, and file:// references
// everywhere below.
func (r *reading) rebaseMember(v any, base, key string) any {
	if s, ok := v.(string); ok {
		return r.rebaseName(s, base, key)
	}
	_, isList := v.([]any)
	return document.Map("", v, func(_, name string, e any) any {
		switch s, ok := e.(string); {
		case isList:
			return r.rebaseMember(e, base, key)
		case ok && mayNameFile(key, name):
			return r.rebaseName(s, base, key)
		}
		return rebaseFiles(e, base)
	})
}

// mayNameFile reports whether a member may name a file without file://.
func mayNameFile(key, member string) bool {
	switch key {
	case "prompts":
		return member == "path" || member == "raw" || member == "id"
	case "providers", "targets", "target":
		return member == "path" || member == "id"
	case "tests":
		return member == "path"
	}
	return key == "nunjucksFilters"
}

// rebaseName rebases a text that may be the name of a file, or a provider that reads
// one.
func (r *reading) rebaseName(s, base, key string) string {
	if key != "providers" && key != "targets" && key != "target" || strings.HasPrefix(s, "file://") {
		return rebaseName(s, base, key)
	}
	facts, name := r.options.Facts.Providers.Of(s)
	if facts == nil || !facts.File || facts.Code {
		return s
	}
	name = strings.TrimPrefix(name, "file://")
	if path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return s
	}
	return facts.Name + path.Join(base, name)
}

// rebaseName rebases a text that may be the name of a file.
func rebaseName(s, base, key string) string {
	name, prefixed := strings.CutPrefix(s, "file://")
	if !prefixed && key != "nunjucksFilters" && key != "envPath" && !looksLikeFile(s) {
		return s
	}
	if path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return s
	}
	if !prefixed && (key == "envPath" || key == "nunjucksFilters") {
		return path.Join(base, name)
	}
	return "file://" + path.Join(base, name)
}

// rebaseFiles rebases every file:// reference in a value.
func rebaseFiles(v any, base string) any {
	if s, ok := v.(string); ok {
		if strings.HasPrefix(s, "file://") {
			return rebaseName(s, base, "")
		}
		return v
	}
	return document.Map("", v, func(_, _ string, e any) any { return rebaseFiles(e, base) })
}
