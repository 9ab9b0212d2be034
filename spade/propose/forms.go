package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// values read what a model wrote for the types of a form, or return the problem.
var values = map[string]func(o *value.Object) (any, string){
	"text": textValue, "texts": textsValue, "pattern": patternValue, "range": rangeValue,
	"count": countValue, "chars": charsValue, "schema": schemaValue, "none": noValue,
}

// candidatesReply is the shape of the answer to the second question.
func candidatesReply() *proviso.Reply {
	text, texts, limit := ask.Schema("string"), ask.ListSchema(ask.Schema("string")), ask.Schema("number", "null")
	return &proviso.Reply{Name: "candidates", Schema: ask.ObjectSchema("candidates", ask.ListSchema(ask.ObjectSchema(
		"name", text, "description", text, "covers", ask.ListSchema(ask.Schema("integer")), "type", text,
		"text", text, "texts", texts, "pattern", text, "min", limit, "max", limit, "class", text, "schema", text, "ignore_case", ask.Schema("boolean"),
		"scope", ask.ObjectSchema("each", text, "match", text, "from", text, "to", text),
		"questions", texts, "code", text,
	)))}
}

// assertionOf makes an assertion, without a name, of a model's candidate; otherwise it
// returns the problem.
func assertionOf(o *value.Object) (a *value.Object, problem string) {
	kind := o.Text("type")
	kind = strings.TrimSpace(kind)
	base, not := strings.CutPrefix(kind, "not-")
	switch {
	case (base == candidate.JudgeType || base == candidate.PythonType) && not:
		return nil, fmt.Sprintf("%s is not negated: say the opposite in it", base)
	case base == candidate.JudgeType:
		a, problem = questions(o)
	case base == candidate.PythonType:
		a, problem = pythonForm(o)
	default:
		f := formOf(base)
		if f == nil {
			return nil, unknownForm(kind, base, not)
		}
		v, wrong := values[f.Name](o)
		if wrong != "" {
			return nil, kind + " " + wrong
		}
		a = value.ObjectOf("type", kind)
		if _, none := v.(value.Undefined); !none {
			a.Set("value", v)
		}
		if fold, _ := o.At("ignore_case").(bool); fold && folds(base) {
			a.Set("ignoreCase", true)
		}
	}
	if problem == "" && base != candidate.PythonType {
		problem = setScope(a, o.At("scope"))
	}
	return a, problem
}

func formOf(base string) *ask.Form {
	all := ask.Forms()
	if i := slices.IndexFunc(all, func(f ask.Form) bool { return slices.Contains(f.Types, base) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// folds reports whether ignoreCase changes what a type does.
func folds(base string) bool {
	k, ok := check.Lookup(base)
	return ok && k.Folds && !k.FoldsCase
}

// unknownForm suggests the type that was probably meant.
func unknownForm(kind, base string, not bool) string {
	if kind == "" {
		return "type is missing"
	}
	names := []string{candidate.JudgeType, candidate.PythonType}
	for _, f := range ask.Forms() {
		names = append(names, f.Types...)
	}
	problem := fmt.Sprintf("there is no type %q to choose", format.Excerpt(kind))
	if near := document.Nearest(base, names); near != "" {
		if not {
			near = "not-" + near
		}
		problem += "; the nearest is " + near
	}
	return problem
}

// Texts of a candidate.

func textValue(o *value.Object) (any, string) {
	if text := o.Text("text"); strings.TrimSpace(text) != "" {
		return text, ""
	}
	return nil, "needs text"
}

func textsMember(o *value.Object, key string) []any {
	list, _ := o.At(key).([]any)
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		s, ok := v.(string)
		return !ok || strings.TrimSpace(s) == ""
	})
}

func textsValue(o *value.Object) (any, string) {
	if list := textsMember(o, "texts"); len(list) > 0 {
		return list, ""
	}
	return nil, "needs texts"
}

func patternValue(o *value.Object) (any, string) {
	if p := o.Text("pattern"); p != "" {
		return p, ""
	}
	return nil, "needs pattern"
}

// limits reads min and max into an object.
func limits(o, into *value.Object) (problem string) {
	lowest, low := o.At("min").(float64)
	most, high := o.At("max").(float64)
	switch {
	case !low && !high:
		return "needs min, max or both"
	case low && lowest < 0 || high && most < 0:
		return "has a limit below 0"
	case low && high && lowest > most:
		return "has a min above its max"
	case low && lowest != float64(int64(lowest)) || high && most != float64(int64(most)):
		return "has a limit that is no whole number"
	}
	if low {
		into.Set("min", lowest)
	}
	if high {
		into.Set("max", most)
	}
	return ""
}

func rangeValue(o *value.Object) (any, string) {
	v := value.NewObject(2)
	problem := limits(o, v)
	if lowest, low := v.At("min").(float64); low && problem == "" && v.At("max") == lowest {
		return lowest, ""
	}
	return v, problem
}

func countValue(o *value.Object) (any, string) {
	v := value.NewObject(4)
	text, re := o.Text("text"), o.Text("pattern")
	switch {
	case (text == "") == (re == ""):
		return nil, "needs either text or pattern"
	case text != "":
		v.Set("text", text)
	default:
		v.Set("regex", re)
	}
	return v, limits(o, v)
}

func charsValue(o *value.Object) (any, string) {
	class := strings.TrimSpace(o.Text("class"))
	if class == "" {
		return nil, "needs class"
	}
	v := value.ObjectOf("class", class)
	return v, limits(o, v)
}

func schemaValue(o *value.Object) (any, string) {
	text := strings.TrimSpace(o.Text("schema"))
	if text == "" {
		return value.Undefined{}, ""
	}
	v, err := value.ParseJSON(text)
	if _, ok := v.(*value.Object); err != nil || !ok {
		return nil, "has a schema that is no JSON object"
	}
	return v, ""
}

func noValue(*value.Object) (any, string) { return value.Undefined{}, "" }

func pythonForm(o *value.Object) (*value.Object, string) {
	code, problem := candidate.PythonOf(o.Text("code"))
	if problem != "" {
		return nil, problem
	}
	return value.ObjectOf("type", candidate.PythonType, "value", code), ""
}

// maxQuestions is how many questions a judged candidate has at most.
const maxQuestions = 3

func questions(o *value.Object) (*value.Object, string) {
	list := textsMember(o, "questions")
	if len(list) == 0 || len(list) > maxQuestions {
		return nil, fmt.Sprintf("judge needs one to %d questions", maxQuestions)
	}
	return value.ObjectOf("type", candidate.JudgeType, "criteria", list), ""
}

// setScope reads the part of the output that a candidate applies to.
func setScope(a *value.Object, v any) (problem string) {
	in, _ := v.(*value.Object)
	scope, section := value.NewObject(3), value.NewObject(2)
	for _, key := range []string{"from", "to"} {
		if s := strings.TrimSpace(in.Text(key)); s != "" {
			section.Set(key, s)
		}
	}
	if section.Len() > 0 {
		scope.Set("section", section)
	}
	each, match := strings.TrimSpace(in.Text("each")), strings.TrimSpace(in.Text("match"))
	units := []string{"line", "item", "paragraph", "sentence"}
	if each != "" && !slices.Contains(units, each) {
		return fmt.Sprintf("scope each is %q; it is one of %s", format.Excerpt(each), strings.Join(units, ", "))
	}
	if each != "" {
		scope.Set("each", each)
		if match != "" && match != "all" {
			scope.Set("match", match)
		}
	}
	if scope.Len() > 0 {
		a.Set("scope", scope)
	}
	return ""
}
