package suite

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// redactCase is [proviso.Redacted] for a case as reports show it. Only what configures a
// provider or names an endpoint is looked at.
func redactCase(raw *proviso.Object) *proviso.Object {
	if !mayHoldSecrets(raw) {
		return raw
	}
	return redactAssertion(proviso.Redacted(raw))
}

// mayHoldSecrets reports whether a case or an assertion has a part that secrets
// usually stand in.
func mayHoldSecrets(o *proviso.Object) bool {
	for _, key := range [...]string{"provider", "providers", "config", "options"} {
		if o.Has(key) {
			return true
		}
	}
	if kind, _ := o.At("type").(string); strings.HasSuffix(kind, "webhook") {
		return true
	}
	list, _ := o.At("assert").([]any)
	return slices.ContainsFunc(list, func(e any) bool {
		member, ok := e.(*proviso.Object)
		return ok && mayHoldSecrets(member)
	})
}

// redactAssertion replaces the secrets of an assertion, or of the assertions of a
// case or a set: keys in its configuration, and passwords and keys in the address
// of a webhook.
func redactAssertion(o *proviso.Object) *proviso.Object {
	if !mayHoldSecrets(o) {
		return o
	}
	out := proviso.Redacted(o)
	if kind, _ := out.At("type").(string); strings.HasSuffix(kind, "webhook") {
		if address, ok := out.At("value").(string); ok && redactURL(address) != address {
			out = out.Clone()
			out.Set("value", redactURL(address))
		}
	}
	if list, ok := out.At("assert").([]any); ok {
		members := slices.Clone(list)
		for i, e := range members {
			if m, ok := e.(*proviso.Object); ok {
				members[i] = redactAssertion(m)
			}
		}
		out = out.Clone()
		out.Set("assert", members)
	}
	return out
}

// redactURL replaces the user information and every value of the query of an
// address that may hold a secret.
func redactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil && u.RawQuery == "" {
		return address
	}
	if u.User != nil {
		u.User = url.User(proviso.Redaction)
	}
	query := u.Query()
	for name := range query {
		if proviso.IsSecret(name) || strings.Contains(strings.ToLower(name), "key") || strings.Contains(strings.ToLower(name), "sig") {
			query.Set(name, proviso.Redaction)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}
