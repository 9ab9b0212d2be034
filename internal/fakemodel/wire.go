package fakemodel

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// answer returns a successful answer in the form of an API.
func (r Reply) answer(api string, req Request) *value.Object {
	u := r.Usage
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	switch api {
	case Responses:
		return r.response(req, u)
	case Completions:
		choice := value.ObjectOf("text", r.Text, "index", 0.0, "logprobs", nil, "finish_reason", cmp.Or(r.FinishReason, "stop"))
		if r.LogProbs != nil {
			choice.Set("logprobs", value.ObjectOf("token_logprobs", value.Of(r.LogProbs)))
		}
		return value.ObjectOf("id", "cmpl-1", "object", "text_completion", "model", req.Model, "choices", []any{choice}, "usage", openAIUsage(u))
	case Embeddings:
		return r.embeddings(req, u)
	case Moderations:
		return r.moderation(req)
	case Classify:
		return r.classes()
	case Anthropic:
		return r.message(req, u)
	case Converse:
		return r.converse(req, u)
	case Titan:
		return r.invoked(req, u)
	case VertexEmbed:
		return r.predicted(req)
	case Google:
		return r.generated(req, u)
	case GoogleEmbed:
		return value.ObjectOf("embeddings", r.each(req.Body.At("requests"), func() any { return value.ObjectOf("values", r.vector()) }))
	case Replicate:
		return value.ObjectOf("id", "p1", "status", "succeeded", "error", nil, "output", []any{r.Text}, "metrics", value.ObjectOf("predict_time", 0.5))
	case OllamaChat, Ollama:
		return r.ollama(api, req, u)
	case OllamaEmbeds:
		return value.ObjectOf("model", req.Model, "embeddings", r.each(req.Body.At("input"), r.vector), "prompt_eval_count", float64(u.Prompt))
	}
	return r.chat(req, u)
}

// texts returns the texts to embed, one entry each.
func (r Reply) texts(input any) []any {
	if list, ok := input.([]any); ok {
		return list
	}
	return []any{input}
}

// each returns one entry for each text to embed.
func (r Reply) each(input any, entry func() any) []any {
	var out []any
	for range r.texts(input) {
		out = append(out, entry())
	}
	return out
}

func (r Reply) vector() any {
	if r.Vector == nil {
		return []any{0.6, 0.8}
	}
	return value.Of(r.Vector)
}

func openAIUsage(u proviso.Usage) *value.Object {
	return value.ObjectOf("prompt_tokens", float64(u.Prompt), "completion_tokens", float64(u.Completion), "total_tokens", float64(u.Total),
		"prompt_tokens_details", value.ObjectOf("cached_tokens", float64(u.Cached)))
}

// toolCalls returns the calls in OpenAI's form.
func (r Reply) toolCalls() []any {
	var out []any
	for _, c := range r.Calls {
		out = append(out, value.ObjectOf("id", c.ID, "type", "function", "function", value.ObjectOf("name", c.Name, "arguments", c.Arguments)))
	}
	return out
}

func (r Reply) chat(req Request, u proviso.Usage) *value.Object {
	message := value.ObjectOf("role", "assistant", "content", r.Text, "refusal", nil)
	reason := "stop"
	if r.Text == "" {
		message.Set("content", nil)
	}
	if r.Refusal != "" {
		message.Set("refusal", r.Refusal)
	}
	if r.Thinking != "" {
		message.Set("reasoning_content", r.Thinking)
	}
	if len(r.Calls) > 0 {
		message.Set("tool_calls", r.toolCalls())
		reason = "tool_calls"
	}
	choice := value.ObjectOf("index", 0.0, "message", message, "logprobs", nil, "finish_reason", cmp.Or(r.FinishReason, reason))
	if r.LogProbs != nil {
		var content []any
		for _, p := range r.LogProbs {
			content = append(content, value.ObjectOf("token", "t", "logprob", p))
		}
		choice.Set("logprobs", value.ObjectOf("content", content))
	}
	return value.ObjectOf("id", "chatcmpl-1", "object", "chat.completion", "created", 1.7e9, "model", req.Model,
		"choices", []any{choice}, "usage", openAIUsage(u), "system_fingerprint", "fp_1")
}

