package provider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

func converseRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := value.NewObject(6)
	system, messages, err := converseChat(messagesOf(ask.Prompt), m.cachesAt(ask.Static), m.cachesAt(ask.Shared))
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "%s: %w", m.id, err)
	}
	body.Set("messages", messages)
	if len(system) > 0 {
		body.Set("system", system)
	}
	if c := converseInference(m, cfg); c.Len() > 0 {
		body.Set("inferenceConfig", c)
	}
	if tools := converseTools(list(cfg.At("tools"))); len(tools) > 0 {
		t := value.ObjectOf("tools", tools)
		if c := converseChoice(cmp.Or(cfg.At("toolChoice"), cfg.At("tool_choice"))); c != nil {
			t.Set("toolChoice", c)
		}
		body.Set("toolConfig", t)
	}
	if id := cfg.At("guardrailIdentifier"); id != nil {
		g := value.ObjectOf("guardrailIdentifier", value.Text(id), "guardrailVersion", "DRAFT")
		if v := cfg.At("guardrailVersion"); v != nil {
			g.Set("guardrailVersion", value.Text(v))
		}
		copySettings(g, cfg, "trace")
		body.Set("guardrailConfig", g)
	}
	more := cfg.Object("additionalModelRequestFields").Clone()
	copySettings(more, cfg, "thinking", "reasoningConfig")
	if more.Len() > 0 {
		body.Set("additionalModelRequestFields", more)
	}
	copySettings(body, cfg, "performanceConfig", "serviceTier", "requestMetadata", "outputConfig", "additionalModelResponseFieldPaths")
	passThrough(body, cfg, "passthrough", "extra_body")
	return body, nil
}

// cachesAt returns static for models with a prompt cache on Bedrock. It returns 0 for others,
// because they reject the marker.
func (m *model) cachesAt(static int) int {
	if strings.Contains(m.name, "anthropic.claude") || strings.Contains(m.name, "amazon.nova") {
		return static
	}
	return 0
}

// converseInference returns the settings that all models share. Nova accepts
// neither a temperature nor, at high effort, a token limit when it reasons.
// Claude models since Opus 4.7 accept no temperature.
func converseInference(m *model, cfg *value.Object) *value.Object {
	c := value.NewObject(4)
	for _, s := range [...]struct{ own, common string }{
		{"maxTokens", "max_tokens"}, {"temperature", "temperature"}, {"topP", "top_p"}, {"stopSequences", "stop"},
	} {
		for _, name := range [...]string{s.common, s.own} {
			if v := cfg.At(name); v != nil {
				c.Set(s.own, v)
			}
		}
	}
	if r := cfg.Object("reasoningConfig"); r.At("type") == "enabled" {
		c.Delete("temperature")
		c.Delete("topP")
		if r.At("maxReasoningEffort") == "high" {
			c.Delete("maxTokens")
		}
	}
	if name := bedrockModel(m.name); strings.HasPrefix(name, "claude") && !samples(name) {
		c.Delete("temperature")
	}
	return c
}

// converseChat splits a chat into instructions and messages in the common form
// of Bedrock. Consecutive messages of one role are merged, because the API
// requires alternating roles.
func converseChat(chat []any, static, shared int) (system, messages []any, err error) {
	messages = []any{}
	chat, split := splitAt(chat, static, shared)
	for i, v := range chat {
		m := object(v)
		role := "user"
		var parts []any
		switch {
		case systemRole(m):
			role = ""
			parts = []any{value.ObjectOf("text", cmp.Or(contentText(m.At("content")), value.Text(m.At("content"))))}
		case m.At("role") == "tool":
			parts = []any{value.ObjectOf("toolResult", value.ObjectOf("toolUseId", m.At("tool_call_id"),
				"content", []any{value.ObjectOf("text", value.Text(m.At("content")))}))}
		default:
			if m.At("role") == "assistant" {
				role = "assistant"
			}
			if parts, err = converseParts(m); err != nil {
				return nil, nil, err
			}
		}
		switch point := value.ObjectOf("cachePoint", value.ObjectOf("type", "default")); {
		case i == split:
			parts = slices.Insert(parts, 1, any(point))
		case i+1 == min(static, len(chat)) && len(parts) > 0:
			parts = append(parts, point)
		}
		if role == "" {
			system = append(system, parts...)
			continue
		}
		if n := len(messages); n > 0 && object(messages[n-1]).At("role") == role {
			last := object(messages[n-1])
			last.Set("content", append(list(last.At("content")), parts...))
			continue
		}
		messages = append(messages, value.ObjectOf("role", role, "content", parts))
	}
	return system, messages, nil
}

func converseParts(m *value.Object) ([]any, error) {
	out := []any{}
	for _, p := range partsOf(m.At("content")) {
		switch {
		case p.other != nil:
			out = append(out, p.other)
		case p.image != nil && p.image.url != "":
			return nil, proviso.Errorf(proviso.Invalid, "Bedrock accepts pictures as data, not by URL")
		case p.image != nil:
			_, format, _ := strings.Cut(p.image.mediaType, "/")
			out = append(out, value.ObjectOf("image", value.ObjectOf("format", format, "source", value.ObjectOf("bytes", p.image.data))))
		default:
			out = append(out, value.ObjectOf("text", p.text))
		}
	}
	for _, c := range list(m.At("tool_calls")) {
		f := object(c).Object("function")
		out = append(out, value.ObjectOf("toolUse", value.ObjectOf("toolUseId", object(c).At("id"), "name", f.At("name"), "input", argumentsOf(f))))
	}
	return out, nil
}

