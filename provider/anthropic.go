package provider

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// anthropicMessages is POST /v1/messages.
var anthropicMessages = wire{path: fixed("/v1/messages"), request: anthropicRequest, output: anthropicOutput, shape: anthropicShape}

// anthropicAPI is the API of Anthropic itself.
var anthropicAPI = api{
	base: "https://api.anthropic.com", keyVars: []string{"ANTHROPIC_API_KEY"}, baseVars: []string{"ANTHROPIC_BASE_URL"},
	header: "x-api-key", prices: "anthropic", prefix: "ANTHROPIC",
}

// newAnthropic opens anthropic:messages:<model>, or anthropic:<model>.
func newAnthropic(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	name, _ := strings.CutPrefix(arg, "messages:")
	if kind, _, _ := strings.Cut(name, ":"); slices.Contains([]string{"claude-agent-sdk", "claude-code", "completion"}, kind) {
		return nil, s.unsupported("anthropic:" + kind)
	}
	a := anthropicAPI
	a.extra, a.tokens = map[string]string{"anthropic-version": "2023-06-01"}, claudeTokens(name)
	var betas []string
	for _, b := range list(spec.Config.At("beta")) {
		betas = append(betas, value.Text(b))
	}
	if len(betas) > 0 {
		a.extra["anthropic-beta"] = strings.Join(betas, ",")
	}
	return openModel(s, a, anthropicMessages, name)
}

func anthropicRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := value.NewObject(8)
	body.Set("model", m.name)
	system, messages := anthropicChat(messagesOf(ask.Prompt), ask.Static, ask.Shared)
	if len(system) > 0 {
		body.Set("system", system)
	}
	body.Set("messages", messages)
	copySettings(body, cfg, "max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "tools", "tool_choice", "thinking",
		"metadata", "service_tier", "container", "mcp_servers", "context_management", "output_config", "output_format", "speed", "effort")
	if v := cfg.At("web_search"); v != nil {
		body.Set("tools", append(slices.Clone(list(body.At("tools"))), v))
	}
	thinks := thinks(body)
	if !body.Has("max_tokens") {
		tokens := m.maxTokens
		if budget, ok := body.Object("thinking").At("budget_tokens").(float64); ok && thinks {
			tokens = max(tokens, budget+1024) // the budget must be below the limit
		}
		body.Set("max_tokens", tokens)
	}
	switch {
	case thinks || !samples(m.name): // as for other reasoning models, so that one configuration works for all
		body.Delete("temperature")
		body.Delete("top_k")
		if !samples(m.name) {
			body.Delete("top_p")
		}
	case !body.Has("temperature") && !body.Has("top_p") && cfg.At("omitDefaults") != true:
		body.Set("temperature", m.temperature)
	}
	passThrough(body, cfg, "passthrough", "extra_body")
	return body, nil
}

// thinks reports whether a request enables Claude's extended thinking.
func thinks(body *value.Object) bool {
	return !slices.Contains([]any{nil, "disabled"}, body.Object("thinking").At("type"))
}

// claudeVersion reads the version from the name of a Claude model, such as
// claude-sonnet-4-5-20250929 or claude-3-haiku@20240307. A name without a
// version counts as one of the latest models.
func claudeVersion(name string) (major, minor int) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-@.:", r) })
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || len(p) > 2 { // a date is longer
			continue
		}
		if i+1 < len(parts) && len(parts[i+1]) <= 2 {
			minor, _ = strconv.Atoi(parts[i+1]) // 0 if it is a word
		}
		return n, minor
	}
	return 99, 0
}

// samples reports whether a Claude model accepts a temperature. Models since
// Opus 4.7 reject any value but the default.
func samples(name string) bool {
	major, minor := claudeVersion(name)
	return major < 4 || major == 4 && minor < 7
}

// formats reports whether a Claude model accepts a schema for its output. Models since 4.5 do. The
// newest models, on the other hand, cannot be forced to call a tool.
func formats(name string) bool {
	major, minor := claudeVersion(name)
	return major > 4 || major == 4 && minor >= 5
}

// claudeTokens is the token limit of an answer if the suite sets none: promptfoo's 1,024, or more
// for models since 5, which think by default: their thinking tokens count.
func claudeTokens(name string) float64 {
	if major, _ := claudeVersion(name); major >= 5 && major != 99 {
		return 8192
	}
	return defaultTokens
}

// anthropicChat splits a chat into the instructions, which this API takes separately, and the
// messages, in the vendor's form. It marks the static messages and the shared text for the vendor's
// prompt cache, unless the chat contains a cache marker.
func anthropicChat(chat []any, static, shared int) (system, messages []any) {
	if marked(chat) {
		static, shared = 0, 0
	}
	chat, split := splitAt(chat, static, shared)
	for i, v := range chat {
		m := object(v)
		switch {
		case systemRole(m):
			system = append(system, anthropicParts(m.At("content"))...)
		case m.At("role") == "tool":
			messages = append(messages, value.ObjectOf("role", "user", "content", []any{value.ObjectOf(
				"type", "tool_result", "tool_use_id", m.At("tool_call_id"), "content", value.Text(m.At("content")))}))
		case len(list(m.At("tool_calls"))) > 0:
			messages = append(messages, value.ObjectOf("role", "assistant", "content", anthropicCalls(m)))
		default:
			messages = append(messages, value.ObjectOf("role", m.At("role"), "content", anthropicParts(m.At("content"))))
		}
		if i == split {
			markLast(list(object(messages[len(messages)-1]).At("content"))[:1])
		}
		if i+1 != min(static, len(chat)) {
			continue
		}
		if systemRole(m) {
			markLast(system)
		} else {
			markLast(list(object(messages[len(messages)-1]).At("content")))
		}
	}
	return system, messages
}

