package assertion

import (
	"strconv"

	"github.com/proviso-eval/proviso"
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
	for key, v := range o.All() {
		switch key {
		case "of":
			s.Of = d.oneOf(at+"/of", v, valuesOf(scopeKeys[:], key))
		case "section":
			d.section(s, at+"/section", v)
		case "each":
			s.Each = d.oneOf(at+"/each", v, valuesOf(scopeKeys[:], key))
		case "match":
			s.Match = d.oneOf(at+"/match", v, valuesOf(scopeKeys[:], key))
		default:
			d.UnknownKey(at, key, "a scope", names(scopeKeys[:]), "")
		}
	}
	if s.Match != "" && s.Each == "" {
		d.Mistake(at+"/match", "match says how many of the parts must hold, so it needs each")
	}
	return s
}

func (d *Decoder) section(s *proviso.Scope, at string, v any) {
	o := d.Object(at, v)
	if o == nil {
		return
	}
	for key, v := range o.All() {
		switch key {
		case "from":
			s.From = d.Text(at+"/from", v)
		case "to":
			s.To = d.Text(at+"/to", v)
		default:
			d.UnknownKey(at, key, "a section", names(sectionKeys[:]), "")
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
	for key, v := range o.All() {
		switch key {
		case "text":
			c.Text = d.Text(at+"/text", v)
		case "template":
			c.Template = d.Text(at+"/template", v)
		case "params":
			c.Params = d.Object(at+"/params", v)
		case "category":
			c.Category = d.Text(at+"/category", v)
		default:
			d.UnknownKey(at, key, "a criterion", names(criterionKeys[:]), "")
		}
	}
	if c.Text == "" && c.Template == "" {
		d.Mistake(at, "a criterion needs a text or a template")
	}
	return c
}
