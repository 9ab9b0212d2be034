package exported

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// isOpenAILog recognises an OpenAI chat completion: the sent messages followed by the answer,
// as in fine-tuning files; a request with its response; a stored completion; a response of the
// Responses API; or a line of a batch.
func isOpenAILog(o *value.Object) bool {
	request, response := halvesOfOpenAI(o)
	if response.Has("choices") || isResponse(response) || o.Has("custom_id") && (o.Object("error") != nil || o.Has("response")) {
		return true
	}
	messages, _ := request.At("messages").([]any)
	return lastAnswer(messages) != ""
}

// halvesOfOpenAI finds the bodies of the request and the response. Either may be the entry
// itself.
func halvesOfOpenAI(o *value.Object) (request, response *value.Object) {
	request, response = o, o
	for _, key := range [...]string{"request", "body"} {
		if inner := request.Object(key); inner != nil {
			request = inner
		}
	}
	for _, key := range [...]string{"response", "body"} {
		if inner := response.Object(key); inner != nil {
			response = inner
		}
	}
	return request, response
}

// isResponse recognises a response of the Responses API.
func isResponse(o *value.Object) bool {
	_, list := o.At("output").([]any)
	return list && (o.Text("object") == "response" || textOfResponse(o) != "")
}

// textOfResponse returns the text of a response of the Responses API: the texts of its
// messages, without reasoning and tool calls.
func textOfResponse(o *value.Object) string {
	var texts []string
	items, _ := o.At("output").([]any)
	for _, item := range items {
		message, _ := item.(*value.Object)
		if message == nil || message.Text("type") != "message" {
			continue
		}
		parts, _ := message.At("content").([]any)
		for _, part := range parts {
			if p, ok := part.(*value.Object); ok && p.Text("type") == "output_text" {
				texts = append(texts, p.Text("text"))
			}
		}
	}
	return strings.Join(texts, "\n")
}

// sentToResponses returns the messages that were sent to the Responses API: instructions, and
// the input, which may be a string.
func sentToResponses(request, response *value.Object) (list []any) {
	for _, o := range [...]*value.Object{request, response} {
		if text := o.Text("instructions"); text != "" {
			list = append(list, value.ObjectOf("role", "system", "content", text))
			break
		}
	}
	switch input := request.At("input").(type) {
	case string:
		list = append(list, value.ObjectOf("role", "user", "content", input))
	case []any:
		list = append(list, input...)
	}
	return list
}

func outputOfOpenAI(o *value.Object) (out Output, skipped string) {
	request, response := halvesOfOpenAI(o)
	out = Output{ID: textOf(o, "custom_id", "id", "request_id"), Time: TimeOf(o, "created_at", "timestamp", "created")}
	if out.ID == "" {
		out.ID = textOf(response, "id")
	}
	if out.Time.IsZero() {
		out.Time = TimeOf(response, "created")
	}
	messages, _ := request.At("messages").([]any)
	switch {
	case o.Object("error") != nil || response.Object("error") != nil:
		return out, "they ended with an error"
	case isResponse(response):
		out.Value, messages = textOfResponse(response), sentToResponses(request, response)
	case response.Has("choices"):
		out.Value = answered(response)
		if _, ok := out.Value.(string); !ok {
			return out, "they have no answer in words"
		}
	default:
		out.Value = lastAnswer(messages)
		messages = messages[:max(0, len(messages)-1)]
	}
	if out.Value == "" {
		return out, "they have no answer in words"
	}
	out.messages(messages)
	keys := []string{"label", "human", "verdict", "feedback", "user_feedback", "thumbs"}
	out.labelIn(o, "", true, keys...)
	out.labelIn(o.Object("metadata"), "/metadata", true, keys...)
	if response != o {
		at := ""
		for inner := o; inner != response; { // the path that halvesOfOpenAI took
			key := "response"
			if inner.Object(key) == nil || at != "" {
				key = "body"
			}
			inner, at = inner.Object(key), at+"/"+key
		}
		out.labelIn(response.Object("metadata"), at+"/metadata", true, keys...)
	}
	return out, ""
}