// converseTools accepts tools in the forms of OpenAI, Anthropic and Bedrock.
func converseTools(tools []any) []any {
	out := make([]any, 0, len(tools))
	for _, v := range tools {
		t := object(v)
		from, schema := t, "input_schema"
		switch {
		case t.Object("function") != nil:
			from, schema = t.Object("function"), "parameters"
		case t.Has("toolSpec") || t.Has("cachePoint") || !t.Has("name"):
			out = append(out, v)
			continue
		case t.Has("parameters"):
			schema = "parameters"
		}
		spec := value.NewObject(3)
		copySettings(spec, from, "name", "description")
		json := from.At(schema)
		if json == nil {
			json = anyObject()
		}
		spec.Set("inputSchema", value.ObjectOf("json", json))
		out = append(out, value.ObjectOf("toolSpec", spec))
	}
	return out
}

// converseChoice converts the tool choice to Bedrock's form; nil leaves the
// choice to the model.
func converseChoice(v any) *value.Object {
	if text, ok := v.(string); ok {
		switch text {
		case "auto":
			return value.ObjectOf("auto", value.NewObject(0))
		case "any", "required":
			return value.ObjectOf("any", value.NewObject(0))
		}
		return nil
	}
	o := object(v)
	name := o.At("name")
	if f := o.Object("function"); f != nil {
		name = f.At("name")
	}
	switch {
	case o.Has("tool") || o.Has("any") || o.Has("auto"):
		return o
	case name != nil:
		return value.ObjectOf("tool", value.ObjectOf("name", name))
	}
	return converseChoice(o.Text("type"))
}

// converseShape uses the output format of Claude models that have one, and otherwise a tool that
// the model must call. A model that thinks cannot be forced to call a tool.
func converseShape(m *model, body *value.Object, r *proviso.Reply) bool {
	config := body.Object("toolConfig")
	if config.Has("toolChoice") || body.Has("outputConfig") {
		return false
	}
	if name := bedrockModel(m.name); strings.HasPrefix(name, "claude") && formats(name) {
		if r.Schema == nil {
			return false
		}
		schema := value.ObjectOf("schema", value.Stringify(unbounded(r.Schema, 0)), "name", replyName(r))
		body.Set("outputConfig", value.ObjectOf("textFormat",
			value.ObjectOf("type", "json_schema", "structure", value.ObjectOf("jsonSchema", schema))))
		return true
	}
	if more := body.Object("additionalModelRequestFields"); thinks(more) || more.Has("reasoningConfig") {
		return false
	}
	config = config.Clone()
	tool := value.ObjectOf("toolSpec", value.ObjectOf("name", replyName(r), "description", "Gives the answer.",
		"inputSchema", value.ObjectOf("json", replySchema(r))))
	config.Set("tools", append(slices.Clone(list(config.At("tools"))), tool))
	config.Set("toolChoice", value.ObjectOf("tool", value.ObjectOf("name", replyName(r))))
	body.Set("toolConfig", config)
	return true
}

func converseOutput(m *model, answer, cfg *value.Object) (proviso.Output, error) {
	message := answer.Object("output").Object("message")
	reason := answer.Text("stopReason")
	blocks, ok := message.At("content").([]any)
	if !ok && reason == "" {
		return proviso.Output{}, m.malformed("the answer has no content", answer)
	}
	u := answer.Object("usage")
	cached := count(u, "cacheReadInputTokens")
	out := proviso.Output{
		Usage: proviso.Usage{
			Prompt:     count(u, "inputTokens") + cached + count(u, "cacheWriteInputTokens"),
			Completion: count(u, "outputTokens"), Cached: cached,
		},
		FinishReason: finish(reason), Raw: keep(answer, "metrics", "trace", "additionalModelResponseFields", "performanceConfig", "serviceTier"),
	}
	out.Usage.Total = out.Usage.Prompt + out.Usage.Completion
	var texts []string
	for _, v := range blocks {
		b := object(v)
		if text := converseBlock(b, cfg); text != "" {
			texts = append(texts, text)
		}
		if call := b.Object("toolUse"); call != nil {
			out.ToolCalls = append(out.ToolCalls, toolCall(call.At("toolUseId"), call.At("name"), value.Stringify(orEmpty(call.At("input")))))
		}
	}
	out.Value = strings.Join(texts, "\n\n")
	switch reason {
	case "guardrail_intervened", "content_filtered":
		out.Refused, out.FinishReason = true, finishFiltered
		out.Guardrails = value.ObjectOf("flagged", true, "reason", reason)
	case "malformed_model_output", "malformed_tool_use":
		out.Error = m.id + ": the model stopped with " + reason
	}
	return out, nil
}

// converseBlock returns the text of a block as promptfoo writes it: text as it
// is, thoughts between tags, a tool call as JSON.
func converseBlock(b, cfg *value.Object) string {
	if call := b.Object("toolUse"); call != nil {
		return value.Stringify(value.ObjectOf("type", "tool_use", "id", call.At("toolUseId"), "name", call.At("name"), "input", call.At("input")))
	}
	thoughts := b.Object("reasoningContent")
	if thoughts == nil || cfg.At("showThinking") == false {
		return b.Text("text")
	}
	text := thoughts.Object("reasoningText")
	if text == nil {
		return "<thinking>[Redacted]</thinking>"
	}
	out := "<thinking>\n" + text.Text("text") + "\n</thinking>"
	if s := text.Text("signature"); s != "" {
		out += "\n\nSignature: " + s
	}
	return out
}
