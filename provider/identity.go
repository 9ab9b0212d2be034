package provider

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// settingVars are suffixes of environment variables that change a provider's answers without being
// named in its configuration.
var settingVars = [...]string{"BASE_URL", "API_HOST", "ENDPOINT", "API_VERSION", "TEMPERATURE", "TOP_P", "MAX_TOKENS", "PENALTY", "REGION", "LOCATION", "BEDROCK_RUNTIME"}

// Identity returns a hash of everything that determines the answers: the provider, its
// configuration without secrets, the files that it refers to, and the environment variables that
// select the endpoint. As far as this can be known without a request, two specs with different
// answers have different identities.
func Identity(spec proviso.ProviderSpec, o Options) string {
	whole := func(text string) string { return text }
	return identity(spec, o, whole, whole)
}

// PublicIdentity is [Identity] for hashes that are shown: keys in the id and in the variables are
// left out, so that nobody can test guesses of them. Without such keys, the two are equal.
func PublicIdentity(spec proviso.ProviderSpec, o Options) string {
	return identity(spec, o, keylessID, keylessValue)
}

// identity is [Identity] after id was applied to the provider id, and variable to each variable's
// value.
func identity(spec proviso.ProviderSpec, o Options, id, variable func(string) string) string {
	parts := []string{"provider 1", id(spec.ID), value.Stringify(value.Sorted(proviso.Keyless(spec.Config)))}
	var named []string
	hasText(spec.Config, func(text string) bool {
		if name, ok := strings.CutPrefix(text, "file://"); ok {
			named = append(named, name)
		}
		return false
	})
	switch k, rest := Facts().Of(spec.ID); {
	case k == nil || !k.Code:
	case k.File:
		_, name, ok := strings.Cut(spec.ID, "file://")
		if !ok {
			name = rest
		}
		named = append(named, name)
	default:
		named = append(named, splitCommand(rest)...)
	}
	for _, name := range named {
		if data, ok := referred(name, o.Files); ok {
			parts = append(parts, name, string(data))
		}
	}
	s := settings{spec, o}
	var names []string
	if o.Env != nil {
		names = o.Env.Names()
	}
	names = append(names, spec.Env.Keys()...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if hasOne(name, settingVars[:], strings.HasSuffix) {
			v, _ := s.env(name)
			parts = append(parts, name, variable(v))
		}
	}
	return blobs.Key(parts...)
}

// referred reads a file whose name may be followed by the name of a function.
func referred(name string, files proviso.Files) ([]byte, bool) {
	if files == nil || name == "" || strings.HasPrefix(name, "/dev/") {
		return nil, false
	}
	data, err := files.ReadFile(name)
	if file, _, ok := cutAtLast(name, ":"); err != nil && ok {
		data, err = files.ReadFile(file)
	}
	return data, err == nil
}

func cutAtLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Concerning returns the variables of an environment that change how a vendor's provider answers,
// without keys. For openai:gpt-6-sol, that includes OPENAI_BASE_URL, but neither AWS_REGION nor
// OPENAI_API_KEY. For code, which may read anything, it includes every variable that [Identity]
// looks at.
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

// withoutKeys returns a provider's id for messages: its URL without user name, password and query.
func withoutKeys(id string) string { return proviso.Providers(nil).Public(id) }

// keylessID returns a provider's id without possible keys in its address or command.
func keylessID(id string) string {
	switch k, rest := Facts().Of(id); {
	case k == nil || !k.Code:
		return keylessAddress(id)
	case !k.File:
		return id[:len(id)-len(rest)] + keylessCommand(rest)
	}
	return id
}

// keylessValue returns the value of a variable without possible keys. The value may be an address
// without a scheme.
func keylessValue(v string) string {
	if strings.Contains(v, "://") || !strings.ContainsAny(v, "@?") {
		return keylessAddress(v)
	}
	return strings.TrimPrefix(keylessAddress("any://"+v), "any://")
}

// keylessAddress returns a text that ends in a URL. It removes the URL's user name, password and
// fragment, and the parameters that are named like secrets. If the URL cannot be parsed, all of it
// is removed, because it is unclear where its password ends.
func keylessAddress(text string) string {
	i := strings.Index(text, "://")
	if i < 0 {
		return text
	}
	i = strings.LastIndexAny(text[:i], ":= \t") + 1
	u, err := url.Parse(text[i:])
	if err != nil {
		return text[:i]
	}
	query, err := url.ParseQuery(u.RawQuery)
	changed := u.User != nil || u.Fragment != "" || err != nil
	for name := range query {
		if proviso.IsSecretParameter(name) {
			query.Del(name)
			changed = true
		}
	}
	if !changed {
		return text
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, query.Encode(), "", "", false
	return text[:i] + u.String()
}

// keylessCommand returns a command without the values of arguments that are named like secrets:
// --token=x, --token x, TOKEN=x and "Authorization: x". Other commands are unchanged.
func keylessCommand(text string) string {
	args := splitCommand(text)
	var out []string
	for i := 0; i < len(args); i++ {
		name, hasValue := args[i], false
		if end := strings.IndexAny(name, "=:"); end >= 0 {
			name, hasValue = name[:end], true
		}
		bare := strings.TrimLeft(name, "-")
		if !proviso.IsSecretParameter(bare) {
			out = append(out, keylessAddress(args[i]))
			continue
		}
		out = append(out, name)
		if !hasValue && bare != name {
			i++ // skip its value
		}
	}
	if slices.Equal(out, args) {
		return text
	}
	return strings.Join(out, " ")
}
