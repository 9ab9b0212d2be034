package provider

import (
	"cmp"
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// openAIChat is POST /chat/completions.
var openAIChat = wire{path: fixed("/chat/completions"), request: chatRequest, output: chatOutput, shape: chatShape}

// chatSettings are the settings that are API parameters of the same name.
var chatSettings = [...]string{
	"temperature", "top_p", "max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty", "seed", "stop",
	"n", "logit_bias", "logprobs", "top_logprobs", "response_format", "tools", "tool_choice", "parallel_tool_calls", "tool_resources",
	"functions", "function_call", "reasoning", "reasoning_effort", "reasoning_format", "include_reasoning", "verbosity", "modalities",
	"audio", "prediction", "service_tier", "store", "metadata", "user", "safety_identifier", "prompt_cache_key",
	"prompt_cache_retention", "web_search_options", "search_parameters", "enable_thinking", "thinking", "top_k", "min_p", "repetition_penalty",
	"transforms", "models", "route", "provider", "plugins", "safe_prompt", "random_seed", "chat_template_kwargs",
}

func chatRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := value.NewObject(8)
	body.Set("model", m.name)
	body.Set("messages", messagesOf(ask.Prompt))
	copySettings(body, cfg, chatSettings[:]...)
	m.defaults(body, cfg, "max_tokens")
	if m.reasoning {
		m.reasoningSettings(body)
	}
	passThrough(body, cfg, "passthrough", "extra_body")
	return body, nil
}

// reasoningSettings removes the settings that reasoning models reject, as promptfoo does, so that
// one configuration works for both kinds of models.
func (m *model) reasoningSettings(body *value.Object) {
	if r := body.Object("reasoning"); r != nil && m.flat {
		if effort := r.At("effort"); effort != nil && !body.Has("reasoning_effort") {
			body.Set("reasoning_effort", effort)
		}
		body.Delete("reasoning")
	}
	if body.At("reasoning_effort") != "none" {
		body.Delete("temperature")
	}
	body.Delete("max_tokens")
}

func chatOutput(m *model, answer, cfg *value.Object) (proviso.Output, error) {
	choices := list(answer.At("choices"))
	if len(choices) == 0 {
		return proviso.Output{}, m.malformed("the answer has no choices", answer)
	}
	choice := object(choices[0])
	message := choice.Object("message")
	if message == nil {
		return proviso.Output{}, m.malformed("the answer has no message", answer)
	}
	out := proviso.Output{
		Usage: openAIUsage(answer), FinishReason: finish(choice.Text("finish_reason")),
		LogProbs: logProbs(choice.Object("logprobs")),
		Raw:      keep(answer, "id", "model", "system_fingerprint", "service_tier", "provider", "citations", "search_results"),
	}
	out.Guardrails = azureGuardrails(answer, choice)
	if refusal := refusalIn(message); refusal != "" {
		out.Value, out.Refused = refusal, true
		out.Guardrails = value.ObjectOf("flagged", true)
		return out, nil
	}
	chatValue(&out, message, cfg)
	if out.FinishReason == finishFiltered {
		out.Refused = true
		if out.Guardrails == nil {
			out.Guardrails = value.ObjectOf("flagged", true)
		}
		if text, ok := out.Value.(string); !ok || text == "" {
			out.Value = "Content filtered by provider"
		}
	}
	return out, nil
}

// chatValue sets the value as promptfoo does: the text; the tool calls if there is no text; the
// whole message if there are both; no value if the content is null, as when a model spends all its
// tokens on reasoning.
func chatValue(out *proviso.Output, message, cfg *value.Object) {
	calls := list(message.At("tool_calls"))
	function := message.Object("function_call")
	out.ToolCalls = calls
	if len(calls) == 0 && function != nil {
		out.ToolCalls = []any{value.ObjectOf("type", "function", "function", function)}
	}
	text := contentText(message.At("content"))
	switch {
	case text != "" && len(out.ToolCalls) > 0:
		out.Value = message
	case text == "" && function != nil:
		out.Value = function
	case text == "" && len(calls) > 0:
		out.Value = calls
	case message.At("content") == nil:
		out.Value = value.Undefined{}
	default:
		out.Value = structured(text, cfg)
	}
	thoughts := cmp.Or(message.Text("reasoning"), message.Text("reasoning_content"))
	out.Value = withThoughts(thoughts, out.Value, cfg)
}

// refusalIn returns the refusal in a message: its field, or a part of its content.
func refusalIn(message *value.Object) string {
	if refusal := message.Text("refusal"); refusal != "" {
		return refusal
	}
	for _, p := range list(message.At("content")) {
		if refusal := object(p).Text("refusal"); refusal != "" && object(p).Text("type") == "refusal" {
			return refusal
		}
	}
	return ""
}

// contentText joins the texts of a message's content.
func contentText(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var b strings.Builder
	for _, p := range list(content) {
		switch object(p).Text("type") {
		case "thinking", "reasoning": // not part of the answer
		default:
			b.WriteString(object(p).Text("text"))
		}
	}
	return b.String()
}

// structured parses an answer that was requested with a schema. Text that is
// not JSON stays text.
func structured(text string, cfg *value.Object) any {
	format := cfg.Object("response_format")
	if format.At("type") != "json_schema" {
		return text
	}
	if v, err := value.ParseReply(context.Background(), text); err == nil {
		return v
	}
	return text
}

// withThoughts puts the model's reasoning before its text, unless showThinking
// is off.
func withThoughts(thoughts string, val any, cfg *value.Object) any {
	text, ok := val.(string)
	if thoughts == "" || !ok || cfg.At("showThinking") == false {
		return val
	}
	return "Thinking: " + thoughts + "\n\n" + text
}

// logProbs reads log probabilities in either of OpenAI's forms.
func logProbs(o *value.Object) []float64 {
	if p, ok := numbers(o.At("token_logprobs")); ok {
		return p
	}
	var out []float64
	for _, t := range list(o.At("content")) {
		if p, ok := object(t).At("logprob").(float64); ok {
			out = append(out, p)
		}
	}
	return out
}

// openAICompletion is POST /completions, the API of models without chat.
var openAICompletion = wire{path: fixed("/completions"), request: completionRequest, output: completionOutput}

func completionRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := value.NewObject(8)
	body.Set("model", m.name)
	body.Set("prompt", ask.Prompt)
	copySettings(body, cfg, "temperature", "top_p", "max_tokens", "presence_penalty", "frequency_penalty", "best_of", "seed", "stop",
		"n", "logit_bias", "logprobs", "echo", "suffix", "user")
	m.defaults(body, cfg, "max_tokens")
	passThrough(body, cfg, "passthrough", "extra_body")
	return body, nil
}

func completionOutput(m *model, answer, _ *value.Object) (proviso.Output, error) {
	choices := list(answer.At("choices"))
	if len(choices) == 0 {
		return proviso.Output{}, m.malformed("the answer has no choices", answer)
	}
	choice := object(choices[0])
	text, ok := choice.At("text").(string)
	if !ok {
		return proviso.Output{}, m.malformed("the answer has no text", answer)
	}
	return proviso.Output{
		Value: text, Usage: openAIUsage(answer), FinishReason: finish(choice.Text("finish_reason")),
		LogProbs: logProbs(choice.Object("logprobs")), Raw: keep(answer, "id", "model", "system_fingerprint"),
	}, nil
}
