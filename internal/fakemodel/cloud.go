package fakemodel

import (
	"strings"

	"github.com/proviso-eval/proviso"
)

// cloudRoute finds the API of a path at Bedrock or Vertex AI, and the model.
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

// converse is an answer of Bedrock, in its form for all models.
func (r Reply) converse(req Request, u proviso.Usage) *proviso.Object {
	content := []any{}
	reason := "end_turn"
	if r.Thinking != "" {
		content = append(content, proviso.ObjectOf("reasoningContent",
			proviso.ObjectOf("reasoningText", proviso.ObjectOf("text", r.Thinking, "signature", "sig"))))
	}
	calls := r.Calls
	if forced := forcedToolSpec(req.Body); forced != "" && calls == nil && r.Text != "" {
		calls = []Call{{ID: "tooluse_1", Name: forced, Arguments: r.Text}}
	} else if r.Text != "" {
		content = append(content, proviso.ObjectOf("text", r.Text))
	}
	for _, c := range calls {
		reason = "tool_use"
		content = append(content, proviso.ObjectOf("toolUse", proviso.ObjectOf("toolUseId", c.ID, "name", c.Name, "input", parsed(c.Arguments))))
	}
	return proviso.ObjectOf("metrics", proviso.ObjectOf("latencyMs", 12.0),
		"output", proviso.ObjectOf("message", proviso.ObjectOf("role", "assistant", "content", content)),
		"stopReason", or(r.FinishReason, reason), "usage", proviso.ObjectOf(
			"inputTokens", float64(u.Prompt-u.Cached-r.Written), "outputTokens", float64(u.Completion), "totalTokens", float64(u.Total),
			"cacheReadInputTokens", float64(u.Cached), "cacheWriteInputTokens", float64(r.Written)))
}

// forcedToolSpec is the name of the tool that a model of Bedrock has to call.
func forcedToolSpec(body *proviso.Object) string {
	config, _ := body.At("toolConfig").(*proviso.Object)
	choice, _ := config.At("toolChoice").(*proviso.Object)
	tool, _ := choice.At("tool").(*proviso.Object)
	name, _ := tool.At("name").(string)
	return name
}

// invoked is the vector of a model of Amazon's or Cohere's, without the envelope
// of Converse.
func (r Reply) invoked(req Request, u proviso.Usage) *proviso.Object {
	if texts, ok := req.Body.At("texts").([]any); ok {
		out := make([]any, len(texts))
		for i := range texts {
			out[i] = r.vector()
		}
		return proviso.ObjectOf("embeddings", out, "response_type", "embeddings_floats")
	}
	return proviso.ObjectOf("embedding", r.vector(), "inputTextTokenCount", float64(u.Prompt))
}

// predicted are vectors as Vertex AI gives them.
func (r Reply) predicted(req Request) *proviso.Object {
	var out []any
	for range r.texts(req.Body.At("instances")) {
		out = append(out, proviso.ObjectOf("embeddings", proviso.ObjectOf("values", r.vector())))
	}
	return proviso.ObjectOf("predictions", out)
}

// exception is an error of Bedrock: its kind stands in a header.
func (r Reply) exception() *proviso.Object { return proviso.ObjectOf("message", r.Message) }
