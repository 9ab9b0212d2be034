package provider

import (
	"net/url"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
)

// VendorHost reports whether a host, in lower case and without a port, is the
// API of a vendor in this package. It is false for this machine and for hosts
// that any customer can register, such as those of Azure.
func VendorHost(host string) bool {
	switch host {
	case "api.anthropic.com", "api.openai.com", "api.replicate.com", "generativelanguage.googleapis.com":
		return true
	}
	if cloudHost(host) {
		return true
	}
	return slices.ContainsFunc(compatibles, func(c compatible) bool { return !c.local && hostname(c.base) == host })
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

// addressVars are the variables that set a provider's address, besides those of
// compatibles.
var addressVars = [...]string{
	"ANTHROPIC_BASE_URL",
	"AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
	"AZURE_API_BASE_URL", "AZURE_API_HOST", "AZURE_OPENAI_API_BASE_URL", "AZURE_OPENAI_API_HOST", "AZURE_OPENAI_BASE_URL",
	"GEMINI_API_BASE_URL", "GOOGLE_API_BASE_URL", "GOOGLE_API_HOST",
	"OLLAMA_BASE_URL",
	"OPENAI_API_BASE_URL", "OPENAI_API_HOST", "OPENAI_BASE_URL",
	"REPLICATE_API_BASE_URL",
	"VERTEX_API_HOST",
}

// keyVars are the variables that hold keys of vendors, besides those of
// compatibles.
var keyVars = [...]string{
	"ANTHROPIC_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY", "AZURE_CLIENT_SECRET", "AZURE_OPENAI_API_KEY",
	"GEMINI_API_KEY", "GOOGLE_API_KEY", "HF_API_TOKEN", "OLLAMA_API_KEY", "OPENAI_API_KEY", "PALM_API_KEY",
	"REPLICATE_API_KEY", "REPLICATE_API_TOKEN", "VERTEX_API_KEY",
}

// EnvKeys returns the names of the variables that hold a key of a vendor, sorted.
func EnvKeys(env proviso.Env) []string {
	names := slices.Clone(keyVars[:])
	for _, c := range compatibles {
		names = append(names, c.key)
	}
	return envSet(env, names)
}

// EnvAddresses returns the names of the variables that set a vendor's address,
// sorted.
func EnvAddresses(env proviso.Env) []string {
	names := slices.Clone(addressVars[:])
	for _, c := range compatibles {
		names = append(names, c.url)
	}
	return envSet(env, names)
}

// envSet returns the names that have a value, sorted.
func envSet(env proviso.Env, names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool {
		v, _ := env.Lookup(name)
		return name == "" || strings.TrimSpace(v) == ""
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// EnvHosts returns the hosts that the environment sets in place of the vendors'
// own, sorted, in lower case and without ports.
func EnvHosts(env proviso.Env) []string {
	var hosts []string
	add := func(name string) {
		v, _ := env.Lookup(name)
		if host := hostname(v); name != "" && host != "" {
			hosts = append(hosts, host)
		}
	}
	for _, name := range addressVars {
		add(name)
	}
	for _, c := range compatibles {
		add(c.url)
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
