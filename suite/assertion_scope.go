package suite

import (
	"strconv"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

var scopeKeys = []string{"of", "section", "each", "match"}

// scope decodes {of, section: {from, to}, each, match}.
func (d *decoder) scope(at string, m any) *proviso.Scope {
	o := d.object(at, m)
	if o == nil {
		return nil
	}
	s := &proviso.Scope{}
	for key, v := range o.All() {
		switch key {
		case "of":
			s.Of = d.oneOf(at+"/of", v, []string{"output", "prompt"})
		case "section":
			d.section(s, at+"/section", v)
		case "each":
			s.Each = d.oneOf(at+"/each", v, []string{"line", "item", "paragraph", "sentence"})
		case "match":
			s.Match = d.oneOf(at+"/match", v, []string{"all", "any", "none"})
		default:
			d.unknownKey(at, key, "a scope", scopeKeys, "")
		}
	}
	if s.Match != "" && s.Each == "" {
		d.mistake(at+"/match", "match says how many of the parts must hold, so it needs each")
	}
	return s
}

func (d *decoder) section(s *proviso.Scope, at string, v any) {
	o := d.object(at, v)
	if o == nil {
		return
	}
	for key, v := range o.All() {
		switch key {
		case "from":
			s.From = d.text(at+"/from", v)
		case "to":
			s.To = d.text(at+"/to", v)
		default:
			d.unknownKey(at, key, "a section", []string{"from", "to"}, "")
		}
	}
}

var criterionKeys = []string{"text", "template", "params", "category"}

// criteria decodes a list of questions: texts, or objects that name a template.
func (d *decoder) criteria(at string, m any) []proviso.Criterion {
	list, ok := m.([]any)
	if m == nil {
		return nil
	}
	if !ok {
		if s, isText := m.(string); isText && s != "" {
			return []proviso.Criterion{{Text: s}}
		}
		d.mistake(at, "expected a list of criteria, got %s", kindOf(m))
		return nil
	}
	out := make([]proviso.Criterion, 0, len(list))
	for i, e := range list {
		at := at + "/" + strconv.Itoa(i)
		switch e := e.(type) {
		case string:
			if value.TrimSpace(e) == "" {
				d.mistake(at, "the criterion is empty")
				continue
			}
			out = append(out, proviso.Criterion{Text: e})
		case *value.Object:
			out = append(out, d.criterion(at, e))
		default:
			d.mistake(at, "expected a criterion as text, got %s", kindOf(e))
		}
	}
	return out
}

func (d *decoder) criterion(at string, o *value.Object) proviso.Criterion {
	var c proviso.Criterion
	for key, v := range o.All() {
		switch key {
		case "text":
			c.Text = d.text(at+"/text", v)
		case "template":
			c.Template = d.text(at+"/template", v)
		case "params":
			c.Params = d.object(at+"/params", v)
		case "category":
			c.Category = d.text(at+"/category", v)
		default:
			d.unknownKey(at, key, "a criterion", criterionKeys, "")
		}
	}
	if c.Text == "" && c.Template == "" {
		d.mistake(at, "a criterion needs a text or a template")
	}
	return c
}
