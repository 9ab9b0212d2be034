package store

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
)

// Traces keep the spans that servers received for a while, so that a run or an evaluation
// reads them wherever it goes on. A trace is one of a key: other keys do not see it, and their
// traces may have the same id. Unlike [Shared], each is of a project, whose traces together
// have a bounded size.
type Traces interface {
	// AddSpans stores parts of traces of a key, all or none, but for what has no room by l:
	// refused says for each part why it was not stored, "" if it was. Of a trace that lacks
	// spans for that reason, [Trace.Refused] says how many, if anything is kept of it.
	// Traces that nobody waits for make room, the oldest first.
	AddSpans(ctx context.Context, key string, parts []SpanPart, l TraceLimits) (refused []string, err error)
	// AwaitTrace says that somebody waits for a trace, for a while: it makes no room for
	// others. There need be no span of it yet.
	AwaitTrace(ctx context.Context, key, trace string, life time.Duration) error
	// Trace returns what was stored of a trace after a position, in the order in which it was
	// stored; the zero value if there is nothing.
	Trace(ctx context.Context, key, trace string, after int64) (Trace, error)
	// DropTrace removes a trace. Where there is none, it does nothing.
	DropTrace(ctx context.Context, key, trace string) error
}

// SpanPart is some spans of a trace, as they were received together.
type SpanPart struct {
	Trace   string // id
	Spans   int    // how many
	Content []byte // is sealed as the texts of events are
}

// TraceLimits bound the traces of a project. A limit of 0 is none.
type TraceLimits struct {
	Bytes    int64         // of all traces, as they are stored
	KeyBytes int64         // of those of one key
	OneTrace int           // spans of one trace
	Life     time.Duration // how long a trace is kept after its last span; it is needed
}

// Trace is a part of a trace.
type Trace struct {
	Parts   [][]byte
	Next    int64 // the position after the parts
	More    bool  // there are further parts after Next
	Refused int   // spans of the trace for which there was no room
	Awaited bool  // somebody waits for the trace
}

// MaxTraceID is how many bytes the id of a trace may have.
const MaxTraceID = 64

// TraceOverhead is what a stored part counts beside its content, in bytes.
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
