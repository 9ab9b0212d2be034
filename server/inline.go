package server

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
)

// What a server keeps, every key of its project can read. So a suite that holds a
// secret is refused, and not kept.

// notSettings are the keys of a suite below which there is what models are asked and
// answers are held against, and no setting that holds a secret.
var notSettings = []string{"vars", "metadata", "prompts", "description", "value", "properties", "criteria", "instruction"}

// settings are the keys of other files below which there are settings.
var settings = []string{"provider", "providers", "target", "targets", "config", "options", "env", "judge", "headers"}

// inlineSecrets returns a mistake for each secret that stands in a suite or in the
// files beside it.
func (b *Bundle) inlineSecrets(ctx context.Context) []Mistake {
	found := inlineSecrets{ctx: ctx}
	if o, ok := b.Suite.(*proviso.Object); ok {
		found.below("/suite", o)
	} else if name, text, err := b.text(); err == nil {
		found.in("/suite", name, text, found.below)
	}
	for name, text := range b.Files {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name))) {
			found.in(document.Join("/files", name), name, []byte(text), found.besides)
		}
	}
	slices.SortFunc(found.list, func(a, b Mistake) int { return strings.Compare(a.Pointer, b.Pointer) })
	return found.list
}

// inlineSecrets returns a mistake for each secret that stands in the assertions.
func (s *assertionSet) inlineSecrets(ctx context.Context) []Mistake {
	found := inlineSecrets{ctx: ctx}
	if v, err := proviso.ParseJSONContext(ctx, string(s.assertions)); err == nil {
		found.below("/assertions", v)
	}
	return found.list
}

// inlineSecrets collects them.
type inlineSecrets struct {
	ctx  context.Context
	list []Mistake
}

// add notes a secret.
func (f *inlineSecrets) add(pointer string) {
	if len(f.list) < maxMistakes {
		f.list = append(f.list, Mistake{Pointer: pointer, Code: proviso.Refused,
			Message: "this is a secret, and what is sent is kept: write {{ env.NAME }}, with a name that the operator of the server allowed (--allow-env NAME)"})
	}
}

// in looks through a text in YAML or JSON, which stands in the body at a pointer. What
// cannot be read is somebody else's to say.
func (f *inlineSecrets) in(pointer, name string, text []byte, look func(string, any)) {
	doc, err := document.ParseContext(f.ctx, name, text)
	if err != nil {
		return
	}
	before := len(f.list)
	look("", doc.Root)
	for i := range f.list[before:] {
		m := &f.list[before+i]
		at := doc.Place(m.Pointer)
		m.Message = "at " + m.Pointer + ": " + m.Message
		m.Pointer, m.File, m.Line, m.Column = pointer, name, at.Line, at.Column
	}
}

// below looks through a value of the suite for what [proviso.Redacted] replaces.
func (f *inlineSecrets) below(pointer string, v any) {
	f.differ(pointer, v, proviso.Redacted(proviso.ObjectOf("", v)).At(""))
}

// differ notes where a value differs from what may be shown of it.
func (f *inlineSecrets) differ(pointer string, v, shown any) {
	switch v := v.(type) {
	case string:
		if v != shown {
			f.add(pointer)
		}
	case []any:
		clean, _ := shown.([]any)
		for i := range min(len(v), len(clean)) {
			f.differ(document.Join(pointer, i), v[i], clean[i])
		}
	case *proviso.Object:
		clean, ok := shown.(*proviso.Object)
		if !ok {
			return
		}
		kind, _ := v.At("type").(string)
		for key, e := range v.All() {
			if !slices.Contains(notSettings, key) || key == "value" && strings.HasSuffix(kind, "webhook") {
				f.differ(document.Join(pointer, key), e, clean.At(key))
			}
		}
	}
}

// besides looks through a value of another file, which may hold anything, for
// settings, and looks through those.
func (f *inlineSecrets) besides(pointer string, v any) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			f.besides(document.Join(pointer, i), e)
		}
	case *proviso.Object:
		for key, e := range v.All() {
			switch at := document.Join(pointer, key); {
			case slices.Contains(settings, key):
				clean := proviso.Redacted(proviso.ObjectOf(key, e)) // headers are known by their key
				f.differ(at, e, clean.At(key))
			case !slices.Contains(notSettings, key):
				f.besides(at, e)
			}
		}
	}
}
