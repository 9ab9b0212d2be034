package otlp

import (
	"context"
	"fmt"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Refresh adds what other receivers have got of a trace, see [StoreOptions.Fetch]. Without
// that it does nothing.
func (s *Store) Refresh(ctx context.Context, id string) error {
	_, err := s.fetch(ctx, TraceID(id))
	return err
}

// fetch is [Store.Refresh] for an id in its normal form. It returns how long it took.
func (s *Store) fetch(ctx context.Context, id string) (took time.Duration, err error) {
	if s.o.Fetch == nil || s.fromFile(id) {
		return 0, nil
	}
	s.mu.Lock()
	after := s.make(id).fetched
	s.mu.Unlock()
	began := time.Now()
	next, missed, err := s.o.Fetch(ctx, id, after)
	if err != nil {
		return 0, fmt.Errorf("read the spans of the trace %s: %w", shortened(id), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.traces[id]; t != nil { // or it had to make room, and is fetched again
		t.fetched, t.missed = next, missed
	}
	return time.Since(began), nil
}

// EncodeSpans returns spans of one trace as JSON, for [DecodeSpans].
func EncodeSpans(spans []proviso.Span) []byte {
	return value.AppendJSON(nil, keptTrace(spans, nil))
}

// DecodeSpans is the inverse of [EncodeSpans]. It returns records of a trace.
func DecodeSpans(trace string, data []byte) ([]Record, error) {
	spans, err := keptSpans(objectOf(data))
	if err != nil {
		return nil, proviso.Errorf(proviso.Internal, "the stored spans of the trace %s are damaged", shortened(trace))
	}
	records := make([]Record, len(spans))
	for i := range spans {
		records[i] = Record{trace, spans[i], len(data)/len(spans) + overhead}
	}
	return records, nil
}
