package proviso

import (
	"slices"
	"strings"
)

// Redaction stands for a secret in what is shown and kept.
const Redaction = "[REDACTED]"

// Redacted returns a configuration with its secrets replaced, by the names they
// usually have. What has none is shared with the original. References to the
// environment are no secrets.
func Redacted(cfg *Object) *Object {
	o, _ := redactValue("", cfg).(*Object)
	return o
}

func redactValue(key string, v any) any {
	switch v := v.(type) {
	case string:
		if IsSecret(key) && v != "" && !strings.Contains(v, "{{") {
			return Redaction
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
	case *Object:
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

// IsSecret reports whether a key usually holds a secret. Names such as
// max_tokens hold none.
func IsSecret(key string) bool {
	name := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
	for _, word := range [...]string{"apikey", "secret", "password", "passwd", "authorization", "credential", "privatekey", "cookie", "passphrase"} {
		if strings.Contains(name, word) {
			return !strings.HasSuffix(name, "envar") && !strings.HasSuffix(name, "required")
		}
	}
	return strings.HasSuffix(name, "token") || name == "auth" || name == "pfx"
}

// same reports whether two values are one: equal scalars, or the very list or
// object.
func same(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	case *Object:
		b, ok := b.(*Object)
		return ok && a == b
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || a != a && b != b)
	}
	return a == b
}
