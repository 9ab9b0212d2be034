package exported

import "github.com/proviso-eval/proviso/value"

// isPromptLayerLog recognises a logged request of PromptLayer: what was sent and answered
// as prompt blueprints (POST /log-request and the export of requests).
func isPromptLayerLog(o *value.Object) bool {
	in, out := o.Object("input"), o.Object("output")
	if in == nil || out == nil {
		return false
	}
	return isBlueprint(in) && isBlueprint(out)
}

// isBlueprint recognises a prompt blueprint, of a completion or a chat.
func isBlueprint(o *value.Object) bool {
	kind := o.Text("type")
	return kind == "completion" && o.Has("content") || kind == "chat" && o.Has("messages")
}

// outputOfPromptLayer reads a request. Its score is no label: 0 is also the score of a
// request that nobody scored.
func outputOfPromptLayer(o *value.Object) (list []Output, skipped string) {
	out := Output{ID: textOf(o, "id", "request_id"), Time: timeOf(o, "request_start_time")}
	answer := o.Object("output")
	if parts, ok := answer.At("content").([]any); ok {
		text, _ := partsText(parts)
		out.Value = text
	} else {
		messages, _ := answer.At("messages").([]any)
		out.Value = lastAnswer(messages)
	}
	if out.Value == "" {
		return nil, "they have no output"
	}
	in := o.Object("input")
	if parts, ok := in.At("content").([]any); ok {
		out.Prompt, _ = partsText(parts)
	} else if messages, ok := in.At("messages").([]any); ok {
		out.messages(messages)
	}
	for _, key := range [...]string{"prompt_input_variables", "input_variables"} {
		if vars := o.Object(key); vars != nil && vars.Len() > 0 {
			out.Vars = vars
			break
		}
	}
	var said opinion
	out.labelIn(o, "", false, &said, "label")
	out.labelIn(o.Object("metadata"), "/metadata", false, &said, "label")
	out.said = said
	return []Output{out}, ""
}
