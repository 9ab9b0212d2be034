package criteria_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge/criteria"
	"github.com/proviso-eval/proviso/value"
)

func paramsOf(t *testing.T, text string) *value.Object {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		t.Fatalf("%s is no object", text)
	}
	return o
}

// TestEveryTemplateFileIsRead: a broken file is not skipped silently.
func TestEveryTemplateFileIsRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("templates/*")
	if err != nil {
		t.Fatal(err)
	}
	all := criteria.Templates()
	if len(files) != len(all) || len(all) < 12 {
		t.Errorf("%d files, %d templates", len(files), len(all))
	}
	for i, tpl := range all {
		if i > 0 && all[i-1].Name >= tpl.Name {
			t.Errorf("%s stands before %s", all[i-1].Name, tpl.Name)
		}
		if _, err := os.Stat(filepath.Join("templates", tpl.Name+".yaml")); err != nil {
			t.Error(err)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ template, params, want string }{
		{"max-length", `{"tokens": 1000}`, `check {"type":"token-count","value":{"max":1000}}`},
		{"max-length", `{"words": "12"}`, `check {"type":"word-count","value":{"max":12}}`},
		{"max-length", `{"words": "{{limit}}"}`, `check {"type":"word-count","value":{"max":"{{limit}}"}}`},
		{"max-length {tokens: 1000}", ``, `check {"type":"token-count","value":{"max":1000}}`},
		{"language", `{"language": "German"}`, `Apart from names, code and quotations, the output is written in German.`},
		{"no-advice", ``, `The output tells the user to do nothing that would be advice of one of these kinds, other than to see a professional: medical, legal, financial.`},
		{"no-competitors", `{"names": ["A+B", "C.D"]}`, `check {"type":"not-regex","value":"(?<![A-Za-z0-9])(?:A\\+B|C\\.D)(?![A-Za-z0-9])","ignoreCase":true}` + "\n" +
			`The output does not point the user to any of these by a description or another name: A+B, C.D.`},
		{"format-json", `{"schema": {"type": "object"}}`, `check {"type":"is-json","value":{"type":"object"}}`},
		{"format-json", `{"schema": "file://s.json"}`, `check {"type":"is-json","value":"file://s.json"}`},
		{"format-json", `{"schema": null}`, `check {"type":"is-json"}`},
		{"tone", `{"tone": "{{other}} {{tone}}"}`, `The tone of the whole output is this: {{other}} {{tone}}.`},
		{"cites-sources", `{"style": "brackets", "min": 2}`, `Every claim in the output that rests on a source names that source beside the claim.` + "\n" +
			`check {"type":"count","value":{"regex":"\\[\\d+\\]","min":2}}`},
	} {
		parts, mistakes := criteria.Expand(proviso.Criterion{Template: c.template, Params: paramsOf(t, c.params)}, "")
		var lines []string
		for _, p := range parts {
			if p.Check != nil {
				lines = append(lines, "check "+value.Stringify(p.Check.Raw))
			} else {
				lines = append(lines, p.Text)
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(lines, "\n")); diff != "" || len(mistakes) > 0 {
			t.Errorf("%s %s: %v\n%s", c.template, c.params, mistakes, diff)
		}
	}
	if parts, mistakes := criteria.Expand(proviso.Criterion{Text: "Is it {{short}}?"}, ""); len(mistakes) > 0 || len(parts) != 1 || parts[0].Text != "Is it {{short}}?" {
		t.Errorf("a plain criterion: %v, %v", parts, mistakes)
	}
}

func TestExpandMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ template, params, pointer, want, valid string }{
		{"max-lenght", ``, "/c/template", `unknown template "max-lenght"`, "max-length"},
		{"max-length", ``, "/c", "exactly one of tokens, words, characters, sentences, lines, found 0", ""},
		{"max-length", `{"words": 3, "lines": 2}`, "/c", "found 2", ""},
		{"max-length", `{"wrods": 3}`, "/c/params/wrods", `no parameter "wrods" of the template "max-length"; it has tokens, words`, "words"},
		{"max-length", `{"words": 2.5}`, "/c/params/words", "a whole number from 1, not 2.5", ""},
		{"max-length", `{"words": 0}`, "/c/params/words", "a whole number from 1, not 0", ""},
		{"max-length", `{"words": ""}`, "/c/params/words", "a whole number from 1", ""},
		{"no-refusal", `{"a/b": 1}`, "/c/params/a~1b", "it has none", ""},
		{"language", ``, "/c", `needs the parameter "language": such as German`, ""},
		{"language", `{"language": "  "}`, "/c/params/language", "is a text, not", ""},
		{"language", `{"language": ["de"]}`, "/c/params/language", "is a text, not", ""},
		{"no-competitors", `{"names": []}`, "/c/params/names", "a list of 1 to 100 texts", ""},
		{"no-competitors", `{"names": [{}]}`, "/c/params/names", "a list of texts", ""},
		{"cites-sources", `{"style": "bracket"}`, "/c/params/style", "one of any, brackets, links", "brackets"},
		{"stays-on-topic", `{"topic": "tea", "redirect": "yes"}`, "/c/params/redirect", "true or false", ""},
		{"format-json", `{"schema": [1]}`, "/c/params/schema", "an object, or file://", ""},
		{"max-length {words: }}", ``, "/c/template", "not a YAML mapping", ""},
		{"max-length {words: 2}", `{"words": 2}`, "/c/template", "are given both in the template and in params", ""},
	} {
		parts, mistakes := criteria.Expand(proviso.Criterion{Template: c.template, Params: paramsOf(t, c.params)}, "/c")
		if len(mistakes) != 1 || len(parts) != 0 {
			t.Errorf("%s %s: %v, %v", c.template, c.params, parts, mistakes)
			continue
		}
		m := mistakes[0]
		if m.Pointer != c.pointer || !strings.Contains(m.Message, c.want) || c.valid != "" && !strings.Contains(strings.Join(m.Valid, " "), c.valid) {
			t.Errorf("%s %s: %s: %s (valid %v)", c.template, c.params, m.Pointer, m.Message, m.Valid)
		}
	}
	_, mistakes := criteria.Expand(proviso.Criterion{Template: "max-length", Params: paramsOf(t, `{"a": 1, "b": 2, "words": []}`)}, "/c")
	if len(mistakes) != 3 {
		t.Errorf("all mistakes at once: %v", mistakes)
	}
	if _, mistakes := criteria.Expand(proviso.Criterion{Text: "x", Template: "no-refusal"}, "/c"); len(mistakes) != 1 || mistakes[0].Pointer != "/c/text" {
		t.Errorf("text and template: %v", mistakes)
	}
}

