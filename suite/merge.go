package suite

import (
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// merge combines several configurations: descriptions are joined, prompts, providers
// and cases are concatenated, defaultTest is merged, and for everything else the last
// file wins. A single file is returned unchanged.
func (r *reading) merge(parts []suiteFile) (*document.Document, *value.Object) {
	if len(parts) == 1 {
		return parts[0].doc, parts[0].cfg
	}
	cfg := &value.Object{}
	doc := document.Virtual(parts[0].doc.File, cfg)
	m := merger{reading: r, doc: doc, cfg: cfg}
	for _, p := range parts {
		for key, v := range p.cfg.All() {
			m.add(p, key, v)
		}
	}
	return doc, cfg
}

// merger collects the parts of a suite in one configuration.
type merger struct {
	*reading
	doc *document.Document
	cfg *value.Object
}

func (m *merger) add(p suiteFile, key string, v any) {
	at := document.Join("", key)
	v = m.rebased(v, p.base, key)
	if key == "targets" || key == "target" {
		key = "providers"
	}
	switch key {
	case "description":
		if before, ok := m.cfg.At(key).(string); ok {
			v = before + ", " + value.ToString(v)
		}
		m.set(p, at, key, v)
	case "prompts", "providers":
		m.list(p, at, key, v, true)
	case "tests", "scenarios", "derivedMetrics", "assertions", "extensions":
		m.list(p, at, key, v, false)
	case "env", "tags", "evaluateOptions", "commandLineOptions", "metadata", "nunjucksFilters":
		m.object(p, at, "/"+key, v)
	case "defaultTest":
		m.defaults(p, at, v)
	default:
		m.set(p, at, key, v)
	}
}

// set replaces a value.
func (m *merger) set(p suiteFile, at, key string, v any) {
	m.cfg.Set(key, v)
	m.places.link(m.at(m.doc, document.Join("", key)), m.at(p.doc, at))
}

// list appends the members of a list; with unique, those already in it are left out.
func (m *merger) list(p suiteFile, at, key string, v any, unique bool) {
	members, ok := v.([]any)
	if v == nil {
		return
	}
	if !ok {
		members = []any{v}
	}
	all, _ := m.cfg.At(key).([]any)
	for i, e := range members {
		if unique && holds(all, e) {
			continue
		}
		from := at
		if ok {
			from = document.Join(at, i)
		}
		to := m.at(m.doc, document.Join("/"+key, len(all)))
		m.places.link(to, m.at(p.doc, from))
		if p.base != "" {
			m.bases[to] = p.base
		}
		all = append(all, e)
	}
	m.cfg.Set(key, all)
}

// holds reports whether a list contains an equal value.
func holds(list []any, v any) bool {
	text := value.Stringify(v)
	for _, e := range list {
		if value.Stringify(e) == text {
			return true
		}
	}
	return false
}

// object merges the members of an object; later ones win.
func (m *merger) object(p suiteFile, at, to string, v any) {
	o, ok := v.(*value.Object)
	if !ok {
		m.set(p, at, to[1:], v)
		return
	}
	all, _ := m.cfg.At(to[1:]).(*value.Object)
	m.cfg.Set(to[1:], m.members(p, at, to, all, o))
}

func (m *merger) members(p suiteFile, at, to string, all, o *value.Object) *value.Object {
	all = all.Clone()
	for key, v := range o.All() {
		all.Set(key, v)
		m.places.link(m.at(m.doc, document.Join(to, key)), m.at(p.doc, document.Join(at, key)))
	}
	return all
}

// defaults merges defaultTest: vars, options and metadata member by member,
// assertions concatenated.
func (m *merger) defaults(p suiteFile, at string, v any) {
	o, ok := v.(*value.Object)
	before, had := m.cfg.At("defaultTest").(*value.Object)
	if !ok || !had {
		m.set(p, at, "defaultTest", v)
		return
	}
	all := before.Clone()
	for key, e := range o.All() {
		from, to := document.Join(at, key), document.Join("/defaultTest", key)
		below, isObject := e.(*value.Object)
		switch {
		case isObject && (key == "vars" || key == "options" || key == "metadata"):
			old, _ := all.At(key).(*value.Object)
			all.Set(key, m.members(p, from, to, old, below))
		case key == "assert":
			old, _ := all.At(key).([]any)
			list, _ := e.([]any)
			for i := range list {
				m.places.link(m.at(m.doc, document.Join(to, len(old)+i)), m.at(p.doc, document.Join(from, i)))
			}
			all.Set(key, append(old[:len(old):len(old)], list...))
		default:
			all.Set(key, e)
			m.places.link(m.at(m.doc, to), m.at(p.doc, from))
		}
	}
	m.cfg.Set("defaultTest", all)
}
