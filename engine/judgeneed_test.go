package engine_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
)

// TestJudging: a judge is named by what changes its verdicts, and by nothing else.
func TestJudging(t *testing.T) {
	const ofSuite = "the judge of the suite"
	for name, tt := range map[string]struct {
		judge     engine.Judge
		env       proviso.EnvMap
		own, suit string
	}{
		"none":                   {own: engine.NeedsJudge, suit: ofSuite},
		"by key":                 {env: proviso.EnvMap{"OPENAI_API_KEY": "secret"}, own: "the judge openai:gpt-6-sol", suit: ofSuite},
		"by variable":            {env: proviso.EnvMap{"OPENAI_API_KEY": "secret", "PROVISO_JUDGE": "openai:chat:a"}, own: "the judge openai:chat:a", suit: ofSuite},
		"by option":              {judge: engine.Judge{Name: "openai:chat:b"}, env: proviso.EnvMap{"PROVISO_JUDGE": "openai:chat:a"}, own: "the judge openai:chat:b", suit: "the judge openai:chat:b"},
		"asked in a manner":      {judge: engine.Judge{Mode: judge.Single, Votes: 3, Canaries: true}, own: engine.NeedsJudge, suit: ofSuite + " (mode single, 3 votes, canaries)"},
		"both":                   {judge: engine.Judge{Name: "x:y", Votes: 3}, own: "the judge x:y (3 votes)", suit: "the judge x:y (3 votes)"},
		"settings of others":     {judge: engine.Judge{Name: "openai:chat:b"}, env: proviso.EnvMap{"AWS_REGION": "eu-west-1", "OLLAMA_BASE_URL": "http://x"}, own: "the judge openai:chat:b", suit: "the judge openai:chat:b"},
		"control characters":     {judge: engine.Judge{Name: "exec:a\x1b[1m"}, own: "the judge exec:a [1m", suit: "the judge exec:a [1m"},
		"settings of a vendor":   {judge: engine.Judge{Name: "openai:chat:b"}, env: proviso.EnvMap{"OPENAI_BASE_URL": "http://x"}},
		"a region":               {judge: engine.Judge{Name: "bedrock:b"}, env: proviso.EnvMap{"AWS_REGION": "eu-west-1", "AWS_SECRET_ACCESS_KEY": "secret"}},
		"code may read anything": {judge: engine.Judge{Name: "exec:./judge"}, env: proviso.EnvMap{"MY_BASE_URL": "http://x"}},
		"a long name":            {judge: engine.Judge{Name: "exec:" + strings.Repeat("x", 1000)}},
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
