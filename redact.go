package proviso

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Redaction replaces a secret in everything that is shown or stored.
const Redaction = "[REDACTED]"

// Redacted returns a copy of a configuration that is safe to show and store. It
// replaces the values of settings with the names of secrets, the values of headers
// that are not known to be harmless, and the keys in addresses. Parts without secrets
// are shared with the original. References to the environment are not secrets.
func Redacted(cfg *value.Object) *value.Object {
	o, _ := redaction{shown: true}.value("", cfg).(*value.Object)
	return o
}

// Keyless returns a configuration without the settings whose names mark a secret. It is
// for hashes that must not change with a key but must change with everything else. The
// result may contain other secrets, so do not show or store it.
func Keyless(cfg *value.Object) *value.Object {
	o, _ := redaction{}.value("", cfg).(*value.Object)
	return o
}

// SecretsIn returns the values that [Redacted] replaces in a configuration, so that they
// can be found elsewhere: values as written, and the user name, the password and the
// query parameters of URLs.
func SecretsIn(cfg *value.Object) []string {
	var list []string
	redaction{shown: true, found: func(v string) { list = append(list, v) }}.value("", cfg)
	return list
}

// redaction replaces secrets in a configuration.
type redaction struct {
	shown  bool         // whether headers, URLs and raw requests are searched
	header bool         // whether the current members are headers
	found  func(string) // receives each secret; may be nil
}

// replace returns the replacement of a secret.
func (r redaction) replace(secret string) string {
	if r.found != nil {
		r.found(secret)
	}
	return Redaction
}

func (r redaction) value(key string, v any) any {
	switch v := v.(type) {
	case string:
		return r.text(key, v)
	case []any:
		var changed []any
		for i, e := range v {
			n := r.value(key, e)
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
	case *value.Object:
		changed := v
		inside := r
		inside.header = r.shown && strings.EqualFold(key, "headers")
		for k, e := range v.All() {
			n := inside.value(k, e)
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

func (r redaction) text(key, v string) string {
	switch {
	case v == "":
		return v
	case (IsSecret(key) || r.header && !IsPlainHeader(key)) && !namesVariable(v):
		return r.replace(v)
	case !r.shown:
		return v
	case key == "request" && strings.Contains(v, "HTTP/"):
		return r.request(v)
	case strings.Contains(v, "://") && !strings.ContainsAny(v, " \t\r\n{"):
		return r.address(v)
	}
	return v
}

// namesVariable reports whether a setting names a variable of the environment in place of a
// secret: in a template, or as ${NAME}, which nothing fills in and which a warning is about.
func namesVariable(v string) bool {
	if strings.Contains(v, "{{") {
		return true
	}
	name, opens := strings.CutPrefix(strings.TrimPrefix(v, "Bearer "), "${")
	name, closes := strings.CutSuffix(name, "}")
	return opens && closes && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// request replaces the secrets in the request line and headers of a raw HTTP request.
func (r redaction) request(text string) string {
	head, body, hasBody := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	for i, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if i > 0 && ok && !IsPlainHeader(name) && !namesVariable(strings.TrimSpace(value)) {
			lines[i] = name + ": " + r.replace(strings.TrimSpace(value))
		}
	}
	if head = strings.Join(lines, "\n"); hasBody {
		head += "\n\n" + body
	}
	return head
}

// plainHeaders are the request headers that never hold a secret.
var plainHeaders = [...]string{
	"accept", "accept-charset", "accept-encoding", "accept-language", "anthropic-beta", "anthropic-version", "cache-control", "connection",
	"content-encoding", "content-language", "content-length", "content-type", "date", "expect", "host", "http-referer", "idempotency-key",
	"openai-beta", "openai-organization", "openai-project", "prefer", "traceparent", "user-agent", "x-correlation-id", "x-request-id", "x-title",
}

// IsPlainHeader reports whether a request header is known to hold no secret. Every
// other header counts as secret, because its name does not show what it holds.
func IsPlainHeader(name string) bool {
	_, found := slices.BinarySearch(plainHeaders[:], strings.ToLower(name))
	return found
}

// RedactedURL replaces the user information of a URL, and the query parameters that
// usually hold a key. The URL may follow the name of a provider, as in
// "webhook:https://…". Any other text is returned unchanged.
func RedactedURL(text string) string { return redaction{}.address(text) }

// address replaces the secrets in a URL.
func (r redaction) address(text string) string {
	at := strings.Index(text, "http")
	if at < 0 || !strings.Contains(text[at:], "://") {
		return text
	}
	u, err := url.Parse(text[at:])
	if err != nil || u.User == nil && u.RawQuery == "" {
		return text
	}
	changed := u.User != nil
	if changed {
		if password, ok := u.User.Password(); ok {
			r.replace(password)
		}
		u.User = url.User(r.replace(u.User.Username()))
	}
	query := u.Query()
	for name, values := range query {
		if IsSecretParameter(name) {
			for _, v := range values {
				r.replace(v)
			}
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

// IsSecretParameter reports whether a URL parameter or a command parameter with this name
// usually holds a secret.
func IsSecretParameter(name string) bool {
	lower := strings.ToLower(name)
	return IsSecret(name) || strings.Contains(lower, "key") || strings.Contains(lower, "sig")
}

// secretParts mark a name as secret if they occur anywhere in it. secretNames must match
// the whole name. Both are written without hyphens and underscores.
var (
	secretParts = [...]string{
		"accesskey", "apikey", "authkey", "authorization", "bearer", "cookie", "credential", "functionskey",
		"passphrase", "passwd", "password", "privatekey", "secret", "subscriptionkey",
	}
	secretNames = [...]string{"auth", "pfx", "pwd", "xauth", "xkey"}
)

// IsSecret reports whether a setting with this key usually holds a secret. Names such
// as max_tokens, and names of environment variables that hold a secret, do not count.
func IsSecret(key string) bool {
	name := strings.ToLower(key)
	if strings.ContainsAny(name, "_-") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")
	}
	for _, part := range secretParts {
		if strings.Contains(name, part) {
			return !strings.HasSuffix(name, "envar") && !strings.HasSuffix(name, "required")
		}
	}
	return strings.HasSuffix(name, "token") || slices.Contains(secretNames[:], name)
}

// same reports whether two values are identical: equal scalars, or the same list or
// object.
func same(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	case *value.Object:
		b, ok := b.(*value.Object)
		return ok && a == b
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || a != a && b != b)
	}
	return a == b
}
