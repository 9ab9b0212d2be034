package provider

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// azureVersion is the default version of Azure's API.
const azureVersion = "2024-12-01-preview"

// azureAPI is the API of a resource at Azure.
var azureAPI = api{
	under: "/openai", header: "api-key", prices: "openai", prefix: "OPENAI", flat: true,
	keyVars: []string{"AZURE_API_KEY", "AZURE_OPENAI_API_KEY"}, loginVars: []string{"AZURE_CLIENT_SECRET"},
	baseVars: []string{"AZURE_API_BASE_URL", "AZURE_OPENAI_API_BASE_URL", "AZURE_OPENAI_BASE_URL"},
	hostVars: []string{"AZURE_API_HOST", "AZURE_OPENAI_API_HOST"},
}

// newAzure opens azure:chat:<deployment> and similar ids. The name is that of a
// deployment; config.modelName names the model.
func newAzure(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, ok := strings.Cut(arg, ":")
	if !ok {
		kind, name = "chat", arg
	}
	w, ok := openAIWire(kind)
	if !ok {
		return nil, s.unsupported("azure:" + kind)
	}
	if name != "" {
		if err := s.pathName(name); err != nil {
			return nil, err
		}
	}
	a := azureAPI
	a.login = s.entra
	version, _ := s.either("apiVersion", "AZURE_API_VERSION", "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
	method := w.path("")
	w.path = func(deployment string) string {
		if kind == "responses" {
			return "/v1/responses?api-version=preview"
		}
		return "/deployments/" + url.PathEscape(deployment) + method + "?api-version=" + url.QueryEscape(cmp.Or(version, azureVersion))
	}
	return openModel(s, a, w, name)
}

// azureGuardrails reads the results of Azure's content filters for prompt and
// answer; nil if there are none.
func azureGuardrails(answer, choice *value.Object) *value.Object {
	prompts := list(answer.At("prompt_filter_results"))
	output := choice.Object("content_filter_results")
	if len(prompts) == 0 && output == nil {
		return nil
	}
	input := ""
	for _, p := range prompts {
		if f := filteredBy(object(p).Object("content_filter_results")); f != "" {
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
