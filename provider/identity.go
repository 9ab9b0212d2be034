package provider

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// settingVars are suffixes of environment variables that change a provider's
// answers although its configuration does not name them.
var settingVars = [...]string{"BASE_URL", "API_HOST", "ENDPOINT", "API_VERSION", "TEMPERATURE", "TOP_P", "MAX_TOKENS", "PENALTY", "REGION", "LOCATION", "BEDROCK_RUNTIME"}

// Identity returns a hash of everything that determines the answers: the
// provider, its configuration without secrets, the files that it refers to, and
// the environment variables that select the endpoint. As far as can be known
// without a request, two specs with different answers have different
// identities.
func Identity(spec proviso.ProviderSpec, o Options) string {
	whole := func(text string) string { return text }
	return identity(spec, o, whole, whole)
}

// PublicIdentity is [Identity] for hashes that are shown: without the keys in the id and in the
// variables, so that nobody can test guesses of them. Where there are none, the two are equal.
func PublicIdentity(spec proviso.ProviderSpec, o Options) string {
	return identity(spec, o, keylessID, keylessValue)
}

// identity is [Identity] of what two functions make of the id, and of each variable.
func identity(spec proviso.ProviderSpec, o Options, id, variable func(string) string) string {
	parts := []string{"provider 1", id(spec.ID), value.Stringify(sorted(proviso.Keyless(spec.Config)))}
	var named []string
	references(spec.Config, &named)
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

// references collects the names of files in a configuration.
func references(v any, names *[]string) {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "file://"); ok {
			*names = append(*names, name)
		}
	case []any:
		for _, e := range v {
			references(e, names)
		}
	case *value.Object:
		for _, e := range v.All() {
			references(e, names)
		}
	}
}

// referred reads a file, whose name may end in the name of a function.
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

// sorted returns v with the members of objects sorted by name, so that their
// order in a file makes no difference.
func sorted(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = sorted(e)
		}
		return out
	case *value.Object:
		if v == nil {
			return nil
		}
		keys := slices.Clone(v.Keys())
		slices.Sort(keys)
		out := value.NewObject(len(keys))
		for _, k := range keys {
			out.Set(k, sorted(v.At(k)))
		}
		return out
	}
	return v
}
