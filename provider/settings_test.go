package provider_test

import (
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// TestEveryKindIsDocumented opens each provider without a key: the error names
// the variable for the key.
func TestEveryKindIsDocumented(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	before := ""
	for _, k := range provider.Kinds() {
		if k.Doc == "" || k.Name <= before {
			t.Errorf("%s: not documented, or after %s", k.Name, before)
		}
		before = k.Name
		if !strings.Contains(string(docs), "`"+k.Name) {
			t.Errorf("docs/providers.md does not name %s", k.Name)
		}
	}
}

func TestMissingKey(t *testing.T) {
	t.Parallel()
	for id, variable := range map[string]string{
		"openai:gpt-4o": "OPENAI_API_KEY", "anthropic:claude-3": "ANTHROPIC_API_KEY", "google:gemini-2.5-pro": "GOOGLE_API_KEY or GEMINI_API_KEY or PALM_API_KEY",
		"groq:llama": "GROQ_API_KEY", "openrouter:a/b": "OPENROUTER_API_KEY", "mistral:mistral-small-latest": "MISTRAL_API_KEY",
		"xai:grok-4": "XAI_API_KEY", "github:openai/gpt-5": "GITHUB_TOKEN", "huggingface:chat:m": "HF_TOKEN or HF_API_TOKEN",
	} {
		_, err := provider.Open(proviso.ProviderSpec{ID: id, Pointer: "/providers/0"}, provider.Options{Env: proviso.EnvMap{}})
		e := coded(t, err, proviso.Invalid)
		if !strings.Contains(e.Error(), "set "+variable+" in the environment") || e.Pointer != "/providers/0" {
			t.Errorf("%s: %v at %q", id, e, e.Pointer)
		}
	}
	own := value.ObjectOf("apiKeyEnvar", "MY_KEY")
	_, err := provider.Open(proviso.ProviderSpec{ID: "openai:gpt-4o", Config: own}, provider.Options{Env: proviso.EnvMap{"OPENAI_API_KEY": secret}})
	if e := coded(t, err, proviso.Invalid); !strings.Contains(e.Error(), "MY_KEY") {
		t.Errorf("error %v", e)
	}
	for _, id := range []string{"vllm:m", "llama.cpp:m", "localai:chat:m", "litellm:m", "lmstudio:m", "ollama:m"} {
		if _, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{}); err != nil {
			t.Errorf("%s needs a key: %v", id, err)
		}
	}
}

func TestMistakesAtOpen(t *testing.T) {
	t.Parallel()
	env := environment("http://localhost")
	for _, tc := range []struct{ id, config, code, want string }{
		{"openai:chat:", ``, proviso.Invalid, "name of a model"},
		{"openai:assistant:x", ``, proviso.Unsupported, "openai:assistant"},
		{"openai:gpt-4o", `{"functionToolCallbacks":{"f":"file://tools.js:f"}}`, proviso.Unsupported, "functions that the model calls are not run"},
		{"openai:live:gpt-live-1", ``, proviso.Unsupported, "openai:live"},
		{"openai:gpt-live-1", ``, proviso.Unsupported, "openai:gpt-live-1"},
		{"openai:gpt-realtime-mini", ``, proviso.Unsupported, "openai:gpt-realtime-mini"},
		{"openai:gpt-4o-mini-tts-2025-12-15", ``, proviso.Unsupported, "openai:gpt-4o-mini-tts"},
		{"openai:agents-api:a", ``, proviso.Unsupported, "openai:agents-api"},
		{"openai:codex-security", ``, proviso.Unsupported, "openai:codex-security"},
		{"openai:codex-app-server", ``, proviso.Unsupported, "openai:codex-app-server"},
		{"openai:speech:x", ``, proviso.Unsupported, "openai:speech"},
		{"anthropic:claude-agent-sdk", ``, proviso.Unsupported, "claude-agent-sdk"},
		{"azure:video:x", ``, proviso.Unsupported, "azure:video"},
		{"openai:gpt-4o", `{"apiBaseUrl":"ftp://x"}`, proviso.Invalid, "http or https"},
		{"openai:gpt-4o", `{"tools":"file://missing.json"}`, proviso.NotFound, "missing.json"},
		{"openai:gpt-4o", `{"tools":"file://tools.js"}`, proviso.Unsupported, "cannot come from code"},
		{"openai:gpt-4o", `{"tools":"file://loop.json"}`, proviso.Limit, "nested"},
	} {
		spec := proviso.ProviderSpec{ID: tc.id}
		if tc.config != "" {
			spec.Config = parse(t, tc.config)
		}
		f := files{"loop.json": `["file://loop.json"]`, "tools.js": "1"}
		_, err := provider.Open(spec, provider.Options{Env: env, Files: f})
		if e := coded(t, err, tc.code); !strings.Contains(e.Error(), tc.want) {
			t.Errorf("%s %s: %v", tc.id, tc.config, e)
		}
	}
	_, err := provider.Open(proviso.ProviderSpec{ID: "azure:chat:mine"}, provider.Options{Env: proviso.EnvMap{"AZURE_API_KEY": secret}})
	if e := coded(t, err, proviso.Invalid); !strings.Contains(e.Error(), "AZURE_API_BASE_URL") {
		t.Errorf("azure without an address: %v", e)
	}
}

