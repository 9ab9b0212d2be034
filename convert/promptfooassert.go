package convert

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// assertions converts a list of assertions. It leaves out those that promptfoo
// would decide by other rules: an assertion that checks something else is worse
// than none.
func (x *promptfooSuite) assertions(at string, list []any) []any {
	out := []any{}
	for i, v := range list {
		o, ok := v.(*value.Object)
		if !ok || o.At("$ref") != nil {
			out = append(out, v)
			continue
		}
		out = append(out, x.assertion(document.Join(at, i), o)...)
	}
	return out
}

// assertion converts one assertion to none, one or, if it is judged, several.
func (x *promptfooSuite) assertion(at string, o *value.Object) []any {
	kind, _ := o.At("type").(string)
	base := strings.TrimPrefix(kind, "not-")
	leaves := func(what, why, do string) []any {
		x.note(at, what, "left out: "+why, do)
		return nil
	}
	for _, key := range [...]string{"when", "scope"} {
		if o.At(key) != nil {
			return leaves("an assertion with "+key, assertion.KeyOf(key).Doc, "promptfoo has no such key; write a javascript assertion")
		}
	}
	if kind == proviso.TypeJudge || kind == "" {
		return x.judged(at, o)
	}
	if k, ok := check.Lookup(base); ok && k.Own {
		return leaves("the type "+base, "promptfoo has no such type", "write a javascript assertion")
	}
	a := x.common(o)
	if o.At("ignoreCase") == true {
		folded := strings.Replace(kind, "contains", "icontains", 1)
		if !strings.HasPrefix(base, "contains") || base == "contains-html" {
			return leaves("an assertion with ignoreCase", "promptfoo has no such key for "+base, "write a javascript assertion")
		}
		a.Set("type", folded)
	}
	if o.At("wholeWords") == true {
		return leaves("an assertion with wholeWords", "promptfoo has no such key", "write a regex assertion")
	}
	if o.At("alpha") != nil || o.At("beta") != nil || o.At("gamma") != nil {
		x.note(at, "alpha, beta, gamma", "left out: promptfoo measures METEOR with the defaults", "")
	}
	if list, ok := o.At("assert").([]any); ok {
		a.Set("assert", x.assertions(at+"/assert", list))
	}
	return []any{a}
}

// common returns the keys of an assertion that promptfoo has. An id becomes the
// metric, and an assertion of severity info gets weight 0.
func (x *promptfooSuite) common(o *value.Object) *value.Object {
	a := value.NewObject(o.Len())
	for key, v := range o.All() {
		if k := assertion.KeyOf(key); k == nil || !k.Own {
			a.Set(key, v)
		}
	}
	if id := o.At("id"); id != nil && o.At("metric") == nil {
		a.Set("metric", id)
	}
	if o.At("severity") == string(proviso.Info) {
		a.Set("weight", 0.0)
	}
	return a
}

// judged makes one rubric of the parts that a judge decides, and an assertion of
// each other part.
func (x *promptfooSuite) judged(at string, o *value.Object) []any {
	var out []any
	rubric := []string{}
	if s, ok := o.At("instruction").(string); ok && s != "" {
		rubric = append(rubric, s)
	}
	criteria, isList := o.At("criteria").([]any)
	if s, ok := o.At("criteria").(string); ok && !isList {
		criteria = []any{s}
	}
	for _, c := range criteria {
		text, ok := c.(string)
		if e, isObject := c.(*value.Object); isObject {
			text, ok = e.At("text").(string)
		}
		if !ok || text == "" {
			x.note(at+"/criteria", "a criterion of a template", "left out: promptfoo has no templates of criteria", "write it as text")
			continue
		}
		rubric = append(rubric, "- "+text)
	}
	if len(rubric) > 0 {
		x.note(at, "the type judge", "becomes llm-rubric: one question with all criteria, without verdicts and evidence for each", "")
		a := x.common(o)
		a.Set("type", "llm-rubric")
		a.Set("value", strings.Join(rubric, "\n"))
		out = append(out, a)
	}
	if inner, ok := o.At("check").(*value.Object); ok {
		out = append(out, x.assertion(at+"/check", inner)...)
	}
	return out
}

// LackedByPromptfoo returns the part of an assertion that promptfoo would ignore or
// refuse; "" if promptfoo decides the assertion as written. It is for assertions in
// files beside the suite, which are not converted.
func LackedByPromptfoo(a *value.Object) string {
	base := strings.TrimPrefix(a.Text("type"), "not-")
	if k, ok := check.Lookup(base); ok && k.Own {
		return "the type " + base
	}
	for key, v := range a.All() {
		if k := assertion.KeyOf(key); k != nil && k.Own && v != nil && key != "id" && key != "description" && key != "severity" {
			return "the key " + key
		}
	}
	list, _ := a.At("assert").([]any)
	for _, e := range list {
		if inner, ok := e.(*value.Object); ok {
			if what := LackedByPromptfoo(inner); what != "" {
				return what
			}
		}
	}
	return ""
}
