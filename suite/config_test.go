package suite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

func TestConfigHasNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := `
prompts: ["{{q}}"]
providers:
  - id: openai:gpt-5
    config:
      apiKey: sk-secret
      apiKeyEnvar: MY_KEY
      max_tokens: 5
      headers: {Authorization: "Bearer abc", X-Api-Key: "{{ env.KEY }}", Accept: text/plain}
env: {OPENAI_API_KEY: sk-secret, PLAIN: x}
tests: [{vars: {q: 1}}]
`
	if err := os.WriteFile(filepath.Join(dir, "proviso.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, mistakes := suite.Read(context.Background(), nil, suite.Options{Facts: facts, Dir: dir, Env: environment})
	if s == nil {
		t.Fatal(mistakes)
	}
	want := `{"prompts":["{{q}}"],"providers":[{"id":"openai:gpt-5","config":{"apiKey":"[REDACTED]","apiKeyEnvar":"MY_KEY",` +
		`"max_tokens":5,"headers":{"Authorization":"[REDACTED]","X-Api-Key":"{{ env.KEY }}","Accept":"text/plain"}}}],` +
		`"env":{"OPENAI_API_KEY":"[REDACTED]","PLAIN":"x"},"tests":[{"vars":{"q":1}}]}`
	if got := value.Stringify(s.Config); got != want {
		t.Errorf("got %s", got)
	}
	headers := s.Providers[0].Config.At("headers").(*value.Object)
	if s.Providers[0].Config.At("apiKey") != "sk-secret" || headers.At("X-Api-Key") != "sk-1" {
		t.Errorf("the provider got %s", value.Stringify(s.Providers[0].Config))
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := suite.Environment(value.ObjectOf("SET", "over", "NEW", "n"), environment)
	for name, want := range map[string]string{"SET": "over", "NEW": "n", "KEY": "sk-1"} {
		if got, ok := env.Lookup(name); !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, ok := env.Lookup("NONE"); ok {
		t.Error("NONE is set")
	}
	if n := len(env.Names()); n != 3 {
		t.Errorf("%d names", n)
	}
}

func TestReadCancelled(t *testing.T) {
	t.Parallel()
	dir := folder(t, "proviso.yaml")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s, mistakes := suite.Read(ctx, nil, suite.Options{Facts: facts, Dir: dir}); s != nil || mistakes.Err() == nil {
		t.Errorf("got %v, %v", s, mistakes)
	}
}
