package provider

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
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

// cloudHost reports whether a host belongs to Bedrock or Vertex AI, which have
// one for each region.
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

// EnvKeys returns the names of the variables that hold a key of a vendor, sorted.
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
