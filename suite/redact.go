package suite

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// redact returns a case, an assertion or a set of them for reports: without the
// secrets in configurations of providers, and without the passwords and keys in the
// URL of a service. Secrets are searched for only there. A value without secrets is
// returned unchanged.
func redact(types proviso.Types, o *value.Object) *value.Object {
	out := o
	set := func(key string, v any) {
		if out == o {
			out = o.Clone()
		}
		out.Set(key, v)
	}
	for key, v := range o.All() {
		switch key {
		case "provider", "providers", "config", "options":
			if part, ok := v.(*value.Object); ok && part.Len() > 0 {
				if clean := proviso.Redacted(part); clean != part {
					set(key, clean)
				}
			}
		case "value":
			if address, ok := v.(string); ok && strings.Contains(address, "://") && isAddress(types, o.At("type")) {
				if clean := proviso.RedactedURL(address); clean != address {
					set(key, clean)
				}
			}
		case "assert":
			if list, ok := v.([]any); ok {
				if clean, changed := redactList(types, list); changed {
					set(key, clean)
				}
			}
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
