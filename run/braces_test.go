package run_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// bracesFixtures are prompts and variables that contain braces, as in code, LaTeX and other
// template languages, with what promptfoo 0.123.1 sent to the provider, or the fact that it
// could not.
const bracesFixtures = "testdata/braces.jsonl"

// bracesBase are variables that many fixtures have.
const bracesBase = `{"name":"World","n":3,"obj":{"k":"v"},"nul":null,"flag":true,"money":"costs $5, $$6, $& and $' and $` + "`" + ` and $1"}`

// braces is a fixture.
type braces struct {
	prompt, sent string
	vars         *value.Object
	fails        bool
}

func readBraces(t *testing.T) []braces {
	t.Helper()
	data, err := os.ReadFile(bracesFixtures)
	if err != nil {
		t.Fatal(err)
	}
	var list []braces
	for line := range strings.Lines(string(data)) {
		v, err := value.ParseJSON(line)
		if err != nil {
			t.Fatal(err)
		}
		o := v.(*value.Object)
		b := braces{prompt: o.At("prompt").(string), fails: o.Has("error"), vars: value.NewObject(0)}
		b.sent, _ = o.At("sent").(string)
		if o.Has("base") {
			base, _ := value.ParseJSON(bracesBase)
			b.vars = base.(*value.Object)
		}
		for name, v := range o.At("vars").(*value.Object).All() {
			b.vars.Set(name, v)
		}
		list = append(list, b)
	}
	return list
}

// TestBraces compares what is sent.
func TestBraces(t *testing.T) {
	t.Parallel()
	byPrompt := map[string][]braces{}
	var order []string
	for _, b := range readBraces(t) {
		if len(byPrompt[b.prompt]) == 0 {
			order = append(order, b.prompt)
		}
		byPrompt[b.prompt] = append(byPrompt[b.prompt], b)
	}
	templates, code := template.New(template.Options{}), script.New(script.Options{})
	t.Cleanup(func() { templates.Close(); code.Close() })
	dir := t.TempDir()
	for _, prompt := range order {
		sent, mistake := sentFor(t, templates, code, dir, prompt, byPrompt[prompt])
		for i, b := range byPrompt[prompt] {
			switch {
			case foreignWords(b):
				continue
			case mistake != nil && !b.fails:
				t.Errorf("%q: a mistake (%v), want %q", b.prompt, mistake, b.sent)
			case mistake != nil:
			case b.fails && sent[i] != nil, !b.fails && (sent[i] == nil || *sent[i] != b.sent):
				got := "an error"
				if sent[i] != nil {
					got = "\"" + *sent[i] + "\""
				}
				t.Errorf("prompt %q\n with %v\n got  %s\n want %q (error %v)", b.prompt, b.vars.At("t"), got, b.sent, b.fails)
			}
		}
	}
}

// foreignWords reports whether a text comes from the engine: the source of built-in JavaScript
// functions, or the position of a case in the recorded suite.
func foreignWords(b braces) bool {
	text := b.prompt + value.ToString(b.vars.At("t"))
	for _, word := range []string{"constructor", "toString", "joiner", "__evalStepId"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// sentFor runs a suite in promptfoo's format with one prompt and returns what was sent for each
// case, nil for an error.
func sentFor(t *testing.T, templates *template.Engine, code proviso.Code, dir, prompt string, cases []braces) ([]*string, error) {
	t.Helper()
	tests := make([]any, len(cases))
	for i, b := range cases {
		tests[i] = value.ObjectOf("vars", b.vars, "options", value.ObjectOf("disableVarExpansion", true))
	}
	config := value.ObjectOf("prompts", []any{value.ObjectOf("raw", prompt, "label", "p")}, "providers", []any{"echo"}, "tests", tests)
	name := filepath.Join(dir, "promptfooconfig.json")
	if err := os.WriteFile(name, value.AppendJSON(nil, config), 0o644); err != nil {
		t.Fatal(err)
	}
	s, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{})
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	o := run.Options{Engines: run.Engines{Templates: templates, Code: code, Env: proviso.EnvMap{}, Files: suite.NewFiles(dir, suite.FilesOptions{})}}
	completed(&o)
	p, mistakes := run.New(t.Context(), s, o)
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	out, err := p.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	sent := make([]*string, len(cases))
	for i, r := range rows(t, out) {
		if text, ok := at(r, "response", "output").(string); ok {
			sent[i] = &text
		}
	}
	return sent, nil
}
