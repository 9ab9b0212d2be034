package suite

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// redacted stands for a secret.
const redacted = "[REDACTED]"

// redact returns a configuration with its secrets replaced. What has none is
// shared with the original. References to the environment are no secrets.
func redact(cfg *proviso.Object) *proviso.Object {
	o, _ := redactValue("", cfg).(*proviso.Object)
	return o
}

func redactValue(key string, v any) any {
	switch v := v.(type) {
	case string:
		if isSecret(key) && v != "" && !strings.Contains(v, "{{") {
			return redacted
		}
	case []any:
		var changed []any
		for i, e := range v {
			n := redactValue(key, e)
			if changed == nil && !same(n, e) {
				changed = slices.Clone(v)
			}
			if changed != nil {
				changed[i] = n
			}
		}
		if changed != nil {
			return changed
		}
	case *proviso.Object:
		changed := v
		for k, e := range v.All() {
			n := redactValue(k, e)
			if same(n, e) {
				continue
			}
			if changed == v {
				changed = v.Clone()
			}
			changed.Set(k, n)
		}
		return changed
	}
	return v
}

// isSecret reports whether a key usually holds a secret. Names such as
// max_tokens hold none.
func isSecret(key string) bool {
	name := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
	for _, word := range [...]string{"apikey", "secret", "password", "passwd", "authorization", "credential", "privatekey", "cookie", "passphrase"} {
		if strings.Contains(name, word) {
			return !strings.HasSuffix(name, "envar") && !strings.HasSuffix(name, "required")
		}
	}
	return strings.HasSuffix(name, "token") || name == "auth" || name == "pfx"
}
