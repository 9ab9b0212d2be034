package proviso_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

func TestRedacted(t *testing.T) {
	t.Parallel()
	v, err := value.ParseJSON(`{"apiKey":"sk-1","max_tokens":5,"apiKeyEnvar":"OPENAI_API_KEY","headers":{"Authorization":"Bearer x","X-Id":"1","User-Agent":"u","X-Tenant":"{{ env.T }}"},
		"list":[{"client_secret":"s"}],"token":"{{ env.T }}","password":"","secret":"${MY_KEY}","secretKey":"${my-key}"}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiKey":"[REDACTED]","max_tokens":5,"apiKeyEnvar":"OPENAI_API_KEY","headers":{"Authorization":"[REDACTED]","X-Id":"[REDACTED]","User-Agent":"u","X-Tenant":"{{ env.T }}"},"list":[{"client_secret":"[REDACTED]"}],"token":"{{ env.T }}","password":"","secret":"${MY_KEY}","secretKey":"[REDACTED]"}`
	cfg := v.(*value.Object)
	if got := value.Stringify(proviso.Redacted(cfg)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if cfg.At("apiKey") != "sk-1" {
		t.Error("the original was changed")
	}
	plain := value.ObjectOf("a", []any{1.0, value.ObjectOf("b", "c")})
	if proviso.Redacted(plain) != plain {
		t.Error("what holds no secret is copied")
	}
}

func TestIsSecret(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Auth-Key", "X-Access-Key", "X-Auth", "X-Key", "AccessKeyId", "bearer", "bearerToken",
		"pwd", "api_key", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "Authorization", "Set-Cookie", "sessionToken",
	} {
		if !proviso.IsSecret(name) {
			t.Errorf("%s is kept", name)
		}
	}
	for _, name := range []string{"max_tokens", "apiKeyEnvar", "apiKeyRequired", "key", "cwd", "author", "monkey", "authorship"} {
		if proviso.IsSecret(name) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}

// TestRedactedParts covers keys in URLs and in raw requests.
func TestRedactedParts(t *testing.T) {
	t.Parallel()
	cfg := value.ObjectOf(
		"url", "https://u:pw@h.example/p?api_key=1",
		"other", "https://h.example/p?a={{env.KEY}}",
		"prompt", "see https://h.example/?key=1 for more",
		"request", "POST /p HTTP/1.1\nHost: h\nX-Api: sekret\nX-Env: {{env.KEY}}\n\nX-Body: kept")
	got := proviso.Redacted(cfg)
	want := value.ObjectOf(
		"url", "https://%5BREDACTED%5D@h.example/p?api_key=%5BREDACTED%5D",
		"other", "https://h.example/p?a={{env.KEY}}",
		"prompt", "see https://h.example/?key=1 for more",
		"request", "POST /p HTTP/1.1\nHost: h\nX-Api: [REDACTED]\nX-Env: {{env.KEY}}\n\nX-Body: kept")
	if g, w := value.Stringify(got), value.Stringify(want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// TestKeyless: configurations that differ only in a key have the same identity, and
// configurations that differ in a header do not.
func TestKeyless(t *testing.T) {
	t.Parallel()
	of := func(name, val string) string {
		return value.Stringify(proviso.Keyless(value.ObjectOf("headers", value.ObjectOf(name, val))))
	}
	if of("X-Api-Key", "a") != of("X-Api-Key", "b") || of("X-Model", "a") == of("X-Model", "b") {
		t.Error("what identifies a provider is not what it answers by")
	}
}

func TestRedactedURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"webhook:https://u:pw@h.example/p?a=1": "webhook:https://%5BREDACTED%5D@h.example/p?a=1",
		"https://h.example/p?api_key=1&b=2":    "https://h.example/p?api_key=%5BREDACTED%5D&b=2",
		"https://h.example/p?b=2":              "https://h.example/p?b=2",
		"openai:chat:gpt-5":                    "openai:chat:gpt-5",
		"http":                                 "http",
		"see http: no":                         "see http: no",
	} {
		if got := proviso.RedactedURL(text); got != want {
			t.Errorf("RedactedURL(%q) = %q, want %q", text, got, want)
		}
	}
}
