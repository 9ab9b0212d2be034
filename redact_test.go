package proviso_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
)

func TestRedacted(t *testing.T) {
	t.Parallel()
	v, err := proviso.ParseJSON(`{"apiKey":"sk-1","max_tokens":5,"apiKeyEnvar":"OPENAI_API_KEY","headers":{"Authorization":"Bearer x","X-Id":"1"},
		"list":[{"client_secret":"s"}],"token":"{{ env.T }}","password":""}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiKey":"[REDACTED]","max_tokens":5,"apiKeyEnvar":"OPENAI_API_KEY","headers":{"Authorization":"[REDACTED]","X-Id":"1"},"list":[{"client_secret":"[REDACTED]"}],"token":"{{ env.T }}","password":""}`
	cfg := v.(*proviso.Object)
	if got := proviso.Stringify(proviso.Redacted(cfg)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if cfg.At("apiKey") != "sk-1" {
		t.Error("the original was changed")
	}
	plain := proviso.ObjectOf("a", []any{1.0, proviso.ObjectOf("b", "c")})
	if proviso.Redacted(plain) != plain {
		t.Error("what holds no secret is copied")
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
