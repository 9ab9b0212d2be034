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
// URL of a service. A value without secrets is returned unchanged.
func redact(types proviso.Types, o *value.Object) *value.Object {
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
	if address, ok := o.At("value").(string); ok && strings.Contains(address, "://") && isAddress(types, o.At("type")) {
		if clean := proviso.RedactedURL(address); clean != address {
			set("value", clean)
		}
	}
	if list, ok := o.At("assert").([]any); ok {
		if clean, changed := redactList(types, list); changed {
			set("assert", clean)
		}
	}
	return out
}

// isAddress reports whether the value of a type is a URL.
func isAddress(types proviso.Types, kind any) bool {
	name, _ := kind.(string)
	t := types.Of(name)
	return t != nil && t.Address
}

// redactList is redact for each of a list of assertions.
func redactList(types proviso.Types, list []any) (clean []any, changed bool) {
	for i, e := range list {
		o, ok := e.(*value.Object)
		if !ok {
			continue
		}
		if r := redact(types, o); r != o {
			if !changed {
				list, changed = slices.Clone(list), true
			}
			list[i] = r
		}
	}
	return list, changed
}