func (r Reply) response(req Request, u proviso.Usage) *value.Object {
	output := []any{}
	if r.Thinking != "" {
		output = append(output, value.ObjectOf("type", "reasoning", "id", "rs_1",
			"summary", []any{value.ObjectOf("type", "summary_text", "text", r.Thinking)}))
	}
	for _, c := range r.Calls {
		output = append(output, value.ObjectOf("type", "function_call", "id", "fc_1", "call_id", c.ID, "name", c.Name,
			"arguments", c.Arguments, "status", "completed"))
	}
	var content []any
	if r.Text != "" {
		content = append(content, value.ObjectOf("type", "output_text", "text", r.Text, "annotations", []any{}))
	}
	if r.Refusal != "" {
		content = append(content, value.ObjectOf("type", "refusal", "refusal", r.Refusal))
	}
	if content != nil {
		output = append(output, value.ObjectOf("type", "message", "id", "msg_1", "status", "completed", "role", "assistant", "content", content))
	}
	o := value.ObjectOf("id", "resp_1", "object", "response", "status", "completed", "error", nil, "incomplete_details", nil,
		"model", req.Model, "output", output, "usage", value.ObjectOf(
			"input_tokens", float64(u.Prompt), "input_tokens_details", value.ObjectOf("cached_tokens", float64(u.Cached)),
			"output_tokens", float64(u.Completion), "total_tokens", float64(u.Total)))
	if r.FinishReason != "" {
		o.Set("status", "incomplete")
		o.Set("incomplete_details", value.ObjectOf("reason", r.FinishReason))
	}
	return o
}

// embeddings returns the vectors in reverse order, because clients must use the index.
func (r Reply) embeddings(req Request, u proviso.Usage) *value.Object {
	texts := r.texts(req.Body.At("input"))
	var data []any
	for i := len(texts) - 1; i >= 0; i-- {
		v := r.vector()
		if text, _ := texts[i].(string); r.Vectors != nil {
			v = value.Of(r.Vectors(text))
		} else if r.Vector == nil {
			v = []any{float64(i), 1.0}
		}
		if req.Body.At("encoding_format") == "base64" { // as OpenAI's own clients request
			v = packed(list(v))
		}
		data = append(data, value.ObjectOf("object", "embedding", "index", float64(i), "embedding", v))
	}
	return value.ObjectOf("object", "list", "data", data, "model", req.Model, "usage", openAIUsage(u))
}

// moderation returns the categories of harm in a text.
func (r Reply) moderation(req Request) *value.Object {
	categories, scores := value.NewObject(len(r.Scores)), value.NewObject(len(r.Scores))
	flagged := false
	for _, name := range slices.Sorted(maps.Keys(r.Scores)) {
		flag := r.Scores[name] >= 0.5
		flagged = flagged || flag
		categories.Set(name, flag)
		scores.Set(name, r.Scores[name])
	}
	return value.ObjectOf("id", "modr-1", "model", req.Model, "results", []any{
		value.ObjectOf("flagged", flagged, "categories", categories, "category_scores", scores)})
}

// bareList is the member that holds an answer that is a list.
const bareList = "\x00"

// classes returns a list with one list for the only text, best class first.
func (r Reply) classes() *value.Object {
	list := []any{}
	names := slices.Sorted(maps.Keys(r.Scores))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(r.Scores[b], r.Scores[a]) })
	for _, name := range names {
		list = append(list, value.ObjectOf("label", name, "score", r.Scores[name]))
	}
	return value.ObjectOf(bareList, []any{list})
}

