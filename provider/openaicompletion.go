package provider

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

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
		Value: text, Usage: openAIUsage(answer), FinishReason: finish(str(choice.At("finish_reason"))),
		LogProbs: logProbs(object(choice.At("logprobs"))), Raw: keep(answer, "id", "model", "system_fingerprint"),
	}, nil
}
