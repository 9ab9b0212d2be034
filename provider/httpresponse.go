package provider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// callAnswer is a response of an HTTP endpoint.
type callAnswer struct {
	status  int
	text    string
	header  *value.Object
	latency time.Duration
}

// output finds the output in a response: the result of transformResponse, or
// else the body, parsed if it is JSON.
func (p *httpCall) output(ctx context.Context, ask proviso.Ask, c *call, a *callAnswer) (proviso.Output, error) {
	data, err := value.ParseReply(ctx, a.text)
	if errors.Is(err, value.ErrTooMany) {
		return proviso.Output{}, proviso.Because(err, proviso.Limit, "%s: %s", p.endpoint.id, err)
	}
	if err != nil && ctx.Err() != nil {
		return proviso.Output{}, fmt.Errorf("%s: %w", p.endpoint.id, err)
	}
	json := data
	if err != nil {
		data, json = a.text, nil
	}
	out := proviso.Output{Value: data}
	if p.after != nil {
		v, err := p.after.call(ctx, json, a.text, responseContext(ask, a, data))
		if err == nil && empty(v) {
			err = proviso.Errorf(proviso.Undecided, "transformResponse finds no output")
		}
		if err != nil {
			err = proviso.Errorf(proviso.Undecided, "%s: %w, in the response: %s", p.endpoint.id, err, excerpt([]byte(a.text)))
			return proviso.Output{}, err
		}
		out = outputFrom(v)
	}
	latency := a.latency
	out.Latency = &latency
	if p.estimate > 0 && out.Usage == (proviso.Usage{}) {
		out.Usage.Prompt, out.Usage.Completion = p.tokens(c.prompt), p.tokens(a.text)
		out.Usage.Total = out.Usage.Prompt + out.Usage.Completion
	}
	out.Usage.Requests = max(out.Usage.Requests, 1)
	metadata := out.Metadata.Clone()
	if !metadata.Has("http") {
		metadata.Set("http", value.ObjectOf("status", float64(a.status), "statusText", http.StatusText(a.status)))
	}
	out.Metadata = metadata
	return out, nil
}

func empty(v any) bool {
	switch v.(type) {
	case nil, value.Undefined, *value.Opaque:
		return true
	}
	return false
}

// responseContext is the third argument of transformResponse.
func responseContext(ask proviso.Ask, a *callAnswer, data any) *value.Object {
	return overlaid(value.ObjectOf("response", value.ObjectOf(
		"data", data, "status", float64(a.status), "statusText", http.StatusText(a.status), "headers", a.header,
		"cached", false, "latencyMs", float64(a.latency.Milliseconds()))), contextOf(ask))
}

// outputFrom reads the result of transformResponse: a response with an output
// or an error, or the output itself.
func outputFrom(v any) proviso.Output {
	o, ok := v.(*value.Object)
	if !ok {
		return proviso.Output{Value: v}
	}
	_, failed := o.At("error").(string)
	if !o.Has("output") && !failed {
		return proviso.Output{Value: v}
	}
	return outputOf(o)
}

// tokens estimates the tokens of a text from its number of words.
func (p *httpCall) tokens(text string) int64 {
	return int64(math.Ceil(float64(len(strings.Fields(text))) * p.estimate))
}
