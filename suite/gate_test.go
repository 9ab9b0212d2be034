package suite_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
)

// readGate reads a suite with rules for its gate.
func readGate(t *testing.T, file, gate, tests string) (*proviso.Suite, proviso.Mistakes) {
	t.Helper()
	dir := t.TempDir()
	text := "prompts: [hi]\nproviders: [echo]\ngate: " + gate + "\n" + tests + "\n"
	for name, data := range map[string]string{file: text, "cases.jsonl": `{"vars":{"a":"b"},"assert":[{"type":"contains","value":"x","id":"elsewhere"}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return suite.Read(t.Context(), []string{file}, suite.Options{Dir: dir, Facts: facts})
}

const gateTests = `tests: [{vars: {a: b}, assert: [{type: contains, value: a, id: no-secrets}, {type: equals, value: b, metric: tone}, {type: icontains, value: c}]}]`

func TestGate(t *testing.T) {
	t.Parallel()
	s, mistakes := readGate(t, "proviso.yaml", `
  margin: 3%
  alpha: 0.1
  mustPass: [no-secrets, "icontains: c"]
  minCases: 80
  minScore: 0.75
  assertions: {tone: {min: 90%}}
  cost: {max: 0.02, margin: 20%}
  latency: {p95: 4000, margin: 0.5}`, gateTests)
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	g := s.Gate
	for what, got := range map[string][2]float64{
		"margin": {*g.Margin, 0.03}, "alpha": {*g.Alpha, 0.1}, "minCases": {float64(*g.MinCases), 80}, "minScore": {*g.MinScore, 0.75},
		"tone": {*g.Assertions["tone"].Min, 0.9}, "cost": {*g.Cost.Max, 0.02}, "cost margin": {*g.Cost.Margin, 0.2},
		"p95": {*g.Latency.P95, 4000}, "latency margin": {*g.Latency.Margin, 0.5},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is %v, want %v", what, got[0], got[1])
		}
	}
	if want := []string{"no-secrets", "icontains: c"}; !slices.Equal(g.MustPass, want) {
		t.Errorf("mustPass %v", g.MustPass)
	}
	if s, _ := readGate(t, "proviso.yaml", "", gateTests); s.Gate != nil {
		t.Errorf("without rules: %+v", s.Gate)
	}
}

// TestGateMistakes: every mistake has its place and is an error, also where promptfoo
// would ignore the key.
func TestGateMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ gate, want string }{
		{"[]", ":3:7: gate takes an object, not a list"},
		{"{margn: 3%}", `:3:8: unknown key "margn" (did you mean "margin"?)`},
		{"{margin: 3}", ":3:16: margin: expected a number from 0 to 1, or a percentage from 0% to 100%, found 3 (did you mean 3%?)"},
		{"{margin: [3]}", "margin takes a text or a number, not a list"},
		{"{alpha: 0}", "alpha is more than 0 and less than 0.5"},
		{"{margin: 0%}", "margin is more than 0"},
		{"{minCases: 0}", "minCases is at least 1"},
		{"{minCases: 1.5}", "expected a whole number from 0 to 1000000, not 1.5"},
		{"{mustPass: no-secrets}", "mustPass takes a list"},
		{"{mustPass: [5]}", "expected a name, not the number 5"},
		{"{mustPass: [no-secret]}", `:3:19: no assertion of the suite has the id or metric "no-secret" (did you mean "no-secrets"?)`},
		{"{assertions: {tonne: {min: 1}}}", `:3:21: no assertion of the suite has the id or metric "tonne" (did you mean "tone"?)`},
		{"{assertions: {tone: 0.9}}", ":3:27: the rule of an assertion is an object such as {min: 0.9}, not the number 0.9"},
		{"{assertions: {tone: {margin: 2}}}", "margin: "},
		{"{assertions: {tone: {minimum: 0.9}}}", `unknown key "minimum"`},
		{"{cost: {max: 0}}", ":3:20: max is a number above 0, not 0"},
		{"{cost: {limit: 1}}", `unknown key "limit"`},
		{"{latency: {p99: 1}}", `unknown key "p99" (did you mean "p95"?)`},
		{"{latency: {p95: fast}}", "p95 takes a number"},
	} {
		for _, file := range []string{"proviso.yaml", "promptfooconfig.yaml"} {
			_, mistakes := readGate(t, file, c.gate, gateTests)
			if err := mistakes.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s: got %v, want %q", file, c.gate, mistakes, c.want)
			}
		}
	}
	_, mistakes := readGate(t, "proviso.yaml", "{margin: 7, alpha: 7, minScore: x, cost: {max: -1}}", gateTests)
	if n := len(mistakes); n != 4 {
		t.Errorf("%d mistakes at once, want 4: %v", n, mistakes)
	}
}

// TestGateUnknownNames: a name that may come from a file or from a template is not a
// mistake yet.
func TestGateUnknownNames(t *testing.T) {
	t.Parallel()
	for _, tests := range []string{
		"tests: file://cases.jsonl",
		`tests: [{vars: {a: b}, assert: [{type: contains, value: a, metric: "{{a}}"}]}]`,
	} {
		if _, mistakes := readGate(t, "proviso.yaml", "{mustPass: [elsewhere]}", tests); mistakes.Err() != nil {
			t.Errorf("%s: %v", tests, mistakes)
		}
	}
}

// TestRulesOf reads the rules from the configuration that a run keeps.
func TestRulesOf(t *testing.T) {
	t.Parallel()
	s, mistakes := readGate(t, "proviso.yaml", "{margin: 7%, mustPass: [tone]}", gateTests)
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	rules, mistakes := suite.RulesOf("run", s.Config)
	if mistakes.Err() != nil || *rules.Margin != 0.07 || !slices.Equal(rules.MustPass, []string{"tone"}) {
		t.Errorf("%+v, %v", rules, mistakes)
	}
	s, _ = readGate(t, "proviso.yaml", "{margin: 7}", gateTests)
	if _, mistakes = suite.RulesOf("run", s.Config); mistakes.Err() == nil || !strings.Contains(mistakes.Error(), "did you mean 7%?") {
		t.Error(mistakes)
	}
	if rules, mistakes = suite.RulesOf("run", nil); rules != nil || mistakes != nil {
		t.Errorf("without a configuration: %v, %v", rules, mistakes)
	}
}
