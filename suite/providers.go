package suite

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// providerKeyNames returns the possible keys of the providers; a suite has one of
// them.
func providerKeyNames() []string { return []string{"providers", "targets", "target"} }

// providers reads the providers.
func (r *reading) providers(doc *document.Document, cfg *value.Object) []proviso.ProviderSpec {
	key := ""
	for _, name := range providerKeyNames() {
		if cfg.At(name) == nil {
			continue
		}
		if key != "" {
			r.mistake(doc, document.Join("", name), proviso.Invalid, nil, "a suite has %s or %s, not both", key, name)
			continue
		}
		key = name
	}
	flags, _ := cfg.At("commandLineOptions").(*value.Object)
	at := document.Join("", key)
	if key == "" && flags.At("providers") != nil {
		key, at = "providers", "/commandLineOptions/providers"
		cfg = flags
	}
	p := providerReader{reading: r, replaced: len(r.options.Providers) > 0}
	if key != "" {
		p.all(doc, at, cfg.At(key))
	}
	list := p.list
	if len(r.options.Providers) > 0 {
		list = p.chosen()
	} else if key == "" {
		r.mistake(doc, "", proviso.Invalid, nil, "the suite has no providers; providers: [echo] answers with the prompt itself")
	} else if len(list) == 0 && !p.failed {
		r.mistake(doc, at, proviso.Invalid, nil, "%s names no provider", key)
	}
	return list
}

// chosen returns the providers that the command line names: those of the suite by id,
// label, or the last part of the id, so that they keep their settings, and others by
// their id. Files of providers are opened only for a name that is not found without
// them, and mistakes in them are not mistakes of this command.
func (p *providerReader) chosen() []proviso.ProviderSpec {
	names := p.options.Providers
	if len(p.files) > 0 && slices.ContainsFunc(names, func(name string) bool { return p.index(name) < 0 }) {
		before := len(p.mistakes)
		p.replaced = false
		for _, f := range p.files {
			p.file(f.doc, f.at, f.name)
		}
		p.mistakes = p.mistakes[:before]
	}
	var all []proviso.ProviderSpec
	for _, name := range names {
		if i := p.index(name); i >= 0 {
			all = append(all, p.list[i])
			continue
		}
		all = append(all, proviso.ProviderSpec{ID: name, Pointer: p.at(document.Virtual("--providers", name), "")})
	}
	return all
}

// index finds a provider of the suite by its id, its label, or the last part of its
// id; -1 if there is none.
func (p *providerReader) index(name string) int {
	for _, found := range []func(proviso.ProviderSpec) bool{
		func(s proviso.ProviderSpec) bool { return s.ID == name },
		func(s proviso.ProviderSpec) bool { return s.Label == name },
		func(s proviso.ProviderSpec) bool { return strings.HasSuffix(s.ID, ":"+name) },
	} {
		if i := slices.IndexFunc(p.list, found); i >= 0 {
			return i
		}
	}
	return -1
}

// providerReader collects the providers of a suite.
type providerReader struct {
	*reading
	list     []proviso.ProviderSpec
	failed   bool
	depth    int            // nesting depth of files
	replaced bool           // the command line names the providers
	files    []providerFile // not opened, because they may be replaced
}

// providerFile is a file of providers, and the place that names it.
type providerFile struct {
	doc      *document.Document
	at, name string
}

// maxProviderFiles limits how deeply files of providers refer to each other.
const maxProviderFiles = 8

// all reads a provider, a list of them, or a file of them.
func (p *providerReader) all(doc *document.Document, at string, v any) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			p.all(doc, document.Join(at, i), e)
		}
	case string:
		p.named(doc, at, v)
	case *value.Object:
		p.object(doc, at, v)
	default:
		p.failed = true
		p.mistake(doc, at, proviso.Invalid, nil, "a provider is an id or {id, label, config}, not %s", kind.Shown(v))
	}
}