// TestUnavailableWithoutKey: the error about an unsupported kind comes before the error about its
// missing key.
func TestUnavailableWithoutKey(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"openai:live:x", "openai:agents-api:x", "openai:codex-security", "openai:tts:x", "openai:gpt-live-1"} {
		_, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{Env: proviso.EnvMap{}})
		if e := coded(t, err, proviso.Unsupported); !strings.Contains(e.Error(), "is not available in this version") {
			t.Errorf("%s: %v", id, e)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(fakemodel.Options{})
	defer s.Close()
	key := proviso.EnvMap{"OPENAI_API_KEY": secret, "GROQ_API_KEY": secret, "AZURE_API_KEY": secret}
	with := func(name, v string) proviso.EnvMap {
		m := proviso.EnvMap{name: v}
		for k, v := range key {
			m[k] = v
		}
		return m
	}
	for _, tc := range []struct {
		id, config string
		env        proviso.EnvMap
		own        *value.Object
		path       string
	}{
		{"openai:gpt-4o", `{"apiBaseUrl":"URL/proxy"}`, key, nil, "/proxy/chat/completions"},
		{"openai:gpt-4o", `{"apiHost":"URL"}`, key, nil, "/v1/chat/completions"},
		{"openai:gpt-4o", `{}`, with("OPENAI_BASE_URL", s.URL+"/x/"), nil, "/x/chat/completions"},
		{"openai:gpt-4o", `{}`, with("OPENAI_API_HOST", s.URL), nil, "/v1/chat/completions"},
		{"openai:gpt-4o", `{}`, key, value.ObjectOf("OPENAI_BASE_URL", s.URL+"/own"), "/own/chat/completions"},
		{"groq:llama", `{"apiBaseUrl":"URL/openai/v1"}`, key, nil, "/openai/v1/chat/completions"},
		{"vllm:m", `{}`, proviso.EnvMap{"VLLM_BASE_URL": s.URL + "/v1"}, nil, "/v1/chat/completions"},
		{"azure:chat:d", `{"apiHost":"URL","apiVersion":"1"}`, key, nil, "/openai/deployments/d/chat/completions?api-version=1"},
		{"azure:chat:d", `{"apiBaseUrl":"URL/openai/","apiVersion":"1"}`, key, nil, "/openai/deployments/d/chat/completions?api-version=1"},
	} {
		cfg := parse(t, strings.ReplaceAll(tc.config, "URL", s.URL))
		p, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Config: cfg, Env: tc.own}, provider.Options{Env: tc.env})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil || s.Last().Path != tc.path {
			t.Errorf("%s %s asked %s, %v; want %s", tc.id, tc.config, s.Last().Path, err, tc.path)
		}
	}
}

