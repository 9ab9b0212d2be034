package secrets_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/value"
)

const key = `sk-"live"-4242424242`

func TestRedact(t *testing.T) {
	t.Parallel()
	var s secrets.Set
	s.Add(key, "short", "{{ env.TEMPLATE }}")
	std, web := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	for name, text := range map[string]string{
		"raw":        "the key is " + key + ", twice " + key,
		"JSON":       `{"echo":` + value.Stringify("x"+key) + `}`,
		"base64":     "Basic " + std([]byte(key)),
		"offset 1":   std([]byte(":" + key + "?")),
		"offset 2":   std([]byte("me" + key + "\xff\xfe")),
		"offset 3":   web([]byte("you" + key)),
		"url base64": web([]byte("\xff\xfe" + key + "\xff")),
	} {
		got := s.RedactText(text)
		if !strings.Contains(got, proviso.Redaction) || strings.Contains(got, key) || string(s.Redact([]byte(text))) != got || !s.In([]byte(text)) {
			t.Errorf("%s: %s", name, got)
		}
		if strings.Contains(name, "base64") || strings.Contains(name, "offset") {
			rest := strings.ReplaceAll(got, proviso.Redaction, "")
			if len(rest) > 14 {
				t.Errorf("%s: too much is left: %s", name, got)
			}
		}
	}
	for _, text := range []string{"short", "{{ env.TEMPLATE }}", "", "nothing here"} {
		data := []byte(text)
		if got := s.Redact(data); string(got) != text || s.In(data) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestRedactJSON has secrets that look like the JSON around them.
func TestRedactJSON(t *testing.T) {
	t.Parallel()
	for secret, text := range map[string]string{
		"null,null":  `{"a":[null,null,null],"b":"null,null"}`,
		`":true,":`:  `{"a":true,":":1,"b":"\":true,\":"}`,
		`a\"b\"c\"d`: `["a\\\"b\\\"c\\\"d"]`,
	} {
		var s secrets.Set
		s.Add(secret)
		got := string(s.RedactJSON([]byte(text)))
		v, err := value.ParseJSON(got)
		if err != nil || !strings.Contains(got, `"`+proviso.Redaction+`"`) {
			t.Errorf("%s of %s: %s, %v", secret, text, got, err)
		}
		parsed, _ := value.ParseJSON(text)
		if clean := value.Stringify(s.RedactValue(parsed)); clean != value.Stringify(v) {
			t.Errorf("as a value it is %s", clean)
		}
	}
	var s secrets.Set
	s.Add("12345678")
	for _, text := range []string{`"12345678`, `"12345678\`, `12345678`, `{"a":"x\\","b":"12345678"}`} {
		s.RedactJSON([]byte(text)) // does not panic on text that is not JSON
	}
}

func TestNil(t *testing.T) {
	t.Parallel()
	var s *secrets.Set
	s.Add(key)
	s.AddConfig(value.ObjectOf("apiKey", key))
	if s.RedactText(key) != key || s.In([]byte(key)) || s.Env(nil) != nil {
		t.Error("a set that is not there knows something")
	}
}

func TestAddConfig(t *testing.T) {
	t.Parallel()
	var s secrets.Set
	s.AddConfig(value.ObjectOf(
		"apiKey", "apikey-12345678",
		"url", "https://me:password-1234@h.example/?sig=signature-1234",
		"request", "GET / HTTP/1.1\nX-Whatever: header-12345678\n\nbody-12345678",
		"headers", value.ObjectOf("Authorization", "Bearer token-12345678", "X-Tenant", "tenant-12345678", "User-Agent", "agent-12345678")))
	for _, secret := range []string{"apikey-12345678", "password-1234", "signature-1234", "header-12345678", "token-12345678", "tenant-12345678"} {
		if s.RedactText("a "+secret) != "a "+proviso.Redaction {
			t.Errorf("%s is not known", secret)
		}
	}
	for _, plain := range []string{"agent-12345678", "body-12345678", "https://h.example"} {
		if s.RedactText(plain) != plain {
			t.Errorf("%s is taken for a secret", plain)
		}
	}
}

func TestEnv(t *testing.T) {
	t.Parallel()
	var s secrets.Set
	e := s.Env(proviso.EnvMap{"SOME_API_KEY": "some-api-key-1", "OTHER_API_KEY": "other-api-key-1", "FOLDER": "/somewhere/else"})
	for _, name := range []string{"SOME_API_KEY", "FOLDER"} {
		if v, ok := e.Lookup(name); !ok || v == "" {
			t.Fatalf("%s is %q", name, v)
		}
	}
	if got := s.RedactText("some-api-key-1 other-api-key-1 /somewhere/else"); got != proviso.Redaction+" other-api-key-1 /somewhere/else" {
		t.Error(got)
	}
}

// TestAddEnv: the set has the secrets that a started program could print, but no
// words or paths.
func TestAddEnv(t *testing.T) {
	t.Parallel()
	var s secrets.Set
	s.AddEnv(proviso.EnvMap{"A_TOKEN": "token-12", "A_SECRET": "a long enough secret", "A_PASSWORD": "disabled", "PASSWORD_FILE": "/etc/password1", "FOLDER": "/somewhere/1234"})
	if got := s.RedactText("token-12, a long enough secret, disabled, /etc/password1, /somewhere/1234"); got != "[REDACTED], [REDACTED], disabled, /etc/password1, /somewhere/1234" {
		t.Error(got)
	}
}

// TestEverywhere finds a secret at every offset of a text.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	var s secrets.Set
	s.Add("8charsss")
	for before := range 9 {
		for after := range 9 {
			text := strings.Repeat("-", before) + "8charsss" + strings.Repeat("+", after)
			if want := strings.Replace(text, "8charsss", proviso.Redaction, 1); s.RedactText(text) != want {
				t.Errorf("%s stays", text)
			}
		}
	}
}

// BenchmarkIn searches a row that contains none of twelve secrets.
func BenchmarkIn(b *testing.B) {
	var s secrets.Set
	for i := range 12 {
		s.Add(strings.Repeat(string(rune('a'+i)), 3) + "-some-secret-" + strings.Repeat("0", i))
	}
	row := []byte(strings.Repeat(`{"index":1,"text":"what a model said about something"},`, 40))
	b.SetBytes(int64(len(row)))
	for b.Loop() {
		if s.In(row) {
			b.Fatal("found")
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("a key-12345678 b", "key-12345678")
	f.Add("\x00", "\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8")
	f.Fuzz(func(t *testing.T, text, secret string) {
		var s secrets.Set
		s.Add(secret)
		got := s.RedactText(text)
		if v := strings.TrimSpace(secret); len(v) >= secrets.Shortest && !strings.Contains(v, "{{") && !strings.Contains(proviso.Redaction, v) && !strings.Contains(v, proviso.Redaction) {
			if strings.Contains(text, v) && !strings.Contains(got, proviso.Redaction) {
				t.Errorf("%q stays in %q", v, got)
			}
		}
		if got != string(s.Redact([]byte(text))) {
			t.Error("bytes and text differ")
		}
	})
}
