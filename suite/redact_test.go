package suite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// TestCasesShowNoSecrets: the case in reports contains no key, wherever a provider is
// configured, while the case itself keeps it.
func TestCasesShowNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "proviso.yaml"), []byte(`
prompts: [hi]
providers: [echo]
defaultTest:
  options: {provider: {id: "openai:chat:x", config: {apiKey: "{{ env.KEY }}"}}}
tests:
  - vars: {token: shown}
    provider: {id: "openai:chat:y", config: {headers: {Authorization: sk-secret}}}
    assert:
      - {type: webhook, value: "https://u:sk-secret@h.example/?token=sk-secret"}
      - {type: contains, value: a, config: {apiKey: sk-secret}}
      - {type: assert-set, assert: [{type: contains, value: a, provider: {id: x, config: {apiKey: sk-secret}}}]}
`))
	s, mistakes := suite.Read(t.Context(), nil, suite.Options{Facts: facts, Dir: dir, Env: proviso.EnvMap{"KEY": "sk-secret"}})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		shown := value.Stringify(c.Raw)
		for _, a := range c.Assert {
			shown += value.Stringify(a.Raw)
		}
		if strings.Contains(shown, "sk-secret") || !strings.Contains(shown, `"token":"shown"`) {
			t.Errorf("reports show %s", shown)
		}
		if v, _ := c.Assert[0].Value.(string); !strings.Contains(v, "sk-secret") {
			t.Errorf("the webhook lost its key: %s", v)
		}
	}
}
