package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/value"
)

// TestPolicy: an invalid policy opens nothing.
func TestPolicy(t *testing.T) {
	t.Parallel()
	nan, debt := math.NaN(), -1.0
	for want, p := range map[string]engine.Policy{
		`Hosts: "https://x.example": expected a host`: {Hosts: []string{"https://x.example"}},
		`Hosts: "x.example:443": expected a host`:     {Hosts: []string{"x.example:443"}},
		`Hosts: "X.example": expected a host`:         {Hosts: []string{"X.example"}},
		`Hosts: "": expected a host`:                  {Hosts: []string{"ok.example", ""}},
		`Env: "A*": expected the name`:                {Env: []string{"A*"}},
		"US dollars, not NaN":                         {Budget: &nan},
		"US dollars, not -1":                          {Budget: &debt, Trusted: true},
	} {
		if e, err := engine.Open(t.Context(), nil, engine.Options{Policy: p}); err == nil || !strings.Contains(err.Error(), want) || e != nil {
			t.Errorf("%v, want %s", err, want)
		}
	}
	open(t, nil, engine.Options{Policy: engine.Policy{Hosts: []string{"x.example", "::1", "10.0.0.1", "localhost"}, Env: []string{"TEAM_KEY"}}})
}

// TestPolicyEnvironments: providers of an untrusted suite use the user's environment; its
// templates see only allowed variables and those that the suite adds.
func TestPolicyEnvironments(t *testing.T) {
	t.Parallel()
	user, added := proviso.EnvMap{"KEY": "user", "TEAM": "user"}, value.ObjectOf("KEY", "suite", "OWN", "suite")
	for _, c := range []struct {
		policy                          engine.Policy
		keyOfProviders, keyOfTemplates  string
		teamOfTemplates, ownOfProviders string
	}{
		{engine.Policy{Trusted: true}, "suite", "suite", "user", "suite"},
		{engine.Policy{Env: []string{"TEAM"}}, "user", "suite", "user", ""},
		{engine.Policy{}, "user", "suite", "", ""},
	} {
		providers, templates := c.policy.Environments(added, user)
		for _, look := range []struct {
			env        proviso.Env
			name, want string
		}{{providers, "KEY", c.keyOfProviders}, {templates, "KEY", c.keyOfTemplates}, {templates, "TEAM", c.teamOfTemplates}, {providers, "OWN", c.ownOfProviders}} {
			if got, _ := look.env.Lookup(look.name); got != look.want {
				t.Errorf("%+v: %s is %q, want %q", c.policy, look.name, got, look.want)
			}
		}
	}
}
