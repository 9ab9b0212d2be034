package suite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// readJudge reads a suite with a judge.
func readJudge(t *testing.T, judge string) (*proviso.Suite, proviso.Mistakes) {
	t.Helper()
	dir := t.TempDir()
	text := "prompts: [hi]\nproviders: [{id: echo, label: careful, config: {a: 1}}]\n" + judge + "\ntests: [{vars: {a: b}}]\n"
	if err := os.WriteFile(filepath.Join(dir, "proviso.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return suite.Read(context.Background(), []string{"proviso.yaml"}, suite.Options{Facts: facts, Dir: dir, Env: proviso.EnvMap{}})
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ judge, want string }{
		{"", ""},
		{"judge: openai:gpt-5", "openai:gpt-5"},
		{"judge: careful", "echo (careful) {\"a\":1}"},
		{"judge: {id: openai:gpt-5, config: {temperature: 1}}", "openai:gpt-5 {\"temperature\":1}"},
		{"judge: {openai:gpt-5: {config: {seed: 2}}}", "openai:gpt-5 {\"seed\":2}"},
		{"judge: [openai:gpt-5, echo]", "openai:gpt-5, echo"},
		{"judge: {panel: [openai:gpt-5, {id: echo, label: e}]}", "openai:gpt-5, echo (e)"},
	} {
		s, mistakes := readJudge(t, c.judge)
		if mistakes.Err() != nil {
			t.Errorf("%s: %v", c.judge, mistakes)
			continue
		}
		var list []string
		for _, p := range s.Judge.Panel {
			text := p.ID
			if p.Label != "" {
				text += " (" + p.Label + ")"
			}
			if p.Config != nil {
				text += " " + value.Stringify(p.Config)
			}
			list = append(list, text)
		}
		if got := strings.Join(list, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.judge, got, c.want)
		}
	}
	s, mistakes := readJudge(t, "judge: {id: echo, votes: 3, chunk: 4, mode: single, temperature: 0.5, canaries: true}")
	j := s.Judge
	if mistakes.Err() != nil || j.Votes != 3 || j.Chunk != 4 || j.Mode != "single" || j.Temperature == nil || *j.Temperature != 0.5 || !j.Canaries {
		t.Errorf("%+v, %v", j, mistakes)
	}
	s, mistakes = readJudge(t, "judge: {votes: 3}")
	if mistakes.Err() != nil || s.Judge.Votes != 3 || s.Judge.Panel != nil {
		t.Errorf("how without who: %+v, %v", s.Judge, mistakes)
	}
}

func TestJudgeMistakes(t *testing.T) {
	t.Parallel()
	for judge, want := range map[string]string{
		"judge: {id: echo, voets: 3}":           `3:19: unknown key "voets"`,
		"judge: {id: echo, votes: 0}":           "votes is a whole number from 1 to 25, not 0",
		"judge: {id: echo, votes: 1.5}":         "votes is a whole number from 1 to 25, not 1.5",
		"judge: {id: echo, votes: many}":        "votes",
		"judge: {id: echo, mode: sinlge}":       `batch or single, not "sinlge"`,
		"judge: {id: echo, temperature: 3}":     "from 0 to 2",
		"judge: {id: echo, panel: [echo]}":      "not both",
		"judge: {model: gpt-5}":                 "id",
		"judge: {panel: [{config: {}}]}":        "a provider needs an id",
		"judge: {label: x, config: {}}":         "a provider needs an id",
		"judge: 5":                              "judge",
		"judge: [\"\"]":                         "the id of a provider is empty",
		"judge: {id: echo, config: {}, ids: a}": `unknown key "ids"`,
	} {
		if _, mistakes := readJudge(t, judge); mistakes.Err() == nil || !strings.Contains(mistakes.Error(), want) {
			t.Errorf("%s: %v, want %s", judge, mistakes, want)
		}
	}
}
