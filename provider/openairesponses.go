package provider

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// openAIResponses is POST /responses.
var openAIResponses = wire{path: fixed("/responses"), request: responsesRequest, output: responsesOutput, shape: responsesShape}

func responsesRequest(m *model, ask *proviso.Ask, cfg *value.Object) (*value.Object, error) {
	body := value.NewObject(8)
	body.Set("model", m.name)
	if chat, ok := chatOf(ask.Prompt); ok {
		body.Set("input", chat)
	} else {
		body.Set("input", ask.Prompt)
	}
	copySettings(body, cfg, "instructions", "temperature", "top_p", "max_output_tokens", "tools", "tool_choice", "max_tool_calls",
		"parallel_tool_calls", "previous_response_id", "conversation", "reasoning", "include", "store", "metadata", "truncation", "service_tier",
		"user", "safety_identifier", "prompt_cache_key", "top_logprobs", "text")
	if v, ok := cfg.Get("max_tokens"); ok && !body.Has("max_output_tokens") && !m.reasoning {
		body.Set("max_output_tokens", v)
	}
	m.defaults(body, cfg, "max_output_tokens")
	if effort := cfg.At("reasoning_effort"); effort != nil && !body.Has("reasoning") {
		body.Set("reasoning", value.ObjectOf("effort", effort))
	}
	if m.reasoning && body.Object("reasoning").At("effort") != "none" {
		body.Delete("temperature")
	}
	textFormat(body, cfg)
	passThrough(body, cfg, "passthrough", "extra_body")
	return body, nil
}

// textFormat converts the response_format of chat to the text parameter of this
// API, which has the schema one level higher.
func textFormat(body, cfg *value.Object) {
	format := cfg.Object("response_format")
	if format == nil && cfg.At("verbosity") == nil {
		return
	}
	text := body.Object("text").Clone()
	if format != nil {
		flat := value.ObjectOf("type", format.At("type"))
		for k, v := range format.All() {
			if inner := object(v); k == "json_schema" && inner != nil {
				copySettings(flat, inner, inner.Keys()...)
			} else {
				flat.Set(k, v)
			}
		}
		if flat.At("type") == "json_schema" && !flat.Has("name") {
			flat.Set("name", "response_schema")
		}
		text.Set("format", flat)
	}
	copySettings(text, cfg, "verbosity")
	body.Set("text", text)
}

func responsesOutput(m *model, answer, cfg *value.Object) (proviso.Output, error) {
	items, ok := answer.At("output").([]any)
	if !ok {
		return proviso.Output{}, m.malformed("the answer has no output", answer)
	}
	u := answer.Object("usage")
	out := proviso.Output{
		Usage: proviso.Usage{
			Prompt: count(u, "input_tokens"), Completion: count(u, "output_tokens"), Total: count(u, "total_tokens"),
			Cached: count(u.Object("input_tokens_details"), "cached_tokens"),
		},
		Raw: keep(answer, "id", "model", "status", "service_tier"),
	}
	var r responseItems
	for _, item := range items {
		r.add(object(item), cfg)
	}
	out.ToolCalls, out.LogProbs = r.calls, r.logProbs
	out.FinishReason = responseFinish(answer, r.calls)
	if len(r.refusals) > 0 {
		out.Value, out.Refused = strings.Join(r.refusals, "\n"), true
		out.Guardrails = value.ObjectOf("flagged", true)
		return out, nil
	}
	if len(r.texts) == 0 && out.FinishReason == "" {
		return proviso.Output{}, m.malformed("the answer has no text", answer)
	}
	if out.FinishReason == finishFiltered {
		out.Refused, out.Guardrails = true, value.ObjectOf("flagged", true)
	}
	out.Value = structured(strings.Join(r.texts, "\n"), cfg)
	return out, nil
}

// responseFinish derives the finish reason, which this API spreads over several
// members.
func responseFinish(answer *value.Object, calls []any) string {
	switch answer.Text("status") {
	case "completed":
		if len(calls) > 0 {
			return finishTools
		}
		return finishStop
	case "incomplete":
		reason := answer.Object("incomplete_details").Text("reason")
		if reason == "max_output_tokens" {
			return finishLength
		}
		return finish(reason)
	}
	return ""
}

// responseItems collects the items of an answer.
type responseItems struct {
	texts, refusals []string
	calls           []any
	logProbs        []float64
}

// add adds one item as promptfoo writes it.
func (r *responseItems) add(item, cfg *value.Object) {
	switch item.Text("type") {
	case "message":
		for _, c := range list(item.At("content")) {
			r.content(object(c))
		}
	case "function_call":
		r.texts = append(r.texts, value.Stringify(item))
		r.calls = append(r.calls, toolCall(item.At("call_id"), item.At("name"), item.At("arguments")))
	case "reasoning":
		var thoughts []string
		for _, s := range list(item.At("summary")) {
			thoughts = append(thoughts, object(s).Text("text"))
		}
		if len(thoughts) > 0 && cfg.At("showThinking") != false {
			r.texts = append(r.texts, "Reasoning: "+strings.Join(thoughts, "\n"))
		}
	case "mcp_call":
		r.texts = append(r.texts, mcpCall(item))
	case "mcp_list_tools":
		r.texts = append(r.texts, "MCP Tools from "+item.Text("server_label")+": "+indented(item.At("tools")))
	case "mcp_approval_request":
		r.texts = append(r.texts, "MCP Approval Required for "+item.Text("server_label")+"."+item.Text("name")+": "+value.Text(item.At("arguments")))
	}
}

func (r *responseItems) content(c *value.Object) {
	switch c.Text("type") {
	case "output_text":
		r.texts = append(r.texts, c.Text("text"))
		for _, t := range list(c.At("logprobs")) {
			if p, ok := object(t).At("logprob").(float64); ok {
				r.logProbs = append(r.logProbs, p)
			}
		}
	case "refusal":
		r.refusals = append(r.refusals, c.Text("refusal"))
	}
}

// indented is v as indented JSON.
func indented(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, value.AppendJSON(nil, v), "", "  "); err != nil {
		return value.Stringify(v) // text that is not JSON stays unchanged
	}
	return b.String()
}

// mcpCall describes a tool call that the vendor made itself.
func mcpCall(item *value.Object) string {
	name := item.Text("name")
	if problem := item.At("error"); problem != nil {
		if m := object(problem).Text("message"); m != "" {
			problem = m
		}
		return "MCP Tool Error (" + name + "): " + value.Text(problem)
	}
	return "MCP Tool Result (" + name + "): " + value.Text(item.At("output"))
}
