package proviso

import (
	"net/url"
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

// RedactedURL replaces the user information of an address, and what usually is a
// key in its query. The address may stand behind the name of a provider, as in
// "webhook:https://…"; any other text is returned as it is.
func RedactedURL(text string) string {
	at := strings.Index(text, "http")
	if at < 0 || !strings.Contains(text[at:], "://") {
		return text
	}
	u, err := url.Parse(text[at:])
	if err != nil || u.User == nil && u.RawQuery == "" {
		return text
	}
	if u.User != nil {
		u.User = url.User(Redaction)
	}
	query := u.Query()
	changed := u.User != nil
	for name := range query {
		lower := strings.ToLower(name)
		if IsSecret(name) || strings.Contains(lower, "key") || strings.Contains(lower, "sig") {
			query.Set(name, Redaction)
			changed = true
		}
	}
	if !changed {
		return text
	}
	u.RawQuery = query.Encode()
	return text[:at] + u.String()
}

// IsSecret reports whether a key usually holds a secret. Names such as
// max_tokens hold none.
func IsSecret(key string) bool {
	name := strings.ToLower(key)
	if strings.ContainsAny(name, "_-") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")
	}
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
