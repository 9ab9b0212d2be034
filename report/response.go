package report

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// response appends the provider's answer.
func (e *encoder) response(o *proviso.Output) {
	e.raw(`,"response":{`)
	start := len(e.b)
	if _, none := o.Value.(value.Undefined); !none {
		e.value(`,"output":`, o.Value)
	}
	e.filled(`,"error":`, o.Error)
	e.bill(o)
	if o.Latency != nil {
		e.milliseconds(`,"latencyMs":`, *o.Latency)
	}
	e.when(o.Cached, `,"cached":true`)
	e.filled(`,"finishReason":`, o.FinishReason)
	e.when(o.Refused, `,"isRefusal":true`)
	e.answerParts(o)
	// Each member was written after a comma; remove the first comma.
	e.b = append(e.b[:start], e.b[start+1:]...)
	e.b = append(e.b, '}')
}

// bill appends the cost of an answer, and the incurred cost if the answer came from a
// cache.
func (e *encoder) bill(o *proviso.Output) {
	b := billOf(o)
	e.raw(`,"tokenUsage":`)
	e.usage(b.usage, b.spent(), o.Cached)
	if b.known {
		e.number(`,"cost":`, b.cost)
		if o.Cached {
			e.number(`,"incurredCost":`, b.incurred)
		}
	}
}

// usage appends tokens, with the incurred tokens inside if they differ.
func (e *encoder) usage(u, incurred proviso.Usage, cached bool) {
	e.b = appendUsage(e.b, u)
	if cached {
		e.b = append(e.b[:len(e.b)-1], `,"incurredTokenUsage":`...)
		e.b = append(appendUsage(e.b, incurred), '}')
	}
}

// answerParts appends the structured parts of an answer. Most answers have none.
func (e *encoder) answerParts(o *proviso.Output) {
	e.list(`,"logProbs":`, len(o.LogProbs), func(i int) { e.number("", o.LogProbs[i]) })
	if len(o.ToolCalls) > 0 {
		e.value(`,"toolCalls":`, o.ToolCalls)
	}
	if o.Guardrails != nil {
		e.value(`,"guardrails":`, o.Guardrails)
	}
	if o.Metadata.Len() > 0 {
		e.value(`,"metadata":`, o.Metadata)
	}
	e.filled(`,"traceId":`, o.TraceID)
	e.appendSpans(o.Spans)
	for key, v := range o.Raw.All() {
		if _, undefined := v.(value.Undefined); undefined || isResponseKey(key) {
			continue
		}
		e.key(false, key)
		e.value("", v)
	}
}

// isResponseKey reports whether a response member has its own field in [proviso.Output],
// and so must not be written twice.
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
	e.int(`{"total":`, int(u.Total))
	e.int(`,"prompt":`, int(u.Prompt))
	e.int(`,"completion":`, int(u.Completion))
	e.int(`,"cached":`, int(u.Cached))
	e.int(`,"numRequests":`, int(u.Requests))
	return append(e.b, '}')
}
