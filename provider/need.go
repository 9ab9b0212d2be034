package provider

import (
	"errors"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// logins are the vendors with more ways to log in than a key. What such a provider needs is
// named by the vendor, because another machine may have another of these ways.
var logins = [...]string{"azure", "bedrock", "vertex"}

const (
	orVariable = " or "
	forVendor  = "credentials for "
)

// needs tells of variables of the user, one of which has to be set; nil are those of a
// vendor with logins.
func (s settings) needs(variables []string, here bool) {
	if need := s.need(variables); need != "" && s.o.Need != nil {
		s.o.Need(need, here)
	}
}

// need names what is needed, as [Options.Need] is told; "" for what must not be told.
func (s settings) need(variables []string) string {
	vendor, _, _ := strings.Cut(s.spec.ID, ":")
	if vendor == "azureopenai" {
		vendor = "azure"
	}
	if slices.Contains(logins[:], vendor) {
		return forVendor + vendor
	}
	if len(variables) == 0 || slices.ContainsFunc(variables, func(name string) bool { return !IsVariable(name) }) {
		return "" // who writes a key in place of its name must not find it anywhere
	}
	return strings.Join(variables, orVariable)
}

// IsVariable reports whether a text looks like the name of an environment variable, in capital
// letters, and not like a key that somebody wrote in its place.
func IsVariable(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Has reports whether an environment has what [Options.Need] was told of. It is false for
// other texts. For vendors with logins it may read files of the user.
func Has(env proviso.Env, need string) bool {
	if vendor, ok := strings.CutPrefix(need, forVendor); ok {
		return slices.Contains(logins[:], vendor) && hasLogin(env, vendor)
	}
	for name := range strings.SplitSeq(need, orVariable) {
		if v, _ := env.Lookup(name); IsVariable(name) && v != "" {
			return true
		}
	}
	return false
}

// IsLogin reports whether [Has] may read files to find something out.
func IsLogin(need string) bool { return strings.HasPrefix(need, forVendor) }

// hasLogin opens a provider of a vendor to see whether it finds its credentials.
func hasLogin(env proviso.Env, vendor string) bool {
	config := value.NewObject(0)
	if vendor == "azure" { // it has no address of its own, and any will do
		config.Set("apiHost", "any.openai.azure.com")
	}
	_, err := Open(proviso.ProviderSpec{ID: vendor + ":model", Config: config}, Options{Env: env})
	return !errors.Is(err, ErrNoKey)
}

// UsualNeeds returns what providers of vendors need, as [Options.Need] is told, sorted.
func UsualNeeds() []string {
	var list []string
	for _, k := range Kinds() {
		if k.Code || k.File || k.URL || k.Local || k.OpenEnded || !strings.HasSuffix(k.Name, ":") {
			continue
		}
		_, _ = Open(proviso.ProviderSpec{ID: k.Name + "model"}, Options{Env: proviso.EnvMap{}, Untrusted: true, Need: func(what string, _ bool) { list = append(list, what) }})
	}
	slices.Sort(list)
	return slices.Compact(list)
}
