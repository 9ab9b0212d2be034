package provider

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// openAIAPI is the API of OpenAI itself.
var openAIAPI = api{
	base: "https://api.openai.com/v1", hostPath: "/v1",
	keyVars:  []string{"OPENAI_API_KEY"},
	baseVars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE_URL"},
	hostVars: []string{"OPENAI_API_HOST"},
	prices:   "openai", prefix: "OPENAI", flat: true,
}

// openAI returns the API with the organization that is configured.
func openAI(s settings) api {
	a := openAIAPI
	if organization, _ := s.either("organization", "OPENAI_ORGANIZATION"); organization != "" {
		a.extra = map[string]string{"OpenAI-Organization": organization}
	}
	return a
}

// unavailable are the kinds of models and agents below openai: that proviso does not support,
// sorted.
var unavailable = []string{
	"agents", "agents-api", "assistant", "chatkit", "codex", "codex-app-server", "codex-desktop", "codex-sdk", "codex-security",
	"image", "live", "realtime", "speech", "transcription", "tts", "video",
}

// defaultModels are the models for ids that name only a kind.
var defaultModels = map[string]string{
	"chat": "gpt-5.6-terra", "responses": "gpt-5.6-terra", "completion": "gpt-3.5-turbo-instruct",
	"embedding": "text-embedding-3-large", "embeddings": "text-embedding-3-large",
}

// newOpenAI opens openai:<kind>:<model>, or openai:<model>.
func newOpenAI(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, explicit := strings.Cut(arg, ":")
	if _, ok := slices.BinarySearch(unavailable, kind); ok {
		return nil, s.unsupported("openai:" + kind)
	}
	if kind == "moderation" {
		return newModerator(s, openAI(s), name)
	}
	w, ok := openAIWire(kind)
	if !ok {
		kind, name, explicit = openAIKind(arg), arg, true
		if w, ok = openAIWire(kind); !ok {
			return nil, s.unsupported("openai:" + name)
		}
	}
	if !explicit {
		name = cmp.Or(strings.TrimSpace(s.text("model")), defaultModels[kind])
	}
	return openModel(s, openAI(s), w, name)
}

var (
	gptVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^gpt-(\d+)(?:\.(\d+))?(?:-|$)`) })
	dated      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-\d{4}-\d{2}-\d{2}$`) })
)

// openAIKind returns the endpoint of a model whose id names no kind.
func openAIKind(name string) string {
	model := dated().ReplaceAllString(name, "")
	switch {
	case strings.HasPrefix(name, "text-embedding-"):
		return "embeddings"
	case strings.HasPrefix(name, "gpt-live-"):
		return "live"
	case strings.HasPrefix(name, "gpt-realtime"):
		return "realtime"
	case strings.HasPrefix(name, "tts-"), strings.HasSuffix(model, "-tts"):
		return "tts"
	case strings.HasSuffix(model, "-instruct"), strings.HasPrefix(name, "davinci"), strings.HasPrefix(name, "babbage"):
		return "completion"
	case answersResponses(model):
		return "responses"
	}
	return "chat"
}

// answersResponses reports whether a model, named without its date, uses the
// Responses API: GPT-5.6 and later, and those that support no other API.
func answersResponses(model string) bool {
	if v := gptVersion().FindStringSubmatch(model); v != nil && v[1] != "35" { // gpt-35 is Azure's name for 3.5
		major, _ := strconv.Atoi(v[1])
		minor, _ := strconv.Atoi(v[2])
		if major > 5 || major == 5 && minor >= 6 {
			return true
		}
	}
	return strings.HasPrefix(model, "codex-") || strings.HasSuffix(model, "-codex") || strings.HasSuffix(model, "-codex-mini") ||
		strings.HasSuffix(model, "-codex-max") || strings.HasSuffix(model, "-deep-research") || strings.HasSuffix(model, "-pro")
}

// openAIWire returns the form of one of OpenAI's endpoints; false if there is no such kind.
func openAIWire(kind string) (w wire, ok bool) {
	switch kind {
	case "chat":
		return openAIChat, true
	case "responses":
		return openAIResponses, true
	case "completion":
		return openAICompletion, true
	case "embedding", "embeddings":
		return openAIEmbeddings, true
	}
	return wire{}, false
}

func (s settings) unsupported(what string) error {
	return &proviso.Error{Code: proviso.Unsupported, Pointer: s.spec.Pointer, Message: "provider " + what + " is not available in this version"}
}

// reasons reports whether an OpenAI model reasons before it answers. Such models accept no
// temperature, and max_completion_tokens includes their reasoning tokens.
func reasons(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6", "codex-mini"} {
		if strings.HasPrefix(name, family) {
			return !strings.Contains(name, "chat")
		}
	}
	return false
}

// defaults adds promptfoo's defaults, so that a suite sends the same request: temperature 0 and
// 1,024 tokens, or the values of the environment. Reasoning models get neither.
func (m *model) defaults(body, cfg *value.Object, limit string) {
	if cfg.At("omitDefaults") == true || m.reasoning {
		return
	}
	if !body.Has("temperature") {
		body.Set("temperature", m.temperature)
	}
	if !body.Has(limit) && !body.Has("max_completion_tokens") {
		body.Set(limit, m.maxTokens)
	}
}

// openAIUsage reads the token usage of chat and completion.
func openAIUsage(answer *value.Object) proviso.Usage {
	u := answer.Object("usage")
	return proviso.Usage{
		Prompt: count(u, "prompt_tokens"), Completion: count(u, "completion_tokens"), Total: count(u, "total_tokens"),
		Cached: max(count(u.Object("prompt_tokens_details"), "cached_tokens"), count(u, "prompt_cache_hit_tokens")),
	}
}
