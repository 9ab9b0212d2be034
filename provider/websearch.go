package provider

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// These functions are the Search fields of rows in the provider table. They add the vendor's
// setting for web search, unless the configuration already has it.

// searchesItself is for vendors whose models always search.
func searchesItself(*proviso.ProviderSpec) bool { return true }

func searchClaude(spec *proviso.ProviderSpec) bool {
	addTool(spec, "type", "web_search", value.ObjectOf("type", "web_search_20250305", "name", "web_search", "max_uses", 5.0))
	return true
}

func searchGemini(spec *proviso.ProviderSpec) bool {
	addTool(spec, "googleSearch", "", value.ObjectOf("googleSearch", value.NewObject(0)))
	return true
}

// searchVertex is for Vertex AI, which has Claude beside Gemini.
func searchVertex(spec *proviso.ProviderSpec) bool {
	if strings.Contains(spec.ID, "claude") {
		return searchClaude(spec)
	}
	return searchGemini(spec)
}

// searchOpenAI uses the Responses API. With the Chat Completions API only some models can search,
// and they do so by themselves.
func searchOpenAI(spec *proviso.ProviderSpec) bool {
	kind, rest, _ := strings.Cut(spec.ID, ":")
	model, explicit := strings.CutPrefix(rest, "responses:")
	chat := strings.HasPrefix(rest, "chat:")
	switch {
	case strings.Contains(rest, "search") || spec.Config.Has("web_search_options"):
		return true
	case chat || !explicit && strings.Contains(rest, ":"):
		return false
	}
	spec.ID = kind + ":responses:" + model
	addTool(spec, "type", "web_search", value.ObjectOf("type", "web_search"))
	return true
}

func searchXAI(spec *proviso.ProviderSpec) bool {
	setOnce(spec, "search_parameters", func() any { return value.ObjectOf("mode", "on") })
	return true
}

func searchOpenRouter(spec *proviso.ProviderSpec) bool {
	if !strings.HasSuffix(spec.ID, ":online") {
		setOnce(spec, "plugins", func() any { return []any{value.ObjectOf("id", "web")} })
	}
	return true
}

// setOnce sets a key of the configuration that is not set.
func setOnce(spec *proviso.ProviderSpec, key string, v func() any) {
	if !spec.Config.Has(key) {
		spec.Config = spec.Config.Clone()
		spec.Config.Set(key, v())
	}
}

// addTool adds a tool to a configuration, unless it has one whose member key begins with prefix.
func addTool(spec *proviso.ProviderSpec, key, prefix string, tool *value.Object) {
	tools, isList := spec.Config.At("tools").([]any)
	if spec.Config.Has("tools") && !isList {
		return // a file that lists all tools
	}
	for _, t := range tools {
		o, _ := t.(*value.Object)
		v, ok := o.Get(key)
		if text, _ := v.(string); ok && strings.HasPrefix(text, prefix) {
			return
		}
	}
	spec.Config = spec.Config.Clone()
	spec.Config.Set("tools", append(slices.Clone(tools), tool))
}
