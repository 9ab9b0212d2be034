package assertion

import (
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// scope decodes {of, section: {from, to}, each, match}.
func (d *Decoder) scope(at string, m any) *proviso.Scope {
	o := d.Object(at, m)
	if o == nil {
		return nil
	}
	s := &proviso.Scope{}
	var section *value.Object
	d.fields(at, o, "a scope", scopeKeys[:], map[string]any{"of": &s.Of, "section": &section, "each": &s.Each, "match": &s.Match})
	d.fields(at+"/section", section, "a section", sectionKeys[:], map[string]any{"from": &s.From, "to": &s.To})
	if s.Match != "" && s.Each == "" {
		d.Mistake(at+"/match", "match says how many of the parts must hold, so it needs each")
	}
	return s
}

// fields decodes the members of an object whose values are texts and objects.
func (d *Decoder) fields(at string, o *value.Object, of string, table []Key, to map[string]any) {
	for key, v := range o.All() {
		switch to := to[key].(type) {
		case *string:
			*to = d.oneOf(document.Join(at, key), v, valuesOf(table, key)) // of any text, if there are none
		case **value.Object:
			*to = d.Object(document.Join(at, key), v)
		default:
			d.UnknownKey(at, key, of, names(table), "")
		}
	}
}

// criteria decodes a list of questions: texts, or objects that name a template.
func (d *Decoder) criteria(at string, m any) []proviso.Criterion {
	list, ok := m.([]any)
	if m == nil {
		return nil
	}
	if !ok {
		if s, isText := m.(string); isText && s != "" {
			return []proviso.Criterion{{Text: s}}
		}
		d.Mistake(at, "expected a list of criteria, got %s", kind.Shown(m))
		return nil
	}
	out := make([]proviso.Criterion, 0, len(list))
	for i, e := range list {
		at := at + "/" + strconv.Itoa(i)
		switch e := e.(type) {
		case string:
			if value.TrimSpace(e) == "" && !d.unchecked {
				d.Mistake(at, "the criterion is empty")
				continue
			}
			out = append(out, proviso.Criterion{Text: e})
		case *value.Object:
			out = append(out, d.criterion(at, e))
		default:
			d.Mistake(at, "expected a criterion as text, got %s", kind.Shown(e))
		}
	}
	return out
}

func (d *Decoder) criterion(at string, o *value.Object) proviso.Criterion {
	var c proviso.Criterion
	d.fields(at, o, "a criterion", criterionKeys[:], map[string]any{
		"text": &c.Text, "template": &c.Template, "params": &c.Params, "category": &c.Category,
	})
	if c.Text == "" && c.Template == "" {
		d.Mistake(at, "a criterion needs a text or a template")
	}
	return c
}