// TestUntrustedSuites tries to redirect the key of the environment.
func TestUntrustedSuites(t *testing.T) {
	t.Parallel()
	env := proviso.EnvMap{"OPENAI_API_KEY": secret}
	for _, tc := range []struct {
		config string
		own    *value.Object
		env    proviso.EnvMap
		bad    bool
	}{
		{config: `{"apiBaseUrl":"https://evil.test/v1"}`, bad: true},
		{config: `{"apiHost":"evil.test"}`, bad: true},
		{config: `{"apiBaseUrl":"http://api.openai.com/v1"}`, bad: true}, // unencrypted
		{config: `{}`, own: value.ObjectOf("OPENAI_BASE_URL", "https://evil.test"), bad: true},
		{config: `{"apiBaseUrl":"https://evil.test/v1","apiKeyEnvar":"OPENAI_API_KEY"}`, bad: true},
		{config: `{"apiBaseUrl":"https://evil.test/v1","apiKey":"its own"}`},
		{config: `{"apiBaseUrl":"https://evil.test/v1"}`, own: value.ObjectOf("OPENAI_API_KEY", "its own")},
		{config: `{"apiBaseUrl":"https://Allowed.test./v1"}`},
		{config: `{"apiBaseUrl":"http://allowed.test/v1"}`, bad: true}, // unencrypted
		{config: `{"apiBaseUrl":"http://localhost:1234/v1"}`},
		{config: `{"apiBaseUrl":"https://allowed.test.evil.test/v1"}`, bad: true},
		{config: `{"apiBaseUrl":"https://allowed.test@evil.test/v1"}`, bad: true},
		{config: `{"apiBaseUrl":"https://api.openai.com/v2"}`},
		{config: `{}`, env: proviso.EnvMap{"OPENAI_API_KEY": secret, "OPENAI_BASE_URL": "https://mine.test"}},
	} {
		e := env
		if tc.env != nil {
			e = tc.env
		}
		spec := proviso.ProviderSpec{ID: "openai:gpt-4o", Config: parse(t, tc.config), Env: tc.own}
		_, err := provider.Open(spec, provider.Options{
			Env: e, Untrusted: true, KeyHost: func(host string) bool { return host == "allowed.test" || host == "localhost" },
		})
		if tc.bad {
			coded(t, err, proviso.Refused)
		} else if err != nil {
			t.Errorf("%s: %v", tc.config, err)
		}
		if _, err := provider.Open(spec, provider.Options{Env: e}); err != nil {
			t.Errorf("%s: a trusted suite gets %v", tc.config, err)
		}
	}
}

// TestPriceFile checks the price file for typing mistakes.
func TestPriceFile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("prices.json")
	if err != nil {
		t.Fatal(err)
	}
	var check func(name string, prices *value.Object, long bool)
	check = func(name string, prices *value.Object, long bool) {
		for key, v := range prices.All() {
			switch f, number := v.(float64); {
			case key == "long" && !long:
				check(name+" long", v.(*value.Object), true)
			case !number || f < 0 || key == "over" && !long:
				t.Errorf("%s: %s is %v", name, key, v)
			case key != "input" && key != "output" && key != "cached" && key != "written" && key != "over":
				t.Errorf("%s: what is %s?", name, key)
			}
		}
		in, _ := prices.At("input").(float64)
		if cached, ok := prices.At("cached").(float64); ok && cached > in || !prices.Has("output") {
			t.Errorf("%s: %s", name, value.Stringify(prices))
		}
	}
	for vendor, models := range parse(t, string(data)).All() {
		for name, prices := range models.(*value.Object).All() {
			check(vendor+" "+name, prices.(*value.Object), false)
		}
	}
}

// TestOllamaBesideOpenAI: Ollama serves OpenAI's API under /v1, and suites name that address for
// ollama: as well. promptfoo ignores it there; here it means the server.
func TestOllamaBesideOpenAI(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(fakemodel.Options{})
	defer s.Close()
	for _, base := range []string{"", "/", "/v1", "/v1/"} {
		p, err := provider.Open(proviso.ProviderSpec{ID: "ollama:chat:m", Config: value.ObjectOf("apiBaseUrl", s.URL+base)}, provider.Options{Env: proviso.EnvMap{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Answer(t.Context(), proviso.Ask{Prompt: "p"}); err != nil || s.Last().API != fakemodel.OllamaChat {
			t.Errorf("%s: %v, asked %s", base, err, s.Last().API)
		}
	}
}
