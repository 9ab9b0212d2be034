package fakemodel

import (
	"cmp"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// cloudRoute returns the API at Bedrock or Vertex AI that a path belongs to, and the model.
func cloudRoute(path string) (api, model string) {
	if rest, ok := strings.CutPrefix(path, "/model/"); ok {
		if model, ok = strings.CutSuffix(rest, "/converse"); ok {
			return Converse, model
		}
		if model, ok = strings.CutSuffix(rest, "/invoke"); ok {
			return Titan, model
		}
		return "", ""
	}
	if _, rest, ok := strings.Cut(path, "/publishers/"); ok {
		_, rest, _ = strings.Cut(rest, "/models/")
		model, method, _ := strings.Cut(rest, ":")
		switch method {
		case "generateContent":
			return Google, model
		case "rawPredict":
			return Anthropic, model
		case "predict":
			return VertexEmbed, model
		}
	}
	return "", ""
}

// converse returns an answer of Bedrock, in its form for all models.
func (r Reply) converse(req Request, u proviso.Usage) *value.Object {
	content := []any{}
	reason := "end_turn"
	if r.Thinking != "" {
		content = append(content, value.ObjectOf("reasoningContent",
			value.ObjectOf("reasoningText", value.ObjectOf("text", r.Thinking, "signature", "sig"))))
	}
	calls, text := r.forced(req.Body.Object("toolConfig").Object("toolChoice").Object("tool").Text("name"), "tooluse_1")
	if text != "" {
		content = append(content, value.ObjectOf("text", text))
	}
	for _, c := range calls {
		reason = "tool_use"
		content = append(content, value.ObjectOf("toolUse", value.ObjectOf("toolUseId", c.ID, "name", c.Name, "input", parsed(c.Arguments))))
	}
	return value.ObjectOf("metrics", value.ObjectOf("latencyMs", 12.0),
		"output", value.ObjectOf("message", value.ObjectOf("role", "assistant", "content", content)),
		"stopReason", cmp.Or(r.FinishReason, reason), "usage", value.ObjectOf(
			"inputTokens", float64(u.Prompt-u.Cached-r.Written), "outputTokens", float64(u.Completion), "totalTokens", float64(u.Total),
			"cacheReadInputTokens", float64(u.Cached), "cacheWriteInputTokens", float64(r.Written)))
}

// invoked returns the vector of an Amazon or Cohere model, without the envelope of Converse.
func (r Reply) invoked(req Request, u proviso.Usage) *value.Object {
	if texts, ok := req.Body.At("texts").([]any); ok {
		return value.ObjectOf("embeddings", r.each(texts, r.vector), "response_type", "embeddings_floats")
	}
	return value.ObjectOf("embedding", r.vector(), "inputTextTokenCount", float64(u.Prompt))
}

// predicted returns vectors in the form of Vertex AI.
func (r Reply) predicted(req Request) *value.Object {
	return value.ObjectOf("predictions", r.each(req.Body.At("instances"), func() any {
		return value.ObjectOf("embeddings", value.ObjectOf("values", r.vector()))
	}))
}
