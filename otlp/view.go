package otlp

import (
	"context"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// ViewOptions configure how one run sees a shared store.
type ViewOptions struct {
	// Wait is how long to wait for spans once a row asks for them; 0 means the value of the store,
	// a negative value no wait.
	Wait time.Duration
	// Redact are names, or parts of names, of attributes whose values are hidden from the run.
	Redact []string
	// Recorded has traces that take precedence over those of the store; nil has none.
	Recorded *Store
}

// View is a store as one run sees it. It is safe for concurrent use.
type View struct {
	store *Store
	o     ViewOptions
}

var _ proviso.Spans = (*View)(nil)

// View returns the store as one run sees it.
func (s *Store) View(o ViewOptions) *View {
	if o.Wait == 0 {
		o.Wait = s.o.Wait
	}
	return &View{s, o}
}

// Begin is [Store.Begin].
func (v *View) Begin() (id string, tc proviso.TraceContext, ok bool) { return v.store.Begin() }

// End is [Store.End].
func (v *View) End(id string) { v.store.End(id) }

// Spans is [Store.Spans] with the wait time and the redaction of the view.
func (v *View) Spans(ctx context.Context, id string) ([]proviso.Span, error) {
	id = TraceID(id)
	spans, known := v.o.Recorded.recording(id)
	if !known {
		var err error
		if spans, err = v.store.await(ctx, id, v.o.Wait); err != nil {
			return nil, err
		}
	}
	if len(v.o.Redact) == 0 {
		return spans, nil
	}
	spans = slices.Clone(spans)
	r := redactor{names: v.o.Redact}
	for i := range spans {
		spans[i].Attributes = r.attributes(spans[i].Attributes)
	}
	return spans, nil
}

// attributes returns a copy of attributes without hidden values, at every depth.
func (r *redactor) attributes(o *value.Object) *value.Object {
	out := o.Clone()
	for key, v := range o.All() {
		if r.hides(key) {
			out.Set(key, proviso.Redaction)
		} else {
			out.Set(key, r.within(v))
		}
	}
	return out
}

// within returns a value without hidden values inside.
func (r *redactor) within(v any) any {
	switch v := v.(type) {
	case *value.Object:
		return r.attributes(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = r.within(e)
		}
		return list
	}
	return v
}

// recording returns the spans of a recorded trace. A nil store has none.
func (s *Store) recording(id string) (spans []proviso.Span, known bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	spans, known = s.recorded[id]
	return spans, known
}

// Hold protects a trace from eviction until [Store.Release] has been called as often as Hold.
func (s *Store) Hold(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.make(TraceID(id)).holds++
}

// Release ends one [Store.Hold]. The trace stays for later requests while there is room.
func (s *Store) Release(id string) {
	id = TraceID(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.traces[id]
	if !ok || t.holds == 0 {
		return
	}
	if t.holds--; t.holds > 0 || t.expected {
		return
	}
	if t.asked = (time.Time{}); len(t.spans) == 0 {
		s.forget(id)
		return
	}
	s.foreign = slices.DeleteFunc(s.foreign, func(other string) bool { return other == id }) // so that it is listed once
	s.unexpect(id)
}

// Peek returns the spans of a trace that have arrived, without waiting. wanted reports whether a
// row or an evaluation uses the trace.
func (s *Store) Peek(id string) (spans []proviso.Span, wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.traces[TraceID(id)]
	if !ok {
		return nil, false
	}
	return slices.Clone(t.spans), t.expected || t.holds > 0
}

// Held is the amount of data in a store.
type Held struct {
	Traces, Spans int
	Bytes         int64 // approximate
}

// Held returns the amount of data in the store, without recorded traces.
func (s *Store) Held() Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held()
}

// held is [Store.Held]; s.mu is held.
func (s *Store) held() Held { return Held{len(s.traces), s.spans, s.bytes} }

// Shed drops the oldest unused trace. It returns false if there is none.
func (s *Store) Shed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evict("")
}

// Expire drops unused traces that have no new spans since a time.
func (s *Store) Expire(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, t := range s.traces {
		if s.unwanted(id) && t.last.Before(since) {
			s.forget(id)
		}
	}
	s.foreign = slices.DeleteFunc(s.foreign, func(id string) bool { return !s.unwanted(id) })
}
