package provider_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// TestNeed: what a provider takes from the user's environment is reported by name, whether or not
// it is there. What the suite supplies is not reported.
func TestNeed(t *testing.T) {
	key := func(name string) proviso.EnvMap { return proviso.EnvMap{name: "the-key"} }
	for name, tt := range map[string]struct {
		id     string
		config *value.Object
		own    *value.Object // the provider's environment
		env    proviso.EnvMap
		want   string
	}{
		"there":                     {"openai:chat:m", nil, nil, key("OPENAI_API_KEY"), "OPENAI_API_KEY true"},
		"missing":                   {"openai:chat:m", nil, nil, nil, "OPENAI_API_KEY false"},
		"one of several":            {"google:m", nil, nil, key("GEMINI_API_KEY"), "GOOGLE_API_KEY or GEMINI_API_KEY or PALM_API_KEY true"},
		"the suite has the key":     {"openai:chat:m", value.ObjectOf("apiKey", "k"), nil, nil, ""},
		"the suite sets the name":   {"openai:chat:m", nil, value.ObjectOf("OPENAI_API_KEY", "k"), nil, ""},
		"the suite names it":        {"openai:chat:m", value.ObjectOf("apiKeyEnvar", "MY_KEY"), nil, nil, "MY_KEY false"},
		"the suite writes a secret": {"openai:chat:m", value.ObjectOf("apiKeyEnvar", "sk-secret"), nil, nil, ""},
		"needs none":                {"ollama:chat:m", nil, nil, key("OLLAMA_API_KEY"), ""},
		"computes":                  {"echo", nil, nil, nil, ""},
		"logins":                    {"bedrock:m", nil, nil, proviso.EnvMap{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, "credentials for bedrock true"},
		"no login":                  {"azure:chat:m", value.ObjectOf("apiHost", "x.openai.azure.com"), nil, nil, "credentials for azure false"},
		"a key in place of a login": {"vertex:gemini-2", nil, nil, key("VERTEX_API_KEY"), "credentials for vertex true"},
	} {
		for _, keyless := range []bool{false, true} {
			told := map[string]bool{}
			_, _ = provider.Open(proviso.ProviderSpec{ID: tt.id, Config: tt.config, Env: tt.own}, provider.Options{Env: tt.env, Keyless: keyless, Untrusted: true,
				Need: func(what string, here bool) {
					if known, is := told[what]; is {
						here = here && known
					}
					told[what] = here
				}})
			var list []string
			for what, here := range told {
				list = append(list, fmt.Sprint(what, " ", here))
				if here != provider.Has(tt.env, what) {
					t.Errorf("%s: Has(%q) is not %v", name, what, here)
				}
			}
			slices.Sort(list)
			if got := strings.Join(list, ", "); got != tt.want {
				t.Errorf("%s, keyless %v: got %q, want %q", name, keyless, got, tt.want)
			}
		}
	}
}

// TestUsualNeeds lists names only.
func TestUsualNeeds(t *testing.T) {
	list := provider.UsualNeeds()
	for _, want := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "credentials for bedrock", "credentials for azure"} {
		if !slices.Contains(list, want) {
			t.Errorf("%q lacks %s", list, want)
		}
	}
	if provider.Has(proviso.EnvMap{"x": "1"}, "x") || provider.Has(proviso.EnvMap{}, "a judge model") {
		t.Error("what is no name of a variable is there")
	}
}
