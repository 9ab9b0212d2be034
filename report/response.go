package report

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// response appends the provider's answer.
func (e *encoder) response(o *proviso.Output) {
	e.b = append(e.b, `,"response":{`...)
	start := len(e.b)
	if _, none := o.Value.(value.Undefined); !none {
		e.b = append(e.b, `,"output":`...)
		e.b = value.AppendJSON(e.b, o.Value)
	}
	if o.Error != "" {
		e.text(`,"error":`, o.Error)
	}
	e.bill(o)
	if o.Latency != nil {
		e.b = append(e.b, `,"latencyMs":`...)
		e.milliseconds(*o.Latency)
	}
	if o.Cached {
		e.b = append(e.b, `,"cached":true`...)
	}
	if o.FinishReason != "" {
		e.text(`,"finishReason":`, o.FinishReason)
	}
	if o.Refused {
		e.b = append(e.b, `,"isRefusal":true`...)
	}
	e.answerParts(o)
	// Each member was written after a comma; remove the first comma.
	e.b = append(e.b[:start], e.b[start+1:]...)
	e.b = append(e.b, '}')
}

// bill appends the cost of an answer, and the incurred cost if it came from a cache.
func (e *encoder) bill(o *proviso.Output) {
	b := billOf(o)
	e.b = append(e.b, `,"tokenUsage":`...)
	e.usage(b.usage, b.spent(), o.Cached)
	if b.known {
		e.b = append(e.b, `,"cost":`...)
		e.number(b.cost)
		if o.Cached {
			e.b = append(e.b, `,"incurredCost":`...)
			e.number(b.incurred)
		}
	}
}

// usage appends tokens, with the incurred ones inside if they differ.
func (e *encoder) usage(u, incurred proviso.Usage, cached bool) {
	e.b = appendUsage(e.b, u)
	if cached {
		e.b = append(e.b[:len(e.b)-1], `,"incurredTokenUsage":`...)
		e.b = append(appendUsage(e.b, incurred), '}')
	}
}

// answerParts appends the structured parts of an answer, which most answers lack.
func (e *encoder) answerParts(o *proviso.Output) {
	if len(o.LogProbs) > 0 {
		e.b = append(e.b, `,"logProbs":[`...)
		for i, p := range o.LogProbs {
			if i > 0 {
				e.b = append(e.b, ',')
			}
			e.number(p)
		}
		e.b = append(e.b, ']')
	}
	if len(o.ToolCalls) > 0 {
		e.b = append(e.b, `,"toolCalls":`...)
		e.b = value.AppendJSON(e.b, o.ToolCalls)
	}
	if o.Guardrails != nil {
		e.b = append(e.b, `,"guardrails":`...)
		e.b = value.AppendJSON(e.b, o.Guardrails)
	}
	if o.Metadata.Len() > 0 {
		e.b = append(e.b, `,"metadata":`...)
		e.b = value.AppendJSON(e.b, o.Metadata)
	}
	if o.TraceID != "" {
		e.text(`,"traceId":`, o.TraceID)
	}
	e.appendSpans(o.Spans)
	for key, v := range o.Raw.All() {
		if _, undefined := v.(value.Undefined); undefined || isResponseKey(key) {
			continue
		}
		e.key(false, key)
		e.b = value.AppendJSON(e.b, v)
	}
}

// isResponseKey reports whether a member of a response has its own field in
// [proviso.Output], and so must not be written twice.
func isResponseKey(key string) bool {
	switch key {
	case "output", "error", "tokenUsage", "cost", "incurredCost", "latencyMs", "cached", "finishReason", "isRefusal",
		"logProbs", "toolCalls", "guardrails", "metadata", "traceId", "spans":
		return true
	}
	return false
}

// appendUsage appends tokens under promptfoo's names.
func appendUsage(dst []byte, u proviso.Usage) []byte {
	e := encoder{b: dst}
	e.b = append(e.b, `{"total":`...)
	e.int(int(u.Total))
	e.b = append(e.b, `,"prompt":`...)
	e.int(int(u.Prompt))
	e.b = append(e.b, `,"completion":`...)
	e.int(int(u.Completion))
	e.b = append(e.b, `,"cached":`...)
	e.int(int(u.Cached))
	e.b = append(e.b, `,"numRequests":`...)
	e.int(int(u.Requests))
	return append(e.b, '}')
}
