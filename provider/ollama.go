package provider

import (
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

var (
	ollamaChat       = wire{path: fixed("/api/chat"), request: ollamaChatRequest, output: ollamaOutput, shape: ollamaShape}
	ollamaCompletion = wire{path: fixed("/api/generate"), request: ollamaCompletionRequest, output: ollamaOutput, shape: ollamaShape}
	ollamaEmbed      = wire{path: fixed("/api/embed"), vectors: ollamaVectors}
)

// ollamaOptions are the settings that this API expects under options.
var ollamaOptions = [...]string{
	"num_predict", "num_keep", "seed", "top_k", "top_p", "min_p", "typical_p", "repeat_last_n", "temperature", "repeat_penalty",
	"presence_penalty", "frequency_penalty", "stop", "num_ctx", "num_batch", "num_gpu", "main_gpu", "use_mmap", "num_thread",
}

// ollamaAPI is the API of a local server.
var ollamaAPI = api{
	base: "http://localhost:11434", beside: "/v1", baseVars: []string{"OLLAMA_BASE_URL"}, keyVars: []string{"OLLAMA_API_KEY"},
	keyless: true, prefix: "OLLAMA",
}

// newOllama opens ollama:chat:<model>, ollama:completion:<model>,
// ollama:embeddings:<model> or ollama:<model>, which uses completion.
func newOllama(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	kind, name, _ := strings.Cut(arg, ":")
	switch kind {
	case "chat":
		return openModel(s, ollamaAPI, ollamaChat, name)
	case "completion":
		return openModel(s, ollamaAPI, ollamaCompletion, name)
	case "embedding", "embeddings":
		return openModel(s, ollamaAPI, ollamaEmbed, name)
	}
	return openModel(s, ollamaAPI, ollamaCompletion, arg)
}

func ollamaChatRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := value.NewObject(8)
	body.Set("model", m.name)
	body.Set("messages", ollamaMessages(messagesOf(ask.Prompt)))
	copySettings(body, cfg, "tools")
	ollamaSettings(body, cfg)
	return body, nil
}

func ollamaCompletionRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := value.NewObject(8)
	body.Set("model", m.name)
	body.Set("prompt", ask.Prompt)
	copySettings(body, cfg, "suffix", "system", "template", "raw", "images")
	ollamaSettings(body, cfg)
	return body, nil
}

func ollamaSettings(body, cfg *value.Object) {
	body.Set("stream", false)
	copySettings(body, cfg, "think", "format", "keep_alive")
	options := value.NewObject(4)
	copySettings(options, cfg, ollamaOptions[:]...)
	more := cfg.Object("passthrough")
	passThrough(options, more, "options")
	for k, v := range more.All() {
		if k != "options" {
			body.Set(k, v)
		}
	}
	if options.Len() > 0 {
		body.Set("options", options)
	}
}

// ollamaMessages converts messages to the form of this API: content is text,
// pictures are separate, arguments of calls are objects.
func ollamaMessages(chat []any) []any {
	out := make([]any, len(chat))
	for i, v := range chat {
		m := object(v)
		out[i] = m
		_, parts := m.At("content").([]any)
		calls := list(m.At("tool_calls"))
		if !parts && len(calls) == 0 {
			continue
		}
		m = m.Clone()
		if parts {
			ollamaContent(m)
		}
		if len(calls) > 0 {
			m.Set("tool_calls", ollamaCalls(calls))
		}
		out[i] = m
	}
	return out
}

func ollamaContent(m *value.Object) {
	var texts []string
	var images []any
	for _, p := range partsOf(m.At("content")) {
		switch {
		case p.image != nil:
			images = append(images, p.image.data+p.image.url)
		case p.other != nil:
			texts = append(texts, contentText([]any{p.other}))
		default:
			texts = append(texts, p.text)
		}
	}
	m.Set("content", strings.Join(texts, "\n"))
	if len(images) > 0 {
		m.Set("images", images)
	}
}

func ollamaCalls(calls []any) []any {
	calls = slices.Clone(calls)
	for i, c := range calls {
		f := object(c).Object("function")
		text, ok := f.At("arguments").(string)
		if args, err := value.ParseJSON(text); ok && err == nil {
			call, function := object(c).Clone(), f.Clone()
			function.Set("arguments", args)
			call.Set("function", function)
			calls[i] = call
		}
	}
	return calls
}

func ollamaOutput(m *model, answer, cfg *value.Object) (proviso.Output, error) {
	message := answer.Object("message")
	text, ok := answer.At("response").(string)
	thoughts := answer.Text("thinking")
	if message != nil {
		text, ok = message.At("content").(string)
		thoughts = message.Text("thinking")
	}
	calls := list(message.At("tool_calls"))
	if !ok && len(calls) == 0 {
		return proviso.Output{}, m.malformed("the answer has no text", answer)
	}
	out := proviso.Output{
		FinishReason: finish(answer.Text("done_reason")), ToolCalls: calls,
		Usage: proviso.Usage{Prompt: count(answer, "prompt_eval_count"), Completion: count(answer, "eval_count")},
		Raw:   keep(answer, "model", "total_duration", "load_duration", "eval_duration"),
	}
	out.Usage.Total = out.Usage.Prompt + out.Usage.Completion
	switch {
	case len(calls) > 0 && text != "":
		out.Value = message
	case len(calls) > 0:
		out.Value = calls
	default:
		out.Value = withThoughts(thoughts, text, cfg)
	}
	if len(calls) > 0 && out.FinishReason == finishStop {
		out.FinishReason = finishTools
	}
	return out, nil
}

// ollamaVectors is POST /api/embed. The request disables truncation, so that an
// input that is too long is an error.
var ollamaVectors = vectors{
	request: func(m *model, texts []string) *value.Object {
		body := value.ObjectOf("model", m.name, "input", texts, "truncate", false)
		copySettings(body, m.config, "truncate", "dimensions", "keep_alive")
		options := value.NewObject(1)
		copySettings(options, m.config, "num_ctx")
		if options.Len() > 0 {
			body.Set("options", options)
		}
		return body
	},
	read: func(answer *value.Object) []any { return list(answer.At("embeddings")) },
}
