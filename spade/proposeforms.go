package spade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// form is a group of assertion types whose value a model writes in the same way.
type form struct {
	types []string
	says  string // meaning of the members of a candidate for these types
	value func(o *value.Object) (any, string)
}

// The types whose value is more than a plain value.
const (
	judgeType  = "judge"
	pythonType = "python"
)

// forms are the types that a model may use, as its instructions list them.
func forms() []form {
	return []form{
		{[]string{"contains", "icontains", "starts-with", "ends-with", "equals"}, "text (icontains in any case)", textValue},
		{[]string{"contains-all", "contains-any", "icontains-all", "icontains-any", "in-order"}, "texts; in-order wants them one after the other", textsValue},
		{[]string{"regex"}, "pattern, an ECMAScript regular expression without flags, found anywhere; it is searched for, so anchor what has to be the whole", patternValue},
		{[]string{"word-count", "sentence-count", "char-count", "line-count", "item-count", "token-count"}, "min, max or both; items are those of lists", rangeValue},
		{[]string{"count"}, "how often text or pattern occurs: min, max or both", countValue},
		{[]string{"chars"}, "class (emoji, digit, upper, lower, letter, punctuation, non-ascii, cjk) with min, max or both", charsValue},
		{[]string{"is-json", "contains-json"}, "schema, a JSON Schema (draft-07) as text, or \"\"; is-json wants nothing else beside it", schemaValue},
		{[]string{"is-html", "contains-html", "is-xml", "contains-xml", "is-sql", "contains-sql", "is-refusal"}, "nothing more", noValue},
	}
}

// typeLines lists the forms for the instructions.
func typeLines() string {
	var b strings.Builder
	for _, f := range forms() {
		b.WriteString("   - " + strings.Join(f.types, ", ") + ": " + f.says + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// candidatesReply is the shape of the answer to the second question.
func candidatesReply() *proviso.Reply {
	text, texts, limit := schemaOf("string"), listOf(schemaOf("string")), schemaOf("number", "null")
	return &proviso.Reply{Name: "candidates", Schema: strictObject("candidates", listOf(strictObject(
		"name", text, "description", text, "covers", listOf(schemaOf("integer")), "type", text,
		"text", text, "texts", texts, "pattern", text, "min", limit, "max", limit, "class", text, "schema", text, "ignore_case", schemaOf("boolean"),
		"scope", strictObject("each", text, "match", text, "from", text, "to", text),
		"questions", texts, "code", text,
	)))}
}

// assertionOf makes an assertion, without a name, of a model's candidate; otherwise it
// returns the problem.
func assertionOf(o *value.Object) (a *value.Object, problem string) {
	kind, _ := o.At("type").(string)
	kind = strings.TrimSpace(kind)
	base, not := strings.CutPrefix(kind, "not-")
	switch {
	case (base == judgeType || base == pythonType) && not:
		return nil, fmt.Sprintf("%s is not negated: say the opposite in it", base)
	case base == judgeType:
		a, problem = questions(o)
	case base == pythonType:
		a, problem = pythonOf(o)
	default:
		f := formOf(base)
		if f == nil {
			return nil, unknownForm(kind, base, not)
		}
		v, wrong := f.value(o)
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
	if problem == "" && base != pythonType {
		problem = setScope(a, o.At("scope"))
	}
	return a, problem
}

func formOf(base string) *form {
	all := forms()
	if i := slices.IndexFunc(all, func(f form) bool { return slices.Contains(f.types, base) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// folds reports whether ignoreCase changes what a type does.
func folds(base string) bool {
	k, ok := check.Lookup(base)
	return ok && k.Folds && !strings.HasPrefix(base, "icontains")
}

// unknownForm suggests the type that was probably meant.
func unknownForm(kind, base string, not bool) string {
	if kind == "" {
		return "type is missing"
	}
	names := []string{judgeType, pythonType}
	for _, f := range forms() {
		names = append(names, f.types...)
	}
	problem := fmt.Sprintf("there is no type %q to choose", excerpt(kind))
	if near := document.Nearest(base, names); near != "" {
		if not {
			near = "not-" + near
		}
		problem += "; the nearest is " + near
	}
	return problem
}

// Texts of a candidate.

func textMember(o *value.Object, key string) string { s, _ := o.At(key).(string); return s }

func textValue(o *value.Object) (any, string) {
	if text := textMember(o, "text"); strings.TrimSpace(text) != "" {
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
	if p := textMember(o, "pattern"); p != "" {
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
	text, re := textMember(o, "text"), textMember(o, "pattern")
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
	class := strings.TrimSpace(textMember(o, "class"))
	if class == "" {
		return nil, "needs class"
	}
	v := value.ObjectOf("class", class)
	return v, limits(o, v)
}

func schemaValue(o *value.Object) (any, string) {
	text := strings.TrimSpace(textMember(o, "schema"))
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

// maxQuestions is how many questions a judged candidate has at most.
const maxQuestions = 3

func questions(o *value.Object) (*value.Object, string) {
	list := textsMember(o, "questions")
	if len(list) == 0 || len(list) > maxQuestions {
		return nil, fmt.Sprintf("judge needs one to %d questions", maxQuestions)
	}
	return value.ObjectOf("type", judgeType, "criteria", list), ""
}

// setScope reads the part of the output that a candidate applies to.
func setScope(a *value.Object, v any) (problem string) {
	in, _ := v.(*value.Object)
	scope, section := value.NewObject(3), value.NewObject(2)
	for _, key := range []string{"from", "to"} {
		if s := strings.TrimSpace(textMember(in, key)); s != "" {
			section.Set(key, s)
		}
	}
	if section.Len() > 0 {
		scope.Set("section", section)
	}
	each, match := strings.TrimSpace(textMember(in, "each")), strings.TrimSpace(textMember(in, "match"))
	units := []string{"line", "item", "paragraph", "sentence"}
	if each != "" && !slices.Contains(units, each) {
		return fmt.Sprintf("scope each is %q; it is one of %s", excerpt(each), strings.Join(units, ", "))
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
