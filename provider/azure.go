package provider

import (
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// azureVersion is the default version of Azure's API.
const azureVersion = "2024-12-01-preview"

// newAzure opens azure:chat:<deployment> and similar ids. The name is that of a
// deployment; config.modelName names the model.
func newAzure(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, ok := strings.Cut(arg, ":")
	if !ok {
		kind, name = "chat", arg
	}
	a := api{
		hostPath: "/openai", header: "api-key", prices: "openai", prefix: "OPENAI", flat: true,
		keyVars:  []string{"AZURE_API_KEY", "AZURE_OPENAI_API_KEY"},
		baseVars: []string{"AZURE_API_BASE_URL", "AZURE_OPENAI_API_BASE_URL", "AZURE_OPENAI_BASE_URL"},
		hostVars: []string{"AZURE_API_HOST", "AZURE_OPENAI_API_HOST"},
	}
	a.login = s.entra
	version := s.text("apiVersion")
	if version == "" {
		if version, _ = s.env("AZURE_API_VERSION", "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"); version == "" {
			version = azureVersion
		}
	}
	method := map[string]string{
		"chat": "chat/completions", "completion": "completions", "embedding": "embeddings", "embeddings": "embeddings",
	}[kind]
	if method == "" && kind != "responses" {
		return nil, s.unsupported("azure:" + kind)
	}
	if name != "" {
		if err := s.pathName(name); err != nil {
			return nil, err
		}
	}
	p, err := openWire(s, a, kind, name)
	if err != nil {
		return nil, err
	}
	m, _ := p.(*model)
	if e, ok := p.(*embedder); ok {
		m = e.model
	}
	m.base = strings.TrimSuffix(m.base, "/openai") + "/openai"
	m.api.path = func(deployment string) string {
		if kind == "responses" {
			return "/v1/responses?api-version=preview"
		}
		return "/deployments/" + url.PathEscape(deployment) + "/" + method + "?api-version=" + url.QueryEscape(version)
	}
	return p, nil
}

// azureGuardrails reads the results of Azure's content filters for prompt and
// answer; nil if there are none.
func azureGuardrails(answer, choice *value.Object) *value.Object {
	prompts := list(answer.At("prompt_filter_results"))
	output := object(choice.At("content_filter_results"))
	if len(prompts) == 0 && output == nil {
		return nil
	}
	input := ""
	for _, p := range prompts {
		if f := filteredBy(object(object(p).At("content_filter_results"))); f != "" {
			input = f
		}
	}
	found := filteredBy(output)
	g := value.ObjectOf("flagged", input != "" || found != "", "flaggedInput", input != "", "flaggedOutput", found != "")
	if input+found != "" {
		g.Set("reason", "content filter: "+strings.Trim(input+" "+found, " "))
	}
	return g
}

// filteredBy names the first category that was filtered.
func filteredBy(results *value.Object) string {
	for category, v := range results.All() {
		if object(v).At("filtered") == true {
			return category
		}
	}
	return ""
}
