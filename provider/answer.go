package provider

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// AnswerForm is the response format of a vendor's API.
type AnswerForm int

// The response formats.
const (
	ChatAnswer       AnswerForm = iota // POST /chat/completions of OpenAI
	ResponsesAnswer                    // POST /responses of OpenAI
	CompletionAnswer                   // POST /completions of OpenAI
	AnthropicAnswer                    // POST /v1/messages of Anthropic
)

// ReadAnswer reads an answer to a request that the caller made itself, as the providers do, but
// without the model's thoughts. The cost is set if prices are known for the model at this vendor,
// or at the vendor that the model name begins with.
func ReadAnswer(form AnswerForm, vendor, name string, answer *value.Object) (proviso.Output, error) {
	m := &model{name: name, prices: pricesOf(vendor, name), endpoint: &endpoint{id: vendor}}
	read := [...]func(*model, *value.Object, *value.Object) (proviso.Output, error){chatOutput, responsesOutput, completionOutput, anthropicOutput}[form]
	out, err := read(m, answer, value.ObjectOf("showThinking", false))
	if err != nil {
		return proviso.Output{}, err
	}
	out.Usage.Requests = 1
	out.Cost = m.prices.cost(answer, out.Usage)
	return out, nil
}

// Finish reasons, common to all vendors.
const (
	finishStop     = "stop"
	finishLength   = "length"
	finishTools    = "tool_calls"
	finishFiltered = "content_filter"
)

// finish returns the common name of a vendor's finish reason. An unknown reason
// is returned unchanged.
func finish(reason string) string {
	switch r := strings.ToLower(strings.TrimSpace(reason)); r {
	case "function_call", "tool_use":
		return finishTools
	case "end_turn", "stop_sequence":
		return finishStop
	case "max_tokens", "model_context_window_exceeded":
		return finishLength
	case "refusal":
		return finishFiltered
	default:
		return r
	}
}