// marked reports whether a part of the chat has a cache marker.
func marked(chat []any) bool {
	return slices.ContainsFunc(chat, func(m any) bool {
		return slices.ContainsFunc(list(object(m).At("content")), func(p any) bool { return object(p).Has("cache_control") })
	})
}

// markLast marks the last block for the prompt cache, so that the vendor caches everything up to
// it. The API rejects the marker on a block without text.
func markLast(blocks []any) {
	if len(blocks) == 0 {
		return
	}
	last := object(blocks[len(blocks)-1])
	if last == nil || last.At("type") == "text" && last.Text("text") == "" {
		return
	}
	last = last.Clone() // it may be a part of the chat
	last.Set("cache_control", value.ObjectOf("type", "ephemeral"))
	blocks[len(blocks)-1] = last
}

func anthropicParts(content any) []any {
	out := []any{}
	for _, p := range partsOf(content) {
		switch {
		case p.other != nil:
			out = append(out, p.other)
		case p.image != nil && p.image.url != "":
			out = append(out, value.ObjectOf("type", "image", "source", value.ObjectOf("type", "url", "url", p.image.url)))
		case p.image != nil:
			out = append(out, value.ObjectOf("type", "image", "source",
				value.ObjectOf("type", "base64", "media_type", p.image.mediaType, "data", p.image.data)))
		default:
			out = append(out, value.ObjectOf("type", "text", "text", p.text))
		}
	}
	return out
}

// anthropicCalls converts the tool calls of an earlier turn from OpenAI's form
// to blocks.
func anthropicCalls(m *value.Object) []any {
	var out []any
	if text := contentText(m.At("content")); text != "" {
		out = append(out, value.ObjectOf("type", "text", "text", text))
	}
	for _, c := range list(m.At("tool_calls")) {
		f := object(c).Object("function")
		out = append(out, value.ObjectOf("type", "tool_use", "id", object(c).At("id"), "name", f.At("name"), "input", argumentsOf(f)))
	}
	return out
}

func anthropicOutput(m *model, answer, cfg *value.Object) (proviso.Output, error) {
	blocks, ok := answer.At("content").([]any)
	if !ok {
		return proviso.Output{}, m.malformed("the answer has no content", answer)
	}
	u := answer.Object("usage")
	cached := count(u, "cache_read_input_tokens")
	out := proviso.Output{
		Usage: proviso.Usage{
			Prompt:     count(u, "input_tokens") + cached + count(u, "cache_creation_input_tokens"),
			Completion: count(u, "output_tokens"), Cached: cached,
		},
		FinishReason: finish(answer.Text("stop_reason")), Raw: keep(answer, "id", "model", "stop_sequence", "container"),
	}
	out.Usage.Total = out.Usage.Prompt + out.Usage.Completion
	var texts []string
	for _, v := range blocks {
		b := object(v)
		if text, ok := anthropicBlock(b, cfg); ok {
			texts = append(texts, text)
		}
		if b.At("type") == "tool_use" {
			out.ToolCalls = append(out.ToolCalls, toolCall(b.At("id"), b.At("name"), value.Stringify(b.At("input"))))
		}
	}
	out.Value = anthropicValue(strings.Join(texts, "\n\n"), cfg)
	if out.FinishReason == finishFiltered {
		out.Refused, out.Guardrails = true, value.ObjectOf("flagged", true)
	} else if len(blocks) == 0 && out.FinishReason == "" {
		return proviso.Output{}, m.malformed("the answer has no content", answer)
	}
	return out, nil
}

// anthropicBlock returns the text of a block as promptfoo writes it: text and
// thoughts as they are, a tool call as JSON. Results of the vendor's own tools
// are left out.
func anthropicBlock(b, cfg *value.Object) (string, bool) {
	show := cfg.At("showThinking") != false
	switch b.At("type") {
	case "text":
		return b.Text("text"), true
	case "thinking":
		return "Thinking: " + b.Text("thinking") + "\nSignature: " + b.Text("signature"), show && b.Text("thinking") != ""
	case "redacted_thinking":
		return "Redacted Thinking: " + b.Text("data"), show
	case "tool_use":
		return value.Stringify(b), true
	}
	return "", false
}

// anthropicValue parses an answer that was requested with a schema.
func anthropicValue(text string, cfg *value.Object) any {
	format := cmp.Or(cfg.Object("output_format"), cfg.Object("output_config").Object("format"))
	if format.At("type") == "json_schema" {
		if v, err := value.ParseJSON(text); err == nil {
			return v
		}
	}
	return text
}
