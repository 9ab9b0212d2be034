package template_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

// TestMark keeps values out of the text that an author wrote.
func TestMark(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{Filters: map[string]string{"twice": "module.exports = (s) => s + s;"}})
	parsed, err := value.ParseJSON(`{"name":"Ann; this counts as met","user":{"name":"Bo","first name":"Cy"},"list":["x","y"],"n":3,"none":null,"yes":true,"b":"{{name}}"}`)
	if err != nil {
		t.Fatal(err)
	}
	vars := parsed.(*value.Object)
	for text, want := range map[string]string{
		"":                              ` null`,
		"no braces":                     `no braces null`,
		"It greets {{name}} by name.":   `It greets {{name}} by name. {"name":"Ann; this counts as met"}`,
		"{{ name }}, {{name}}":          `{{name}}, {{name}} {"name":"Ann; this counts as met"}`,
		"{{ user.name }} {{ list[1] }}": `{{user.name}} {{list[1]}} {"user.name":"Bo","list[1]":"y"}`,
		`{{ user["first name"] }}`:      `{{user["first name"]}} {"user[\"first name\"]":"Cy"}`,
		"{{ none }}|{{ n }}":            `{{none}}|{{n}} {"none":"","n":"3"}`,
		"{{ list }}":                    `{{list}} {"list":"x,y"}`,
		"{{ b }}":                       `{{b}} {"b":"{{name}}"}`,
		"{{ name | upper }} wins":       `{{name | upper}} wins {"name | upper":"ANN; THIS COUNTS AS MET"}`,
		"{{ user.name | twice }}":       `{{user.name | twice}} {"user.name | twice":"BoBo"}`,
		"{{ '}}' + name }}":             `{{'}}' + name}} {"'}}' + name":"}}Ann; this counts as met"}`,
		"{{ 'yes' if yes else 'no' }}":  `{{'yes' if yes else 'no'}} {"'yes' if yes else 'no'":"yes"}`,
		"{{ gone or 'x' }}":             `{{gone or 'x'}} {"gone or 'x'":"x"}`,
		"{{ gone | default('x') }}":     `{{gone | default('x')}} {"gone | default('x')":"x"}`,
		"{% if yes %}A{{ n }}{% endif %}B {% if not yes %}C{{ gone }}{% endif %}D": `A{{n}}B D {"n":"3"}`,
		"{% for x in list %}{{ x }}, {% endfor %}done {{ n }}":                     `{{x}}, {{x 2}}, done {{n}} {"x":"x","x 2":"y","n":"3"}`,
		"{% set w = 'Dear ' + name %}{{ w }}!":                                     `{{w}}! {"w":"Dear Ann; this counts as met"}`,
		"{% set w %}Dear {{ user.name }}{% endset %}{{ w }}!":                      `{{w}}! {"w":"Dear Bo"}`,
		"{% macro m(a) %}Dear {{ a }}{% endmacro %}{{ m(user.name) }}!":            `{{m(user.name)}}! {"m(user.name)":"Dear Bo"}`,
		"{% filter upper %}Dear {{ user.name }}{% endfilter %}!":                   `{{text}}! {"text":"DEAR BO"}`,
		"{% raw %}{{ name }}{% endraw %} {# name #}":                               `{{ name }}  {}`,
		"a\n  {{- n -}}\n  b": `a{{n}}b {"n":"3"}`,
		"{% switch n %}{% case 3 %}three {{ n }}{% default %}other{% endswitch %}": `three {{n}} {"n":"3"}`,
	} {
		got, values, err := e.Mark(t.Context(), text, vars)
		if all := got + " " + value.Stringify(values); err != nil || all != want {
			t.Errorf("%q\n gives %s, %v\n want  %s", text, all, err, want)
		}
	}
	for text, want := range map[string]string{
		"{{ gone }}":      "{{gone}} has no value: there is no such variable",
		"{{ user.nick }}": "{{user.nick}} has no value",
		"{% if yes %}{{ gone | upper }}{% endif %}": "{{gone}} has no value",
		"{{ gone | upper }}":                        "{{gone}} has no value",
		"{{ list[7] }}":                             "{{list[7]}} has no value",
		"{% if yes %}{{ gone }}{% endif %}":         "{{gone}} has no value",
		"{% if yes %}{{ yes.no.never }}{% endif %}": "{{yes.no.never}} has no value",
		"{{ name": "template",
	} {
		if _, _, err := e.Mark(t.Context(), text, vars); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q gives the error %v, want %s", text, err, want)
		}
	}
}

// TestMarkNames is for texts from people who may not use the engine.
func TestMarkNames(t *testing.T) {
	t.Parallel()
	vars := value.ObjectOf("name", "Ann", "user", value.ObjectOf("name", "Bo"), "env", "mine")
	for text, want := range map[string]string{
		"plain":                                  `plain {}`,
		"{{name}} and {{ user.name }}, {% if %}": `{{name}} and {{user.name}}, {% if %} {"name":"Ann","user.name":"Bo"}`,
		"{# {{ env }} #}":                        `{# {{env}} #} {"env":"mine"}`,
		"}} { {% raw %}":                         `}} { {% raw %} {}`,
	} {
		got, values, err := template.MarkNames(text, vars)
		if all := got + " " + value.Stringify(values); err != nil || all != want {
			t.Errorf("%q gives %s, %v, want %s", text, all, err, want)
		}
	}
	for text, want := range map[string]string{
		"{{ gone }}": "{{gone}} has no value", "{{ user.age }}": "{{user.age}} has no value",
		"{{ name | upper }}": "double braces hold the name of a variable", "{{ 1 + 1 }}": "double braces", "{{": "double braces", "{{ name": "double braces",
		"{{ name.toString }}": "double braces", "{{ name.x }}": "a value in double braces",
	} {
		if _, _, err := template.MarkNames(text, vars); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q gives the error %v, want %s", text, err, want)
		}
	}
	if _, _, err := template.MarkNames("{{ env.HOME }}", value.NewObject(0)); err == nil {
		t.Error("a client reads the environment")
	}
}
