package suite

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// configured are the keys of cases and assertions with configurations of providers.
// Secrets are searched only there.
var configured = [...]string{"provider", "providers", "config", "options"}

// redact returns a case, an assertion or a set of them for reports: without the
// secrets in configurations of providers, and without the passwords and keys in the
// URL of a webhook. A value without secrets is returned unchanged.
func redact(o *value.Object) *value.Object {
	out := o
	set := func(key string, v any) {
		if out == o {
			out = o.Clone()
		}
		out.Set(key, v)
	}
	for _, key := range configured {
		if part, ok := o.At(key).(*value.Object); ok && part.Len() > 0 {
			if clean := proviso.Redacted(part); clean != part {
				set(key, clean)
			}
		}
	}
	if kind, _ := o.At("type").(string); strings.HasSuffix(kind, "webhook") {
		if address, ok := o.At("value").(string); ok && proviso.RedactedURL(address) != address {
			set("value", proviso.RedactedURL(address))
		}
	}
	if list, ok := o.At("assert").([]any); ok {
		if clean, changed := redactList(list); changed {
			set("assert", clean)
		}
	}
	return out
}

// redactList is redact for each of a list of assertions.
func redactList(list []any) (clean []any, changed bool) {
	for i, e := range list {
		o, ok := e.(*value.Object)
		if !ok {
			continue
		}
		if r := redact(o); r != o {
			if !changed {
				list, changed = slices.Clone(list), true
			}
			list[i] = r
		}
	}
	return list, changed
}
