package spade_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// TestWholeSuite: a suite reads as what it was made of, and texts of runs stay data.
func TestWholeSuite(t *testing.T) {
	t.Parallel()
	vars := func(text string) *value.Object { return value.ObjectOf("q", text) }
	list := vars("a list")
	list.Set("tags", []any{"x", "y"})
	cases := []trial.Trial{
		{ID: "o1", Label: "0", Output: "{{ env.HOME }}\nfile:///etc/hostname\x1b[31m\u202e", Vars: vars("one: # two")},
		{ID: "o2", Label: "1", Output: "file:///etc/hostname", Vars: vars("one: # two")},
		{ID: "o3", Output: "x", Vars: vars("{{ env.HOME }}")},
		{ID: "o4", Output: "x", Vars: vars("file:///etc/hostname")},
		{ID: "o5", Output: "x", Vars: value.ObjectOf("q", []any{"{% include 'x' %}"})},
		{ID: "o6", Output: "x", Vars: list},
	}
	for _, prompt := range []string{"Answer.\n{{q}}", "file://secret.txt", "exec:rm -rf", "prompts/*.txt", "x.txt", "langfuse://x", "- a: b # c"} {
		for _, providers := range [][]string{nil, {"openai:gpt-5-mini"}} {
			f := spade.WholeSuite{Description: "Of: # a prompt", Prompt: prompt, Providers: providers, Cases: cases, Assertions: []byte("assertions:\n  - id: short\n    type: contains\n    value: x\n")}
			data := f.YAML()
			name := filepath.Join(t.TempDir(), "suite.yaml")
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{Env: proviso.EnvMap{"HOME": "secret"}, Facts: proviso.Facts{Types: check.Facts(), Providers: provider.Facts()}})
			if err := mistakes.Err(); err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			var read []*proviso.Case
			for c, err := range s.Cases() {
				if err != nil {
					t.Fatal(err)
				}
				read = append(read, c)
			}
			want := 3
			if providers != nil {
				want = 2
			}
			if len(read) != want || strings.TrimPrefix(s.Prompts[0].Raw, "{% raw %}{% endraw %}") != prompt || len(s.Prompts) != 1 || !strings.Contains(string(data), "Left out: 3 outputs") {
				t.Errorf("%d cases, prompts %+v\n%s", len(read), s.Prompts, data)
			}
			if c := read[0]; c.Vars.At("q") != "one: # two" || c.HasOutput == (providers != nil) || c.HasOutput && c.Output != cases[0].Output || c.Description != "o1, labelled bad" {
				t.Errorf("%+v\n%s", read[0], data)
			}
			if strings.ContainsAny(string(data), "\x1b\u202e") {
				t.Errorf("what controls a terminal is in the file:\n%q", data)
			}
		}
	}
}
