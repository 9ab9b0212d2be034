package judge_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/value"
)

// exampleParams returns a value for each required parameter.
func exampleParams(tpl criteria.Template) *value.Object {
	o := value.NewObject(0)
	val := func(p criteria.Param) any {
		switch p.Type {
		case criteria.ParamInteger:
			return 5.0
		case criteria.ParamTexts:
			return []any{"one", "two"}
		case criteria.ParamBoolean:
			return true
		case criteria.ParamChoice:
			return p.Values[len(p.Values)-1]
		case criteria.ParamObject:
			return value.ObjectOf("type", "object")
		}
		return "a thing"
	}
	for _, p := range tpl.Params {
		if p.Required || len(tpl.OneOf) > 0 && p.Name == tpl.OneOf[0] {
			o.Set(p.Name, val(p))
		}
	}
	return o
}

// TestTemplatesExpand: every template expands to questions without lint findings, and to
// checks that compile.
func TestTemplatesExpand(t *testing.T) {
	t.Parallel()
	compiler := check.New(check.Options{})
	for _, tpl := range criteria.Templates() {
		parts, mistakes := criteria.Expand(proviso.Criterion{Template: tpl.Name, Params: exampleParams(tpl)}, "/criteria/0")
		if len(mistakes) > 0 || len(parts) == 0 {
			t.Errorf("%s: %v, %d parts", tpl.Name, mistakes, len(parts))
		}
		for _, p := range parts {
			if (p.Text == "") == (p.Check == nil) {
				t.Errorf("%s: a part is a question or a check: %+v", tpl.Name, p)
			}
			if strings.Contains(p.Text, "{{") || p.Check != nil && strings.Contains(value.Stringify(p.Check.Raw), "{{") {
				t.Errorf("%s: a placeholder is left: %+v", tpl.Name, p)
			}
			if p.Check == nil {
				for _, l := range lint.Assertion(&proviso.Assertion{Criteria: []proviso.Criterion{{Text: p.Text}}}) {
					t.Errorf("%s: %q: %s: %s", tpl.Name, p.Text, l.Rule, l.Message)
				}
				continue
			}
			if _, wrong := compiler.Compile([]*proviso.Assertion{p.Check}); len(wrong) > 0 {
				t.Errorf("%s: %s: %v", tpl.Name, value.Stringify(p.Check.Raw), wrong)
			}
		}
	}
}
