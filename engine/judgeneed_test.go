package engine_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
)

// TestJudging: the name of a judge depends on what changes its verdicts, and on nothing else.
func TestJudging(t *testing.T) {
	const ofSuite = "the judge of the suite"
	for name, tt := range map[string]struct {
		judge     engine.Judge
		env       proviso.EnvMap
		own, suit string
	}{
		"none":                          {own: engine.NeedsJudge, suit: ofSuite},
		"by key":                        {env: proviso.EnvMap{"OPENAI_API_KEY": "secret"}, own: "the judge openai:gpt-6-sol", suit: ofSuite},
		"by variable":                   {env: proviso.EnvMap{"OPENAI_API_KEY": "secret", "PROVISO_JUDGE": "openai:chat:a"}, own: "the judge openai:chat:a", suit: ofSuite},
		"by option":                     {judge: engine.Judge{Name: "openai:chat:b"}, env: proviso.EnvMap{"PROVISO_JUDGE": "openai:chat:a"}, own: "the judge openai:chat:b", suit: "the judge openai:chat:b"},
		"asked in a manner":             {judge: engine.Judge{Mode: judge.Single, Votes: 3, Canaries: true}, own: engine.NeedsJudge, suit: ofSuite + " (mode single, 3 votes, canaries)"},
		"both":                          {judge: engine.Judge{Name: "x:y", Votes: 3}, own: "the judge x:y (3 votes)", suit: "the judge x:y (3 votes)"},
		"settings of others":            {judge: engine.Judge{Name: "openai:chat:b"}, env: proviso.EnvMap{"AWS_REGION": "eu-west-1", "OLLAMA_BASE_URL": "http://x"}, own: "the judge openai:chat:b", suit: "the judge openai:chat:b"},
		"control characters":            {judge: engine.Judge{Name: "x:a\x1b[1m"}},
		"settings of a vendor":          {judge: engine.Judge{Name: "openai:chat:b"}, env: proviso.EnvMap{"OPENAI_BASE_URL": "http://x"}},
		"a region":                      {judge: engine.Judge{Name: "bedrock:b"}, env: proviso.EnvMap{"AWS_REGION": "eu-west-1", "AWS_SECRET_ACCESS_KEY": "secret"}},
		"a region with another prefix":  {judge: engine.Judge{Name: "vertex:b"}, env: proviso.EnvMap{"CLOUD_ML_REGION": "europe-west1"}},
		"a version with another prefix": {judge: engine.Judge{Name: "azureopenai:b"}, env: proviso.EnvMap{"OPENAI_API_VERSION": "1"}},
		"code may read anything":        {judge: engine.Judge{Name: "exec:./judge"}, env: proviso.EnvMap{"MY_BASE_URL": "http://x"}},
		"a long name":                   {judge: engine.Judge{Name: "exec:" + strings.Repeat("x", 1000)}},
	} {
		t.Run(name, func(t *testing.T) {
			o := engine.Options{Judge: tt.judge, Engines: engine.Engines{Env: tt.env}}
			own, suit := o.Judging()
			if tt.own == "" {
				if i := strings.Index(own, " (settings "); i < 0 || len(own) != i+len(" (settings 12345678)") || strings.Contains(own, "secret") || len(own) > 300 || suit != own {
					t.Errorf("%q, %q", own, suit)
				}
				return
			}
			if own != tt.own || suit != tt.suit {
				t.Errorf("%q, %q; want %q, %q", own, suit, tt.own, tt.suit)
			}
		})
	}
	one, other := engine.Options{Judge: engine.Judge{Name: "openai:a"}, Engines: engine.Engines{Env: proviso.EnvMap{"OPENAI_BASE_URL": "http://x"}}}, engine.Options{Judge: engine.Judge{Name: "openai:a"}, Engines: engine.Engines{Env: proviso.EnvMap{"OPENAI_BASE_URL": "http://y"}}}
	if a, _ := one.Judging(); func() string { b, _ := other.Judging(); return b }() == a {
		t.Errorf("two addresses have one name: %s", a)
	}
}

// TestJudgingWithoutSecrets: the name of a judge contains no secrets from its id or addresses
// and does not depend on them; it depends on everything else.
func TestJudgingWithoutSecrets(t *testing.T) {
	name := func(id string, env proviso.EnvMap) string {
		o := engine.Options{Judge: engine.Judge{Name: id}, Engines: engine.Engines{Env: env}}
		own, _ := o.Judging()
		for _, secret := range []string{"hunter2", "abcdefghijkl", "somebody"} {
			if strings.Contains(own, secret) {
				t.Errorf("%q shows %q", own, secret)
			}
		}
		return own
	}
	if own, want := name("webhook:https://somebody:hunter2@judge.example/grade?token=abcdefghijkl", nil), "the judge webhook:https://judge.example/grade"; own != want {
		t.Errorf("%q, want %q", own, want)
	}
	if own := name("exec: ./bin/judge --token abcdefghijkl", nil); !strings.HasPrefix(own, "the judge exec:judge (settings ") {
		t.Errorf("%q", own)
	}
	base := func(v string) proviso.EnvMap { return proviso.EnvMap{"OPENAI_BASE_URL": v} }
	for _, tt := range []struct {
		one, other    string
		env, otherEnv proviso.EnvMap
		same          bool
	}{
		{one: "webhook:https://somebody:hunter2@judge.example/grade?token=abcdefghijkl", other: "webhook:https://judge.example/grade?token=other", same: true},
		{one: "webhook:https://judge.example/grade?model=a", other: "webhook:https://judge.example/grade?model=b"},
		{one: "webhook:https://judge.example/a", other: "webhook:https://judge.example/b"},
		{one: "exec:./judge --token abcdefghijkl --strict", other: "exec:./judge --token other --strict", same: true},
		{one: "exec:./judge --token=abcdefghijkl", other: "exec:./judge --token=other", same: true},
		{one: `exec:./judge -H "Authorization: Bearer abcdefghijkl"`, other: `exec:./judge -H "Authorization: Bearer other"`, same: true},
		{one: "exec:env JUDGE_TOKEN=abcdefghijkl ./judge https://somebody:hunter2@judge.example", other: "exec:env JUDGE_TOKEN=other ./judge https://judge.example", same: true},
		{one: "exec:./judge --token a --strict", other: "exec:./judge --token a --lax"},
		{one: "exec:a/judge", other: "exec:b/judge"},
		{one: "openai:a", other: "openai:a", env: base("http://somebody:hunter2@proxy.example/v1?key=abcdefghijkl"), otherEnv: base("http://proxy.example/v1"), same: true},
		{one: "openai:a", other: "openai:a", env: base("http://one.example"), otherEnv: base("http://two.example")},
		{one: "azure:a", other: "azure:a", env: proviso.EnvMap{"AZURE_API_HOST": "somebody:hunter2@h.example"}, otherEnv: proviso.EnvMap{"AZURE_API_HOST": "h.example"}, same: true},
	} {
		a, b := name(tt.one, tt.env), name(tt.other, tt.otherEnv)
		if (a == b) != tt.same {
			t.Errorf("%s and %s: %q and %q", tt.one, tt.other, a, b)
		}
	}
}
