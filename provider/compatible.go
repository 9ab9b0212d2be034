package provider

import (
	"strings"

	"github.com/proviso-eval/proviso"
)

// compatible is a vendor or server that implements OpenAI's API.
type compatible struct {
	name   string // the id up to and including the colon
	doc    string
	base   string // "" if it must be configured
	key    string // variable of the key
	url    string // variable of the base URL
	local  bool   // needs no key
	plain  bool   // it supports JSON objects for the shape of answers, but no schemas
	prices string // group of the price file
	search func(*proviso.ProviderSpec) bool
}

// compatibles is sorted by name. A new vendor needs only a row here.
var compatibles = []compatible{
	{name: "ai21:", doc: "AI21 Labs", base: "https://api.ai21.com/studio/v1", key: "AI21_API_KEY", url: "AI21_API_BASE_URL", plain: true},
	{name: "aimlapi:", doc: "AI/ML API", base: "https://api.aimlapi.com/v1", key: "AIML_API_KEY"},
	{name: "alibaba:", doc: "Alibaba Cloud (Qwen)", base: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", key: "DASHSCOPE_API_KEY"},
	{name: "cerebras:", doc: "Cerebras", base: "https://api.cerebras.ai/v1", key: "CEREBRAS_API_KEY"},
	{name: "cometapi:", doc: "CometAPI", base: "https://api.cometapi.com/v1", key: "COMETAPI_KEY"},
	{name: "dashscope:", doc: "Alibaba Cloud (Qwen)", base: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", key: "DASHSCOPE_API_KEY"},
	{name: "deepinfra:", doc: "DeepInfra", base: "https://api.deepinfra.com/v1/openai", key: "DEEPINFRA_API_KEY"},
	{name: "deepseek:", doc: "DeepSeek", base: "https://api.deepseek.com/v1", key: "DEEPSEEK_API_KEY", plain: true},
	{name: "docker:", doc: "Docker Model Runner on this machine", base: "http://localhost:12434/engines/v1", key: "DOCKER_MODEL_RUNNER_API_KEY", url: "DOCKER_MODEL_RUNNER_BASE_URL", local: true},
	{name: "fireworks:", doc: "Fireworks AI", base: "https://api.fireworks.ai/inference/v1", key: "FIREWORKS_API_KEY"},
	{name: "github:", doc: "GitHub Models", base: "https://models.github.ai/inference", key: "GITHUB_TOKEN", prices: "openai"},
	{name: "groq:", doc: "Groq", base: "https://api.groq.com/openai/v1", key: "GROQ_API_KEY"},
	{name: "helicone:", doc: "Helicone AI Gateway", base: "http://localhost:8080/ai", key: "HELICONE_API_KEY", local: true},
	{name: "hf:", doc: "Hugging Face Inference Providers", base: "https://router.huggingface.co/v1", key: "HF_TOKEN"},
	{name: "huggingface:", doc: "Hugging Face Inference Providers", base: "https://router.huggingface.co/v1", key: "HF_TOKEN"},
	{name: "hyperbolic:", doc: "Hyperbolic", base: "https://api.hyperbolic.xyz/v1", key: "HYPERBOLIC_API_KEY"},
	{name: "litellm:", doc: "LiteLLM proxy", base: "http://0.0.0.0:4000", key: "LITELLM_API_KEY", url: "LITELLM_API_BASE", local: true, prices: "openai"},
	{name: "llama.cpp:", doc: "llama.cpp server on this machine", base: "http://localhost:8080/v1", key: "LLAMA_API_KEY", url: "LLAMA_BASE_URL", local: true},
	{name: "llamaapi:", doc: "Meta's Llama API", base: "https://api.llama.com/compat/v1", key: "LLAMA_API_KEY"},
	{name: "llamafile:", doc: "llamafile on this machine", base: "http://localhost:8080/v1", key: "LLAMAFILE_API_KEY", local: true},
	{name: "lmstudio:", doc: "LM Studio on this machine", base: "http://localhost:1234/v1", key: "LMSTUDIO_API_KEY", url: "LMSTUDIO_BASE_URL", local: true},
	{name: "localai:", doc: "LocalAI on this machine", base: "http://localhost:8080/v1", key: "LOCALAI_API_KEY", url: "LOCALAI_BASE_URL", local: true},
	{name: "minimax:", doc: "MiniMax", base: "https://api.minimax.io/v1", key: "MINIMAX_API_KEY"},
	{name: "mistral:", doc: "Mistral AI", base: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY", url: "MISTRAL_API_BASE_URL", prices: "mistral"},
	{name: "moonshot:", doc: "Moonshot AI (Kimi)", base: "https://api.moonshot.ai/v1", key: "MOONSHOT_API_KEY"},
	{name: "novita:", doc: "Novita AI", base: "https://api.novita.ai/v3/openai", key: "NOVITA_API_KEY"},
	{name: "nscale:", doc: "Nscale", base: "https://inference.api.nscale.com/v1", key: "NSCALE_SERVICE_TOKEN"},
	{name: "nvidia:", doc: "NVIDIA NIM", base: "https://integrate.api.nvidia.com/v1", key: "NVIDIA_API_KEY"},
	{name: "openrouter:", doc: "OpenRouter", base: "https://openrouter.ai/api/v1", key: "OPENROUTER_API_KEY", search: searchOpenRouter},
	{name: "perplexity:", doc: "Perplexity", base: "https://api.perplexity.ai", key: "PERPLEXITY_API_KEY", search: searchesItself},
	{name: "sambanova:", doc: "SambaNova", base: "https://api.sambanova.ai/v1", key: "SAMBANOVA_API_KEY"},
	{name: "together:", doc: "Together AI", base: "https://api.together.xyz/v1", key: "TOGETHER_API_KEY"},
	{name: "togetherai:", doc: "Together AI", base: "https://api.together.xyz/v1", key: "TOGETHER_API_KEY"},
	{name: "vercel:", doc: "Vercel AI Gateway", base: "https://ai-gateway.vercel.sh/v1", key: "VERCEL_AI_GATEWAY_API_KEY"},
	{name: "vllm:", doc: "vLLM on this machine", base: "http://localhost:8000/v1", key: "VLLM_API_KEY", url: "VLLM_BASE_URL", local: true},
	{name: "xai:", doc: "xAI (Grok)", base: "https://api.x.ai/v1", key: "XAI_API_KEY", url: "XAI_API_BASE_URL", prices: "xai", search: searchXAI},
}

// kind is the row of the provider table.
func (c compatible) kind() Kind {
	return Kind{Name: c.name, Doc: "answers by " + c.doc + ", over OpenAI's API", New: c.open, Search: c.search}
}

// api is the API of the vendor.
func (c compatible) api() api {
	a := api{
		base: c.base, hostPath: "/v1", keyVars: []string{c.key}, keyless: c.local, prices: c.prices, prefix: "OPENAI", objects: c.plain, loose: true,
	}
	if c.url != "" {
		a.baseVars = []string{c.url}
	}
	if c.key == "HF_TOKEN" {
		a.keyVars = append(a.keyVars, "HF_API_TOKEN")
	}
	return a
}

// open opens <name>:[chat:|completion:|embedding:|responses:]<model>.
func (c compatible) open(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	kind, name, colon := strings.Cut(arg, ":")
	if kind == "text-classification" && c.key == "HF_TOKEN" {
		return newClassifier(settings{spec, o}, name)
	}
	w, ok := openAIWire(kind)
	if !ok || !colon {
		w, name = openAIChat, arg
	}
	return openModel(settings{spec, o}, c.api(), w, name)
}