// packed encodes a vector as 32-bit floats, little-endian, in base64.
func packed(v []any) string {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(value.ToNumber(f))))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func (r Reply) message(req Request, u proviso.Usage) *value.Object {
	content := []any{}
	reason := "end_turn"
	if r.Thinking != "" {
		content = append(content, value.ObjectOf("type", "thinking", "thinking", r.Thinking, "signature", "sig"))
	}
	calls, text := r.forced(forcedTool(req.Body), "toolu_1")
	if text != "" {
		content = append(content, value.ObjectOf("type", "text", "text", text))
	}
	for _, c := range calls {
		reason = "tool_use"
		content = append(content, value.ObjectOf("type", "tool_use", "id", c.ID, "name", c.Name, "input", parsed(c.Arguments)))
	}
	return value.ObjectOf("id", "msg_1", "type", "message", "role", "assistant", "model", req.Model, "content", content,
		"stop_reason", cmp.Or(r.FinishReason, reason), "stop_sequence", nil, "usage", value.ObjectOf(
			"input_tokens", float64(u.Prompt-u.Cached-r.Written), "cache_read_input_tokens", float64(u.Cached),
			"cache_creation_input_tokens", float64(r.Written), "output_tokens", float64(u.Completion)))
}

// forcedTool is the name of the forced tool; "" if there is none.
func forcedTool(body *value.Object) string {
	choice := body.Object("tool_choice")
	if choice.At("type") != "tool" {
		return ""
	}
	return choice.Text("name")
}

// forced returns the calls and the text of a reply. For a forced tool, the text becomes its
// arguments.
func (r Reply) forced(tool, id string) (calls []Call, text string) {
	if tool != "" && r.Calls == nil && r.Text != "" {
		return []Call{{ID: id, Name: tool, Arguments: r.Text}}, ""
	}
	return r.Calls, r.Text
}

func parsed(arguments string) any {
	v, err := value.ParseJSON(arguments)
	if err != nil {
		return value.NewObject(0)
	}
	return v
}

func (r Reply) generated(req Request, u proviso.Usage) *value.Object {
	var parts []any
	if r.Thinking != "" {
		parts = append(parts, value.ObjectOf("text", r.Thinking, "thought", true))
	}
	if r.Text != "" {
		parts = append(parts, value.ObjectOf("text", r.Text))
	}
	for _, c := range r.Calls {
		parts = append(parts, value.ObjectOf("functionCall", value.ObjectOf("name", c.Name, "args", parsed(c.Arguments))))
	}
	candidate := value.ObjectOf("content", value.ObjectOf("role", "model", "parts", parts),
		"finishReason", cmp.Or(r.FinishReason, "STOP"), "index", 0.0)
	if r.LogProbs != nil {
		var chosen []any
		for _, p := range r.LogProbs {
			chosen = append(chosen, value.ObjectOf("token", "t", "logProbability", p))
		}
		candidate.Set("logprobsResult", value.ObjectOf("chosenCandidates", chosen))
	}
	return value.ObjectOf("candidates", []any{candidate}, "usageMetadata", value.ObjectOf(
		"promptTokenCount", float64(u.Prompt), "candidatesTokenCount", float64(u.Completion), "totalTokenCount", float64(u.Total),
		"cachedContentTokenCount", float64(u.Cached)), "modelVersion", req.Model, "responseId", "resp-1")
}

func (r Reply) ollama(api string, req Request, u proviso.Usage) *value.Object {
	o := value.ObjectOf("model", req.Model, "created_at", "2025-01-01T00:00:00Z", "done", true, "done_reason", cmp.Or(r.FinishReason, "stop"),
		"total_duration", 1e6, "prompt_eval_count", float64(u.Prompt), "eval_count", float64(u.Completion))
	if api == Ollama {
		o.Set("response", r.Text)
		if r.Thinking != "" {
			o.Set("thinking", r.Thinking)
		}
		return o
	}
	message := value.ObjectOf("role", "assistant", "content", r.Text)
	if r.Thinking != "" {
		message.Set("thinking", r.Thinking)
	}
	var calls []any
	for _, c := range r.Calls {
		calls = append(calls, value.ObjectOf("function", value.ObjectOf("name", c.Name, "arguments", parsed(c.Arguments))))
	}
	if calls != nil {
		message.Set("tool_calls", calls)
	}
	o.Set("message", message)
	return o
}
