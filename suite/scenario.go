package suite

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// scenarioStreams returns the cases of `scenarios`: every entry of a scenario's
// config combined with each of its tests.
func (r *reading) scenarioStreams(doc *document.Document, v any) []stream {
	list, ok := v.([]any)
	if name, isText := v.(string); isText {
		list, ok = []any{name}, true
	}
	if !ok {
		if v != nil {
			r.mistake(doc, "/scenarios", proviso.Invalid, nil, "expected a list of scenarios, got %s", kind.Shown(v))
		}
		return nil
	}
	var out []stream
	for i, e := range list {
		at := document.Join("/scenarios", i)
		if name, isText := e.(string); isText {
			out = append(out, r.scenarioFiles(doc, at, name)...)
			continue
		}
		out = append(out, r.scenario(doc, at, e)...)
	}
	return out
}

// scenarioFiles reads scenarios from the files that a reference names.
func (r *reading) scenarioFiles(doc *document.Document, pointer, ref string) []stream {
	var out []stream
	for _, d := range r.yamlFiles(doc, pointer, ref) {
		list, ok := d.Root.([]any)
		if !ok {
			out = append(out, r.scenario(d, "", d.Root)...)
		}
		for i, e := range list {
			out = append(out, r.scenario(d, document.Join("", i), e)...)
		}
	}
	return out
}

// yamlFiles reads the files that a reference names, without those with mistakes.
func (r *reading) yamlFiles(doc *document.Document, pointer, ref string) []*document.Document {
	var all []*document.Document
	for _, name := range r.glob(doc, pointer, ref) {
		if d, err := r.yaml(name); err != nil {
			r.failed(doc, pointer, err)
		} else {
			all = append(all, d)
		}
	}
	return all
}

func (r *reading) scenario(doc *document.Document, pointer string, v any) []stream {
	o, ok := v.(*value.Object)
	if !ok {
		r.mistake(doc, pointer, proviso.Invalid, nil, "expected a scenario with config and tests, got %s", kind.Shown(v))
		return nil
	}
	for key := range o.All() {
		if !hasRow(scenarioKeys, key) {
			r.unknownKey(doc, document.Join(pointer, key), key, scenarioKeys())
		}
	}
	entries := r.scenarioConfig(doc, pointer+"/config", o.At("config"))
	tests := r.testStreams(doc, pointer+"/tests", o.At("tests"))
	if len(tests) == 0 && !hasMembers(o.At("tests")) {
		// A scenario without tests consists of its entries.
		tests = []stream{inlineCase(r.at(doc, pointer), &value.Object{})}
	}
	out := make([]stream, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.with(tests))
	}
	return out
}

// scenarioEntry is what one entry of a scenario's config adds to its tests.
type scenarioEntry struct {
	at     string
	object *value.Object
}

// scenarioConfig reads a list of entries, or the files that hold them.
func (r *reading) scenarioConfig(doc *document.Document, pointer string, v any) []scenarioEntry {
	switch v := v.(type) {
	case []any:
		var out []scenarioEntry
		for i, e := range v {
			at := document.Join(pointer, i)
			switch e := e.(type) {
			case *value.Object:
				out = append(out, scenarioEntry{r.at(doc, at), e})
			case string:
				out = append(out, r.scenarioConfigFiles(doc, at, e)...)
			default:
				r.mistake(doc, at, proviso.Invalid, nil, "expected a mapping with vars, got %s", kind.Shown(e))
			}
		}
		return out
	case string:
		return r.scenarioConfigFiles(doc, pointer, v)
	case *value.Object:
		return []scenarioEntry{{r.at(doc, pointer), v}}
	}
	r.mistake(doc, pointer, proviso.Invalid, nil, "a scenario needs config, a list of mappings with vars; got %s", kind.Shown(v))
	return nil
}

func (r *reading) scenarioConfigFiles(doc *document.Document, pointer, ref string) []scenarioEntry {
	var out []scenarioEntry
	for _, d := range r.yamlFiles(doc, pointer, ref) {
		if o, ok := d.Root.(*value.Object); ok {
			out = append(out, scenarioEntry{r.at(d, ""), o})
			continue
		}
		out = append(out, r.scenarioConfig(d, "", d.Root)...)
	}
	return out
}

// with returns the entry's cases: each test over the entry over the defaults.
func (e scenarioEntry) with(tests []stream) stream {
	out := stream{inline: true}
	for _, t := range tests {
		out.inline = out.inline && t.inline
	}
	out.each = func(p *pass, visit func(written) bool) bool {
		base := &layer{}
		p.testCase(base, written{at: e.at, object: e.object}, &p.source.defaults)
		base.proto.ID = ""
		base.raw = withoutKeys(base.raw, "id", "repeat")
		for _, t := range tests {
			more := t.each(p, func(w written) bool {
				w.base, w.data = base, e.object
				return visit(w)
			})
			if !more {
				return false
			}
		}
		return true
	}
	return out
}
