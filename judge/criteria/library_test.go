package criteria_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/value"
)

const brand = `{"brand": {"doc": "the output speaks like us", "params": {"name": {"type": "text", "doc": "our name", "required": true}},
	"parts": [{"text": "The output calls the company {{name}}"}, {"check": {"type": "icontains", "value": "{{name}}"}}]}}`

// TestLibrary: a client's own templates are used together with the shipped ones, and
// mistakes in them are reported.
func TestLibrary(t *testing.T) {
	t.Parallel()
	l, wrong := criteria.ReadLibrary(paramsOf(t, brand), "/templates")
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	show := func(l *criteria.Library, template, params string) string {
		parts, wrong := l.Expand(proviso.Criterion{Template: template, Params: paramsOf(t, params)}, "/c")
		var texts []string
		for _, e := range wrong {
			texts = append(texts, e.Pointer+": "+e.Error())
		}
		for _, p := range parts {
			if p.Check != nil {
				p.Text = value.Stringify(p.Check.Raw)
			}
			texts = append(texts, p.Text)
		}
		return strings.Join(texts, "; ")
	}
	for _, tt := range []struct {
		library                *criteria.Library
		template, params, want string
	}{
		{l, "brand", `{"name": "Acme"}`, `The output calls the company Acme; {"type":"icontains","value":"Acme"}`},
		{l, "brand {name: Acme}", "", `The output calls the company Acme; {"type":"icontains","value":"Acme"}`},
		{l, "brand", "", `/c: the template "brand" needs the parameter "name": our name`},
		{l, "max-length", `{"words": 3}`, `{"type":"word-count","value":{"max":3}}`},
		{l, "brnd", "", `/c/template: unknown template "brnd"`},
		{l, "brand", `{"name": "` + strings.Repeat("x", 2001) + `"}`, `/c/params/name: name of the template "brand" is`},
		{nil, "brand", `{"name": "Acme"}`, `/c/template: unknown template "brand"`},
		{nil, "max-length", `{"words": 3}`, `{"type":"word-count","value":{"max":3}}`},
	} {
		if got := show(tt.library, tt.template, tt.params); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %s: %s", tt.template, tt.params, got)
		}
	}
	_, unknown := l.Expand(proviso.Criterion{Template: "brnd"}, "/c")
	if unknown[0].Valid[0] != "brand" {
		t.Errorf("valid names are %v", unknown[0].Valid)
	}
}

// TestLibraryMistakes: a client's templates are bounded, and each template gets one clear
// mistake.
func TestLibraryMistakes(t *testing.T) {
	t.Parallel()
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf(`"t%d": {}`, i)
	}
	for text, want := range map[string]string{
		`{"max-length": {"doc": "x", "parts": [{"text": "y"}]}}`: `a shipped template is called "max-length"`,
		`{"Brand!": {"doc": "x", "parts": [{"text": "y"}]}}`:     "letters in lower case",
		`{"a": 7}`:                           "an object {doc, params, parts}",
		`{"a": {}}`:                          "a: no doc",
		`{"a": {"doc": "x"}}`:                "a: no parts",
		`{"a": {"doc": "x", "pats": []}}`:    `unknown key "pats"`,
		`{"a": {"doc": "x", "parts": [{}]}}`: "either a text or a check",
		`{"a": {"doc": "x", "parts": [{"text": "{{b}}"}]}}`:                                                                              `there is no parameter "b"`,
		`{"a": {"doc": "x", "params": {"b": {"type": "texts", "doc": "d"}}, "parts": [{"if": {"b": ["c"]}, "text": "y"}]}}`:              "if compares with",
		`{"a": {"doc": "x", "params": {"b": {"type": "textz", "doc": "d"}}, "parts": [{"text": "y"}]}}`:                                  "one of the types",
		`{"a": {"doc": "x", "parts": [{"text": "` + strings.Repeat("y", 4001) + `"}]}}`:                                                  "more than 4000 bytes",
		`{"a": {"doc": "x", "params": {"b": {"type": "text", "doc": "d"}}, "parts": [{"text": "` + strings.Repeat("{{b}}", 21) + `"}]}}`: "20 placeholders",
		`{"a": {"doc": "x", "parts": [` + strings.Repeat(`{"text": "y"},`, 20) + `{"text": "y"}]}}`:                                      "at most 20",
		`{` + strings.Join(many, ",") + `}`: "101 templates",
	} {
		l, wrong := criteria.ReadLibrary(paramsOf(t, text), "/templates")
		if l != nil || len(wrong) != 1 || !strings.Contains(wrong[0].Error(), want) || !strings.HasPrefix(wrong[0].Pointer, "/templates") {
			t.Errorf("%.80s: %v", text, wrong)
		}
	}
}

// TestLibraryBombs: short templates with long parameters, used often, take bounded
// memory.
func TestLibraryBombs(t *testing.T) {
	t.Parallel()
	text := `{"bomb": {"doc": "x", "params": {"b": {"type": "text", "doc": "d"}}, "parts": [` + strings.Repeat(`{"text": "{{b}}{{b}}{{b}}"},`, 19) + `{"text": "y"}]}}`
	l, wrong := criteria.ReadLibrary(paramsOf(t, text), "")
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	filled := 0
	for range 1000 {
		parts, wrong := l.Expand(proviso.Criterion{Template: "bomb", Params: value.ObjectOf("b", strings.Repeat("x", 2000))}, "/c")
		if len(wrong) > 0 {
			if wrong[0].Code != proviso.Limit || filled > 16<<20 {
				t.Errorf("%v after %d bytes", wrong, filled)
			}
			return
		}
		for _, p := range parts {
			filled += len(p.Text)
		}
	}
	t.Errorf("%d bytes were filled in", filled)
}
