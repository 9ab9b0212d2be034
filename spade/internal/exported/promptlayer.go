package exported

import (
	"errors"
	"fmt"

	"github.com/proviso-eval/proviso/value"
)

// isPromptLayerPrompt recognises a version of a prompt template from PromptLayer's API, GET
// /prompt-templates, in the current form and in LangChain's.
func isPromptLayerPrompt(o *value.Object) bool {
	return o.Object("prompt_template") != nil
}

func versionOfPromptLayer(o *value.Object) (Version, error) {
	template := o.Object("prompt_template")
	text, ok := "", false
	if parts, isList := template.At("content").([]any); isList {
		text, ok = partsText(parts)
	} else {
		text, ok = PromptText(template)
	}
	if !ok {
		return Version{}, errors.New("the prompt template has neither content nor messages with a text")
	}
	v := Version{Prompt: textOf(o, "prompt_name", "name"), Text: text, Time: TimeOf(o, "created_at")}
	if v.Number, v.Numbered = o.At("version").(float64); v.Numbered {
		v.Name = fmt.Sprintf("version %v", v.Number)
	}
	if note := textOf(o, "commit_message"); note != "" {
		v.Name += " " + note
	}
	return v, nil
}

// isPromptLayerLog recognises a request that PromptLayer logged: input and output as prompt
// blueprints (POST /log-request and the export of requests).
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

// outputOfPromptLayer reads a request. Its score is not a label: 0 is also the score of a
// request without one.
func outputOfPromptLayer(o *value.Object) (out Output, skipped string) {
	out = Output{ID: textOf(o, "id", "request_id"), Time: TimeOf(o, "request_start_time")}
	answer := o.Object("output")
	if parts, ok := answer.At("content").([]any); ok {
		text, _ := partsText(parts)
		out.Value = text
	} else {
		messages, _ := answer.At("messages").([]any)
		out.Value = lastAnswer(messages)
	}
	if out.Value == "" {
		return out, "they have no output"
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
	out.labelIn(o, "", false, "label")
	out.labelIn(o.Object("metadata"), "/metadata", false, "label")
	return out, ""
}
