package provider

import (
	"strings"

	"github.com/proviso-eval/proviso"
)

// Concerning returns what of an environment sets how a provider of a vendor answers, without
// keys: of OPENAI_BASE_URL, AWS_REGION and OPENAI_API_KEY the first for openai:gpt-6-sol. For
// code, which may read anything, these are all variables that [Identity] looks at.
func Concerning(spec proviso.ProviderSpec, env proviso.Env) proviso.EnvMap {
	out := proviso.EnvMap{}
	if env == nil {
		return out
	}
	facts, _ := Facts().Of(spec.ID)
	if facts == nil {
		return out
	}
	vendor, _, _ := strings.Cut(spec.ID, ":")
	prefixes := []string{strings.ToUpper(vendor) + "_"}
	_, _ = Open(proviso.ProviderSpec{ID: spec.ID}, Options{Env: proviso.EnvMap{}, Untrusted: true, Need: func(need string, _ bool) {
		for _, name := range strings.Split(need, orVariable) {
			if before, _, ok := strings.Cut(name, "_"); ok && IsVariable(name) {
				prefixes = append(prefixes, before+"_")
			}
		}
	}})
	if k, _ := rowOf(spec.ID); k != nil {
		prefixes = append(prefixes, k.Vars...)
	}
	for _, name := range env.Names() {
		if !facts.Code && !hasOne(name, prefixes, strings.HasPrefix) || !hasOne(name, settingVars[:], strings.HasSuffix) {
			continue
		}
		if v, _ := env.Lookup(name); v != "" {
			out[name] = v
		}
	}
	return out
}

func hasOne(text string, parts []string, has func(text, part string) bool) bool {
	for _, part := range parts {
		if has(text, part) {
			return true
		}
	}
	return false
}
