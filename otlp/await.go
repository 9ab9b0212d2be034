package otlp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Spans returns the spans of a trace. It waits until the trace looks complete: the root has arrived
// and has ended, every span's parent has arrived, and no span has arrived for a moment. It waits at
// most as long as the options allow, counted from the first call for the trace. The error explains
// why there are no spans.
func (s *Store) Spans(ctx context.Context, id string) ([]proviso.Span, error) {
	return s.await(ctx, TraceID(id), s.o.Wait)
}

// await returns the spans of a trace, and waits at most that long, not counting the time of
// fetching.
func (s *Store) await(ctx context.Context, id string, most time.Duration) ([]proviso.Span, error) {
	for {
		took, err := s.fetch(ctx, id)
		if err != nil {
			return nil, err
		}
		if most > 0 {
			most += took // a slow fetch must not make a trace look complete
		}
		spans, wait, changed, err := s.look(id, most)
		if wait <= 0 || err != nil {
			return spans, err
		}
		if s.o.Fetch != nil {
			wait = min(wait, FetchEvery)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		case <-time.After(wait):
		}
	}
}

// look returns the spans of a trace, or how long to wait before the next check.
func (s *Store) look(id string, most time.Duration) (spans []proviso.Span, wait time.Duration, changed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if spans, ok := s.recorded[id]; ok {
		return spans, 0, nil, nil
	}
	t := s.traces[id]
	if s.endpoint == "" && (t == nil || len(t.spans) == 0) {
		return nil, 0, nil, s.silent(id)
	}
	if t == nil {
		t = s.make(id)
	}
	now := time.Now()
	t.expected = t.expected || t.holds == 0
	if t.asked.IsZero() {
		t.asked = now
	}
	if n := max(t.refused, t.missed); n > 0 {
		return nil, 0, nil, proviso.Errorf(proviso.Limit, "the trace %s is not complete: there was no room for %d of its spans", id, n)
	}
	left := t.asked.Add(most).Sub(now)
	quiet := t.last.Add(s.o.Quiet).Sub(now)
	switch {
	case left > 0 && len(t.spans) > 0 && quiet <= 0 && t.complete():
	case left > 0 && len(t.spans) > 0 && quiet > 0:
		return nil, min(left, quiet), t.changed, nil
	case left > 0:
		return nil, left, t.changed, nil
	case len(t.spans) == 0:
		return nil, 0, nil, proviso.Errorf(proviso.Timeout,
			"no span of the trace %s came within %v: the agent has to continue the traceparent that it is given, and to export its spans to %s%s", id, max(most, 0), s.endpoint, s.strangers())
	}
	return slices.Clone(t.spans), 0, nil, nil // take may change a span
}

// strangers describes spans that belong to no row: an agent that starts its own trace sends such
// spans. s.mu is held.
func (s *Store) strangers() string {
	n := 0
	for id := range s.traces {
		if s.unwanted(id) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (traces that belong to no row came: %d)", n)
}

// silent returns why there are no spans if there is no receiver; s.mu is held.
func (s *Store) silent(id string) error {
	switch {
	case s.broken != nil:
		return proviso.Errorf(proviso.Unavailable, "no trace data: %w", s.broken)
	case len(s.names) > 0:
		return proviso.Errorf(proviso.NotFound, "the trace %q is not in %s", shortened(id), strings.Join(s.names, ", "))
	}
	return proviso.Errorf(proviso.Unavailable, "no trace data: nobody listens for spans")
}

// complete reports whether nothing seems to be missing: a root has arrived and
// has ended, and every other span's parent has arrived. Spans whose parents
// form a cycle are below no root and are ignored.
func (t *trace) complete() bool {
	root := false
	for i := range t.spans {
		span := &t.spans[i]
		if span.ParentID == "" || span.ParentID == t.parent {
			root = root || !span.End.IsZero()
			continue
		}
		if _, ok := t.places[span.ParentID]; !ok {
			return false
		}
	}
	return root
}

// Refresh adds spans of a trace that other receivers have received; see [StoreOptions.Fetch].
// Without Fetch it does nothing.
func (s *Store) Refresh(ctx context.Context, id string) error {
	_, err := s.fetch(ctx, TraceID(id))
	return err
}

// fetch is [Store.Refresh] for a normalized id. It returns how long the call took.
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
	if t := s.traces[id]; t != nil { // otherwise the trace was evicted, and is fetched again
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
