package store

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
)

// Traces keeps received spans for a while, so that a run or an evaluation can read them in any
// process. A trace belongs to an API key: other keys do not see it, and their traces may have
// the same id. Unlike [Shared] items, traces belong to a project, which bounds their total
// size.
type Traces interface {
	// AddSpans stores parts of a key's traces, all or none, except those beyond the limits l:
	// refused holds for each part why it was not stored, "" if it was. If anything of such a
	// trace is kept, [Trace.Refused] counts its refused spans. The oldest traces that nobody
	// waits for are removed to make space.
	AddSpans(ctx context.Context, key string, parts []SpanPart, l TraceLimits) (refused []string, err error)
	// AwaitTrace records for a while that somebody waits for a trace, so that it is not removed
	// to make space. No span of it needs to exist yet.
	AwaitTrace(ctx context.Context, key, trace string, life time.Duration) error
	// Trace returns the stored parts of a trace after a position, in the order in which they
	// were stored; the zero value if there are none.
	Trace(ctx context.Context, key, trace string, after int64) (Trace, error)
	// DropTrace removes a trace. If there is none, it does nothing.
	DropTrace(ctx context.Context, key, trace string) error
}

// SpanPart is some spans of a trace, as they were received together.
type SpanPart struct {
	Trace   string // trace id
	Spans   int    // number of spans
	Content []byte // sealed like the texts of events
}

// TraceLimits bounds the traces of a project. 0 means no limit.
type TraceLimits struct {
	Bytes    int64         // stored size of all traces
	KeyBytes int64         // stored size of the traces of one key
	OneTrace int           // spans per trace
	Life     time.Duration // how long a trace is kept after its last span; required
}

// Trace is a part of a trace.
type Trace struct {
	Parts   [][]byte
	Next    int64 // position after the parts
	More    bool  // there are more parts after Next
	Refused int   // spans of the trace that were refused for lack of space
	Awaited bool  // somebody waits for the trace
}

// MaxTraceID is the maximum length of a trace id, in bytes.
const MaxTraceID = 64

// TraceOverhead is the size that counts for a stored part in addition to its content, in bytes.
const TraceOverhead = 256

// Check returns why a part is invalid, or nil.
func (p *SpanPart) Check() error {
	switch {
	case p.Trace == "" || len(p.Trace) > MaxTraceID:
		return proviso.Errorf(proviso.Invalid, "the id of a trace has 1 to %d bytes, not %d", MaxTraceID, len(p.Trace))
	case p.Spans <= 0:
		return proviso.Errorf(proviso.Invalid, "a part of the trace %s has no spans", p.Trace)
	case len(p.Content) > MaxContent:
		return proviso.Errorf(proviso.Limit, "a part of the trace %s has %d bytes, more than %d", p.Trace, len(p.Content), MaxContent)
	}
	return nil
}