// TestTemplateChecks tries the checks of templates on outputs.
func TestTemplateChecks(t *testing.T) {
	t.Parallel()
	compiler := check.New(check.Options{})
	for _, c := range []struct {
		template, params, output string
		want                     bool
	}{
		{"max-length", `{"words": 3}`, "one two three", true},
		{"max-length", `{"words": 3}`, "one two three four", false},
		{"min-length", `{"characters": 3}`, "ab", false},
		{"no-competitors", `{"names": ["Apple"]}`, "Eat a pineapple.", true},
		{"no-competitors", `{"names": ["Apple"]}`, "Try APPLE's.", false},
		{"no-pii", ``, "Write to jane.doe@example.co.uk.", false},
		{"no-pii", ``, "Meet me @ noon.", true},
		{"plain-text", ``, "Plain: 2 * 3 * 4 = 24, a < b, x_y.", true},
		{"plain-text", ``, "- a list", false},
		{"plain-text", ``, "See [here](https://x.example).", false},
		{"plain-text", ``, "<b>bold</b>", false},
		{"has-sections", `{"sections": ["Summary", "Details"]}`, "# summary\nx\n# Details\ny", true},
		{"has-sections", `{"sections": ["Summary", "Details"]}`, "# Details\n# Summary", false},
		{"step-by-step", ``, "1. Open it.\n2. Close it.", true},
		{"step-by-step", `{"min": 3}`, "1. Open it.\n2. Close it.", false},
		{"cites-sources", `{"style": "links", "min": 2}`, "See https://a.example/x) and https://b.example.", true},
		{"cites-sources", `{"style": "brackets"}`, "No source.", false},
		{"no-refusal", ``, "I'm sorry, I can't help with that.", false},
	} {
		parts, _ := criteria.Expand(proviso.Criterion{Template: c.template, Params: paramsOf(t, c.params)}, "")
		held := true
		for _, p := range parts {
			if p.Check != nil {
				v := compiler.Decide(context.Background(), p.Check, &check.Row{Output: &proviso.Output{Value: c.output}})
				if v.Status == proviso.Errored {
					t.Errorf("%s: %s", c.template, v.Reason)
				}
				held = held && v.Status == proviso.Pass
			}
		}
		if held != c.want {
			t.Errorf("%s %s on %q: %v", c.template, c.params, c.output, held)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("max-length {words: 3}", "")
	f.Add("max-length {words: [", "words")
	f.Fuzz(func(t *testing.T, template, name string) {
		c := proviso.Criterion{Template: template}
		if name != "" {
			c.Params = value.ObjectOf(name, name)
		}
		parts, mistakes := criteria.Expand(c, "/c")
		if (len(parts) == 0) == (len(mistakes) == 0) {
			t.Errorf("%d parts, %d mistakes", len(parts), len(mistakes))
		}
	})
}
