package server

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// Every key of a project can read what the server stores. So a suite that contains a secret is
// rejected and not stored.

// notSettings are the suite keys with prompts and data as values. These are not searched for
// secrets.
var notSettings = []string{"vars", "metadata", "prompts", "description", "value", "properties", "criteria", "instruction"}

// settings are the keys in other files with settings as values.
var settings = []string{"provider", "providers", "target", "targets", "config", "options", "env", "judge", "headers"}

// inlineSecrets returns a mistake for each secret in a suite or in its files, and the number of
// further mistakes.
func (b *Bundle) inlineSecrets(ctx context.Context) (list []Mistake, more int) {
	found := inlineSecrets{ctx: ctx}
	if o, ok := b.Suite.(*value.Object); ok {
		found.below("/suite", o)
	} else if name, text, err := b.text(); err == nil {
		found.in("/suite", name, text, found.below)
	}
	for name, text := range b.Files {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name))) {
			found.in(document.Join("/files", name), name, []byte(text), found.besides)
		}
	}
	slices.SortFunc(found.mistakes, func(a, b Mistake) int { return strings.Compare(a.Pointer, b.Pointer) })
	return found.mistakes, found.more
}

// inlineSecrets returns a mistake for each secret in the assertions, and the number of further
// mistakes.
func (s *assertionSet) inlineSecrets(ctx context.Context) (list []Mistake, more int) {
	found := inlineSecrets{ctx: ctx}
	if v, err := value.ParseJSONContext(ctx, string(s.assertions)); err == nil {
		found.below("/assertions", v)
	}
	if s.templates.Len() > 0 {
		found.below("/templates", s.templates)
	}
	return found.mistakes, found.more
}

// inlineSecrets collects mistakes for secrets.
type inlineSecrets struct {
	decoder
	ctx context.Context
}

// found records a secret.
func (f *inlineSecrets) found(pointer string) {
	f.add(Mistake{Pointer: pointer, Code: proviso.Refused,
		Message: "this is a secret, and what is sent is kept: write {{ env.NAME }}, with a name that the operator of the server allowed (--allow-env NAME)"})
}

// in searches a text in YAML or JSON at a pointer in the body. Syntax errors are reported
// elsewhere.
func (f *inlineSecrets) in(pointer, name string, text []byte, look func(string, any)) {
	doc, err := document.ParseContext(f.ctx, name, text)
	if err != nil {
		return
	}
	before := len(f.mistakes)
	look("", doc.Root)
	for i := range f.mistakes[before:] {
		m := &f.mistakes[before+i]
		at := doc.Place(m.Pointer)
		m.Message = "at " + m.Pointer + ": " + m.Message
		m.Pointer, m.File, m.Line, m.Column = pointer, name, at.Line, at.Column
	}
}

// below searches a value of the suite for anything that [proviso.Redacted] replaces.
func (f *inlineSecrets) below(pointer string, v any) {
	f.differ(pointer, v, proviso.Redacted(value.ObjectOf("", v)).At(""))
}

// differ records each place where a value differs from its redacted form.
func (f *inlineSecrets) differ(pointer string, v, shown any) {
	switch v := v.(type) {
	case string:
		if v != shown {
			f.found(pointer)
		}
	case []any:
		clean, _ := shown.([]any)
		for i := range min(len(v), len(clean)) {
			f.differ(document.Join(pointer, i), v[i], clean[i])
		}
	case *value.Object:
		clean, ok := shown.(*value.Object)
		if !ok {
			return
		}
		kind := v.Text("type")
		for key, e := range v.All() {
			if !slices.Contains(notSettings, key) || key == "value" && isAddress(kind) {
				f.differ(document.Join(pointer, key), e, clean.At(key))
			}
		}
	}
}

// isAddress reports whether assertions of this type have a URL as their value.
func isAddress(kind string) bool {
	facts := check.Facts().Of(kind)
	return facts != nil && facts.Address
}

// besides searches a value of another file, which may have any structure, for settings, and
// searches those for secrets.
func (f *inlineSecrets) besides(pointer string, v any) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			f.besides(document.Join(pointer, i), e)
		}
	case *value.Object:
		for key, e := range v.All() {
			switch at := document.Join(pointer, key); {
			case slices.Contains(settings, key):
				clean := proviso.Redacted(value.ObjectOf(key, e)) // headers are recognized by their key
				f.differ(at, e, clean.At(key))
			case !slices.Contains(notSettings, key):
				f.besides(at, e)
			}
		}
	}
}
