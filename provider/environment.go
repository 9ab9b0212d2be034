package provider

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// apis are the APIs of all vendors.
var apis = sync.OnceValue(func() []api {
	list := []api{anthropicAPI, azureAPI, bedrockAPI, googleAPI, ollamaAPI, openAIAPI, replicateAPI, vertexAPI}
	for _, c := range compatibles {
		list = append(list, c.api())
	}
	return list
})

// VendorHost reports whether a host, in lower case and without a port, is the
// API of a vendor in this package. It is false for this machine and for hosts
// that any customer can register, such as those of Azure.
func VendorHost(host string) bool {
	return cloudHost(host) || slices.ContainsFunc(apis(), func(a api) bool { return !a.keyless && a.base != "" && hostname(a.base) == host })
}

// cloudHost reports whether a host belongs to Bedrock or Vertex AI, which have one host per region.
func cloudHost(host string) bool {
	switch host {
	case "aiplatform.googleapis.com", "aiplatform.eu.rep.googleapis.com", "aiplatform.us.rep.googleapis.com":
		return true
	}
	if region, ok := strings.CutSuffix(host, "-aiplatform.googleapis.com"); ok {
		return plainName(region)
	}
	region, ok := strings.CutPrefix(host, "bedrock-runtime.")
	region, known := strings.CutSuffix(strings.TrimSuffix(region, ".cn"), ".amazonaws.com")
	return ok && known && plainName(region)
}

// EnvKeys returns the names of the variables that hold a vendor's key, sorted.
func EnvKeys(env proviso.Env) []string {
	return envSet(env, func(a api) []string { return slices.Concat(a.keyVars, a.loginVars) })
}

// EnvAddresses returns the names of the variables that set a vendor's address,
// sorted.
func EnvAddresses(env proviso.Env) []string {
	return envSet(env, func(a api) []string { return slices.Concat(a.hostVars, a.baseVars) })
}

// envSet returns those variables of all APIs that have a value, sorted.
func envSet(env proviso.Env, variables func(api) []string) []string {
	var names []string
	for _, a := range apis() {
		for _, name := range variables(a) {
			if v, _ := env.Lookup(name); strings.TrimSpace(v) != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// EnvHosts returns the hosts that the environment sets in place of the vendors'
// own, sorted, in lower case and without ports.
func EnvHosts(env proviso.Env) []string {
	var hosts []string
	for _, name := range EnvAddresses(env) {
		v, _ := env.Lookup(name)
		if host := hostname(v); host != "" {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// hostname returns the host of a URL, or of host:port.
func hostname(address string) string {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// logins are the vendors that accept other credentials besides a key. What such a provider needs is
// reported as the vendor's name, because another machine may use other credentials.
var logins = [...]string{"azure", "bedrock", "vertex"}

const (
	orVariable = " or "
	forVendor  = "credentials for "
)

// needs reports that the provider needs one of these variables of the user. For vendors in logins,
// variables may be nil.
func (s settings) needs(variables []string, here bool) {
	if need := s.need(variables); need != "" && s.o.Need != nil {
		s.o.Need(need, here)
	}
}

// need returns the text for [Options.Need]; "" if nothing may be reported.
func (s settings) need(variables []string) string {
	vendor, _, _ := strings.Cut(s.spec.ID, ":")
	if vendor == "azureopenai" {
		vendor = "azure"
	}
	if slices.Contains(logins[:], vendor) {
		return forVendor + vendor
	}
	if len(variables) == 0 || slices.ContainsFunc(variables, func(name string) bool { return !IsVariable(name) }) {
		return "" // a key written in place of a variable name must not be repeated anywhere
	}
	return strings.Join(variables, orVariable)
}

// IsVariable reports whether a text looks like the name of an environment variable, in capital
// letters, rather than a key that somebody wrote in its place.
func IsVariable(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Has reports whether an environment has what [Options.Need] reported as need. It is false for
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

// IsLogin reports whether [Has] may read files for this need.
func IsLogin(need string) bool { return strings.HasPrefix(need, forVendor) }

// hasLogin opens a provider of a vendor to see whether it finds its credentials.
func hasLogin(env proviso.Env, vendor string) bool {
	config := value.NewObject(0)
	if vendor == "azure" { // Azure has no default address, and any will do
		config.Set("apiHost", "any.openai.azure.com")
	}
	_, err := Open(proviso.ProviderSpec{ID: vendor + ":model", Config: config}, Options{Env: env})
	return !errors.Is(err, ErrNoKey)
}

// UsualNeeds returns what the vendors' providers need, in the form of [Options.Need], sorted.
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
