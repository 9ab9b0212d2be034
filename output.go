package proviso

import (
	"time"

	"github.com/proviso-eval/proviso/value"
)

// Output is one answer of a provider. A nil pointer or interface means that the
// provider did not report the value.
type Output struct {
	Value         any // text, or a structure; [value.Undefined] if there is no answer
	Untransformed any // Value before the case's own transform; nil if it has none
	Error         string
	Usage         Usage
	Cost          *float64 // US dollars
	Latency       *time.Duration
	Cached        bool
	Replayed      bool // the answer and its latency come from a recording
	FinishReason  string
	LogProbs      []float64
	ToolCalls     []any
	Refused       bool          // the provider itself reports a refusal
	Guardrails    *value.Object // flagged, flaggedInput, flaggedOutput, reason
	Metadata      *value.Object
	TraceID       string        // hexadecimal, as in W3C trace context
	Spans         []Span        // spans of the trace, once an assertion has requested them; must not be changed
	Raw           *value.Object // further response fields, for reports and scripts
}

// Text returns the output as text assertions see it: text unchanged, an absent output as
// "", and anything else as compact JSON.
func (o *Output) Text() string {
	switch v := o.Value.(type) {
	case string:
		return v
	case value.Undefined:
		return ""
	}
	return value.Stringify(o.Value)
}

// Usage counts tokens. Cached counts the Prompt tokens that the provider read from its
// own cache.
type Usage struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Cached     int64 `json:"cached"`
	Total      int64 `json:"total"`
	Requests   int64 `json:"requests"`
}

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	u.Prompt += v.Prompt
	u.Completion += v.Completion
	u.Cached += v.Cached
	u.Total += v.Total
	u.Requests += v.Requests
}

// Span is one finished operation of a trace (OpenTelemetry).
type Span struct {
	ID, ParentID  string
	Name          string
	Start, End    time.Time // zero if the trace does not have it
	Attributes    *value.Object
	StatusCode    int // as in OpenTelemetry: 0 unset, 1 ok, 2 error
	StatusMessage string
}
