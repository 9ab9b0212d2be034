package provider

import (
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// outputOf reads a response in promptfoo's form: output, error, cost,
// latencyMs, tokenUsage, finishReason, logProbs, guardrails, isRefusal,
// metadata. Unknown members stay in Raw.
func outputOf(o *value.Object) proviso.Output {
	out := proviso.Output{Value: value.Undefined{}}
	raw := value.NewObject(0)
	for key, v := range o.All() {
		switch key {
		case byID, byDescription, byPrompt, byVars:
		default:
			if !setField(&out, key, v) {
				raw.Set(key, v)
			}
		}
	}
	if raw.Len() > 0 {
		out.Raw = raw
	}
	if calls, ok := out.Value.(*value.Object); ok {
		out.ToolCalls, _ = calls.At("tool_calls").([]any)
	}
	return out
}

// setField sets one field of a response. It returns false if the field is unknown or has the wrong
// type.
func setField(out *proviso.Output, key string, v any) bool {
	ok := true
	switch key {
	case "output":
		out.Value = v
	case "error":
		out.Error, ok = v.(string)
	case "cost":
		var f float64
		if f, ok = v.(float64); ok {
			out.Cost = &f
		}
	case "latencyMs":
		var f float64
		if f, ok = v.(float64); ok {
			d := time.Duration(f * float64(time.Millisecond))
			out.Latency = &d
		}
	case "cached":
		out.Cached, ok = v.(bool)
	case "finishReason":
		out.FinishReason, ok = v.(string)
	case "isRefusal":
		out.Refused, ok = v.(bool)
	case "guardrails":
		out.Guardrails, ok = v.(*value.Object)
	case "metadata":
		out.Metadata, ok = v.(*value.Object)
	case "tool_calls", "toolCalls":
		out.ToolCalls, ok = v.([]any)
	case "logProbs":
		out.LogProbs, ok = numbers(v)
	case "tokenUsage":
		ok = usage(&out.Usage, v)
	default:
		ok = false
	}
	return ok
}

func numbers(v any) ([]float64, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]float64, len(list))
	for i, e := range list {
		if out[i], ok = e.(float64); !ok {
			return nil, false
		}
	}
	return out, true
}

func usage(u *proviso.Usage, v any) bool {
	o, ok := v.(*value.Object)
	if !ok {
		return false
	}
	*u = proviso.Usage{
		Prompt: count(o, "prompt"), Completion: count(o, "completion"), Cached: count(o, "cached"),
		Total: count(o, "total"), Requests: count(o, "numRequests"),
	}
	return true
}
