package provider

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// withoutKeys returns the id of a provider for messages: its URL without user name, password
// and query.
func withoutKeys(id string) string { return proviso.Providers(nil).Public(id) }

// keylessID returns the id of a provider without what may be keys in its address or in its
// command. Without any, it is unchanged.
func keylessID(id string) string {
	switch k, rest := Facts().Of(id); {
	case k == nil || !k.Code:
		return keylessAddress(id)
	case !k.File:
		return id[:len(id)-len(rest)] + keylessCommand(rest)
	}
	return id
}

// keylessValue returns the value of a variable that may be an address, which may have no
// scheme, without what may be keys.
func keylessValue(v string) string {
	if strings.Contains(v, "://") || !strings.ContainsAny(v, "@?") {
		return keylessAddress(v)
	}
	return strings.TrimPrefix(keylessAddress("any://"+v), "any://")
}

// keylessAddress returns a text that ends in a URL without the user name, the password and the
// fragment of the URL, and without the parameters that have the names of secrets. If the URL
// cannot be read, all of it is left out: nobody can tell where its password ends.
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

// keylessCommand returns a command without the values of arguments with the names of secrets:
// --token=x, --token x, TOKEN=x and "Authorization: x". Without any, it is unchanged.
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
			i++ // which is its value
		}
	}
	if slices.Equal(out, args) {
		return text
	}
	return strings.Join(out, " ")
}
