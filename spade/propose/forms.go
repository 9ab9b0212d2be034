package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/shape"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// values read a model's value for the types of a form, or return the problem.
var values = map[string]func(o *value.Object) (any, string){
	"text": textValue, "texts": textsValue, "pattern": patternValue, "range": rangeValue,
	"count": countValue, "chars": charsValue, "schema": schemaValue, "none": noValue,
}

// candidatesReply is the schema of the answer to the second question. Each type's members are
// in their own object, so that an answer has no empty members.
func candidatesReply() *proviso.Reply {
	text, fold := shape.Of("string"), shape.Of("boolean")
	texts, limit := shape.List(text), shape.Any(shape.Of("number", "null"), text)
	scope := shape.Object("each", text, "match", text, "from", text, "to", text)
	scope.Set("type", []any{"object", "null"})
	return shape.Reply("candidates", "candidates", shape.List(shape.Object(
		"name", text, "description", text, "covers", shape.List(shape.Of("integer")), "type", text,
		"value", shape.Any(
			shape.Object("text", text, "ignore_case", fold), shape.Object("texts", texts, "ignore_case", fold),
			shape.Object("pattern", text, "ignore_case", fold), shape.Object("min", limit, "max", limit),
			shape.Object("text", text, "pattern", text, "min", limit, "max", limit, "ignore_case", fold),
			shape.Object("class", text, "min", limit, "max", limit), shape.Object("schema", text),
			shape.Object("questions", texts), shape.Object("code", text),
		),
		"scope", scope, "when", shape.Of("string", "null"),
	)))
}

// flat returns a candidate with the members of its value beside the others, where some models
// write them.
func flat(o *value.Object) *value.Object {
	inner := o.Object("value")
	if inner.Len() == 0 {
		return o
	}
	made := o.Clone()
	for key, v := range inner.All() {
		made.Set(key, v)
	}
	return made
}

// assertionOf makes an unnamed assertion from a model's candidate, or returns the problem.
func assertionOf(o *value.Object) (a *value.Object, problem string) {
	o = flat(o)
	kind := o.Text("type")
	kind = strings.TrimSpace(kind)
	base, not := strings.CutPrefix(kind, "not-")
	switch {
	case (base == candidate.JudgeType || base == python.Type) && not:
		return nil, fmt.Sprintf("%s is not negated: say the opposite in it", base)
	case base == candidate.JudgeType:
		a, problem = questions(o)
	case base == python.Type:
		a, problem = pythonForm(o)
	default:
		f := formOf(base)
		if f == nil {
			return nil, unknownForm(kind, base, not)
		}
		o, inline := plainPattern(o)
		v, wrong := values[f.Name](o)
		if wrong != "" {
			return nil, kind + " " + wrong
		}
		a = value.ObjectOf("type", kind)
		if _, none := v.(value.Undefined); !none {
			a.Set("value", v)
		}
		if fold, _ := o.At("ignore_case").(bool); (fold || inline) && folds(base) {
			a.Set("ignoreCase", true)
		}
	}
	if problem == "" && base != python.Type {
		problem = setScope(a, o.At("scope"))
	}
	if when := strings.TrimSpace(o.Text("when")); when != "" && problem == "" {
		if base == python.Type {
			return nil, "python has no when: put the condition into the code"
		}
		a.Set("when", when)
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

// folds reports whether ignoreCase has an effect on a type.
func folds(base string) bool {
	k, ok := check.Lookup(base)
	return ok && k.Folds && !k.FoldsCase
}

// unknownForm suggests the type that was probably meant.
func unknownForm(kind, base string, not bool) string {
	if kind == "" {
		return "type is missing"
	}
	names := []string{candidate.JudgeType, python.Type}
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

// Parts of a candidate that are texts.

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

// limits copies min and max into an object. A limit is a number, or a variable in braces.
func limits(o, into *value.Object) (problem string) {
	numbers := map[string]float64{}
	for _, key := range []string{"min", "max"} {
		v := o.At(key)
		text, isText := v.(string)
		if text = strings.TrimSpace(text); isText && strings.Contains(text, "{{") {
			into.Set(key, text)
			continue
		}
		if isText && text != "" {
			v = value.ToNumber(text)
		}
		n, ok := v.(float64)
		switch {
		case !ok:
			continue
		case n != n:
			return "has a limit that is neither a number nor a variable in braces"
		case n < 0:
			return "has a limit below 0"
		case n != float64(int64(n)):
			return "has a limit that is no whole number"
		}
		numbers[key] = n
		into.Set(key, n)
	}
	lowest, low := numbers["min"]
	most, high := numbers["max"]
	switch {
	case !into.Has("min") && !into.Has("max"):
		return "needs min, max or both"
	case low && high && lowest > most:
		return "has a min above its max"
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
	code, problem := python.Value(o.Text("code"))
	if problem != "" {
		return nil, problem
	}
	return value.ObjectOf("type", python.Type, "value", imports(code)+code), ""
}

// maxQuestions is the maximum number of questions of a judged candidate.
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
