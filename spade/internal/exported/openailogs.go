package exported

import "github.com/proviso-eval/proviso/value"

// isOpenAILog recognises a chat completion of OpenAI: the messages that were sent with the
// answer behind them, as files for fine-tuning have them; a request with its response; a
// stored completion; or a line of a batch.
func isOpenAILog(o *value.Object) bool {
	request, response := halvesOfOpenAI(o)
	if response.Has("choices") {
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

func outputOfOpenAI(o *value.Object) (list []Output, skipped string) {
	request, response := halvesOfOpenAI(o)
	out := Output{ID: textOf(o, "custom_id", "id", "request_id"), Time: timeOf(o, "created_at", "timestamp", "created")}
	if out.ID == "" {
		out.ID = textOf(response, "id")
	}
	if out.Time.IsZero() {
		out.Time = timeOf(response, "created")
	}
	messages, _ := request.At("messages").([]any)
	if response.Has("choices") {
		out.Value = answered(response)
		if _, ok := out.Value.(string); !ok {
			return nil, "they have no answer in words"
		}
	} else {
		out.Value = lastAnswer(messages)
		messages = messages[:max(0, len(messages)-1)]
	}
	if out.Value == "" {
		return nil, "they have no answer in words"
	}
	out.messages(messages)
	var said opinion
	keys := []string{"label", "human", "verdict", "feedback", "user_feedback", "thumbs"}
	out.labelIn(o, "", true, &said, keys...)
	out.labelIn(o.Object("metadata"), "/metadata", true, &said, keys...)
	if response != o {
		at := ""
		for inner := o; inner != response; { // as halvesOfOpenAI went
			key := "response"
			if inner.Object(key) == nil || at != "" {
				key = "body"
			}
			inner, at = inner.Object(key), at+"/"+key
		}
		out.labelIn(response.Object("metadata"), at+"/metadata", true, &said, keys...)
	}
	out.said = said
	return []Output{out}, ""
}