func (p *providerReader) named(doc *document.Document, at, id string) {
	p.dollar(doc, at, id)
	if name, ok := strings.CutPrefix(id, "file://"); ok {
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json":
			p.file(doc, at, name)
			return
		}
	}
	if strings.TrimSpace(id) == "" {
		p.failed = true
		p.mistake(doc, at, proviso.Invalid, nil, "the id of a provider is empty")
		return
	}
	spec := proviso.ProviderSpec{ID: id, Pointer: p.at(doc, at)}
	p.confineProvider(doc, at, nil, &spec)
	p.list = append(p.list, spec)
}

// file reads a file that holds providers.
func (p *providerReader) file(doc *document.Document, at, name string) {
	if p.replaced {
		p.files = append(p.files, providerFile{doc, at, name})
		return
	}
	d, err := p.yaml(name)
	if err != nil {
		p.failed = true
		p.reading.failed(doc, at, err)
		return
	}
	if p.depth == maxProviderFiles {
		p.failed = true
		p.mistake(doc, at, proviso.Limit, nil, "files of providers name each other more than %d deep", maxProviderFiles)
		return
	}
	p.depth++
	p.all(d, "", d.Root)
	p.depth--
}

// object reads {id, …}, or {"the id": {…}}.
func (p *providerReader) object(doc *document.Document, at string, o *value.Object) {
	id := o.At("id")
	if !o.Has("id") && o.Len() == 1 {
		key := o.Keys()[0]
		inner, isObject := o.At(key).(*value.Object)
		_, known := findRow(providerKeys(), key)
		if !known && (isObject || o.At(key) == nil) {
			at = document.Join(at, key)
			if o, id = inner, any(key); inner.Has("id") {
				id = inner.At("id")
			}
		}
	}
	p.keys(doc, at, o, providerKeys())
	name, ok := id.(string)
	if !ok || strings.TrimSpace(name) == "" {
		p.failed = true
		p.mistake(doc, at, proviso.Invalid, nil, "a provider needs an id, such as echo or openai:chat:gpt-5")
		return
	}
	p.dollar(doc, document.Join(at, "id"), name)
	spec := proviso.ProviderSpec{ID: name, Pointer: p.at(doc, at)}
	spec.Label, _ = o.At("label").(string)
	spec.Config, _ = o.At("config").(*value.Object)
	spec.Config = withoutNulls(spec.Config)
	spec.Transform, _ = o.At("transform").(string)
	spec.Prompts = texts(o.At("prompts"))
	spec.Env = p.providerEnv(doc, at, o)
	for at, text := range document.Texts(document.Join(at, "config"), spec.Config) {
		p.dollar(doc, at, text)
	}
	p.confineProvider(doc, at, o, &spec)
	if f, ok := o.At("delay").(float64); ok {
		spec.DelayMS = int(min(max(f, 0), 1e9))
	}
	p.list = append(p.list, spec)
}

// withoutNulls returns an object without the keys that hold null, which count as
// absent.
func withoutNulls(o *value.Object) *value.Object {
	clean := o
	for key, v := range o.All() {
		if v != nil {
			continue
		}
		if clean == o {
			clean = o.Clone()
		}
		clean.Delete(key)
	}
	return clean
}

func (p *providerReader) providerEnv(doc *document.Document, at string, o *value.Object) *value.Object {
	env, _ := o.At("env").(*value.Object)
	for name, v := range env.All() {
		switch v.(type) {
		case string, float64, bool, nil:
		default:
			p.mistake(doc, document.Join(document.Join(at, "env"), name), proviso.Invalid, nil,
				"a name of the environment is a text, not %s", kind.Shown(v))
		}
	}
	return env
}

// shellName matches an environment variable in shell syntax, and its default.
var shellName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Z_][A-Z0-9_]*)(:?-([^}'"\\]*))?\}`)
})

// dollar warns of ${NAME} and ${NAME:-default}, which are not replaced.
func (p *providerReader) dollar(doc *document.Document, at, s string) {
	if !strings.Contains(s, "${") {
		return
	}
	if m := shellName().FindStringSubmatch(s); m != nil {
		filled := "env." + m[1]
		if m[2] != "" {
			filled += " or '" + m[3] + "'"
		}
		p.warn(doc, at, "%s is not filled in; write {{ %s }}", m[0], filled)
	}
}
