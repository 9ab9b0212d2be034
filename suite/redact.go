package suite

import (
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
		if address, ok := out.At("value").(string); ok && proviso.RedactedURL(address) != address {
			out = out.Clone()
			out.Set("value", proviso.RedactedURL(address))
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
