package otlp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
)

// Limits and default times of a [Store].
const (
	MaxSpans  = 100_000   // spans of all traces
	MaxBytes  = 256 << 20 // their approximate size in bytes
	MaxTraces = 10_000

	DefaultWait  = 3 * time.Second
	DefaultQuiet = 100 * time.Millisecond
)

// StoreOptions configure a store. The zero value works.
type StoreOptions struct {
	// Wait is how long to wait for spans once a row asks for them; 0 is
	// DefaultWait, negative is no wait.
	Wait time.Duration
	// Quiet is how long no span of a trace that looks complete may have arrived;
	// 0 is DefaultQuiet.
	Quiet time.Duration

	MaxSpans  int   // 0 is the constant of the same name
	MaxBytes  int64 // as MaxSpans
	MaxTraces int   // as MaxSpans
	MaxOfOne  int   // spans of one trace; 0 is MaxSpans

	// Room returns why there is no room for another span of that many bytes
	// beside what the store holds, or "". If it is nil, only the limits above
	// apply. The store is locked during the call.
	Room func(held Held, size int) string

	// Fetch adds, with [Store.Merge], what other receivers have got of a trace after a position,
	// of which the first is 0. It returns the next one, and for how many spans of the trace they
	// had no room. It is called for each trace that somebody waits for, at once and then
	// every [FetchEvery]. If it is nil, the store has all spans itself.
	Fetch func(ctx context.Context, trace string, after int64) (next int64, refused int, err error)
	// Begun is called for each trace that a row begins, and Ended after the row is decided.
	// They may be nil.
	Begun, Ended func(trace string)
}

// FetchEvery is how often a store asks what other receivers have got of a trace.
const FetchEvery = 100 * time.Millisecond

// Store holds spans until their rows are decided. It is safe for concurrent
// use. Spans of traces that no row has announced are kept while there is room,
// because a provider may report the id of its trace only with its answer.
type Store struct {
	o StoreOptions

	mu       sync.Mutex
	traces   map[string]*trace
	foreign  []string // traces that no row announced, oldest first
	spans    int
	bytes    int64
	recorded map[string][]proviso.Span
	names    []string // files that were loaded
	endpoint string   // address for spans, "" if there is no receiver
	broken   error    // why there is no receiver
}

// trace holds the spans of one trace.
type trace struct {
	parent   string // span id that the provider was given, "" if none was
	expected bool   // a row wants it
	holds    int    // number of holds
	spans    []proviso.Span
	places   map[string]int // of spans, by id
	bytes    int64
	refused  int           // spans for which there was no room
	fetched  int64         // position of what other receivers have got
	missed   int           // spans for which other receivers had no room
	changed  chan struct{} // closed when a span arrives
	last     time.Time     // when the last span arrived
	asked    time.Time     // when the row first asked
}

var _ proviso.Spans = (*Store)(nil)

// NewStore returns an empty store.
func NewStore(o StoreOptions) *Store {
	o.Wait = cmp.Or(o.Wait, DefaultWait)
	o.Quiet = cmp.Or(max(o.Quiet, 0), DefaultQuiet)
	o.MaxSpans = cmp.Or(max(o.MaxSpans, 0), MaxSpans)
	o.MaxBytes = cmp.Or(max(o.MaxBytes, 0), MaxBytes)
	o.MaxTraces = cmp.Or(max(o.MaxTraces, 0), MaxTraces)
	o.MaxOfOne = cmp.Or(max(o.MaxOfOne, 0), o.MaxSpans)
	return &Store{o: o, traces: map[string]*trace{}, recorded: map[string][]proviso.Span{}}
}

// Listens sets the address for spans, or the error why there is none.
func (s *Store) Listens(endpoint string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint, s.broken = endpoint, err
}

// Begin starts a trace for a row, before its provider is asked, with ids that
// cannot be guessed. ok is false if there is no receiver for spans.
func (s *Store) Begin() (id string, tc proviso.TraceContext, ok bool) {
	if id, tc, ok = s.begin(); ok && s.o.Begun != nil {
		s.o.Begun(id)
	}
	return id, tc, ok
}

func (s *Store) begin() (id string, tc proviso.TraceContext, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endpoint == "" {
		return "", proviso.TraceContext{}, false
	}
	var random [24]byte
	rand.Read(random[:]) // never fails
	id, parent := hex.EncodeToString(random[:16]), hex.EncodeToString(random[16:])
	t := s.make(id)
	t.expected, t.parent = true, parent
	return id, proviso.TraceContext{Parent: "00-" + id + "-" + parent + "-01", Endpoint: s.endpoint}, true
}

// End drops a trace after its row is decided.
func (s *Store) End(id string) {
	id = TraceID(id)
	s.mu.Lock()
	s.forget(id)
	s.mu.Unlock()
	if s.o.Ended != nil {
		s.o.Ended(id)
	}
}

// forget drops a trace; s.mu is held.
func (s *Store) forget(id string) {
	t, ok := s.traces[id]
	if !ok {
		return
	}
	s.spans -= len(t.spans)
	s.bytes -= t.bytes
	delete(s.traces, id)
}

// make returns the trace with an id, and creates it if necessary; s.mu is held.
func (s *Store) make(id string) *trace {
	t, ok := s.traces[id]
	if !ok {
		t = &trace{places: map[string]int{}, changed: make(chan struct{})}
		s.traces[id] = t
	}
	return t
}

// Add adds the spans of a request. It returns how many of them were rejected,
// and why the first was.
func (s *Store) Add(b *Batch) (rejected int, reason string) { return s.add(b, true) }

// Merge is [Store.Add] for spans that may have been added before: those change nothing, not
// even when the last span arrived.
func (s *Store) Merge(b *Batch) (rejected int, reason string) { return s.add(b, false) }

func (s *Store) add(b *Batch, repeats bool) (rejected int, reason string) {
	rejected, reason = b.Rejected, b.Reason
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	woken := map[*trace]bool{}
	for i := range b.Records {
		r := &b.Records[i]
		t, why := s.room(r)
		news := why != "" || s.take(t, r)
		if why != "" {
			if rejected++; reason == "" {
				reason = why
			}
		}
		if t != nil && (news || repeats) {
			woken[t] = true
		}
	}
	for t := range woken {
		t.last = now
		close(t.changed)
		t.changed = make(chan struct{})
	}
	return rejected, reason
}

// room makes room for a span and returns its trace, or returns why there is no
// room; s.mu is held.
func (s *Store) room(r *Record) (*trace, string) {
	t := s.traces[r.TraceID]
	if t != nil {
		if _, again := t.places[r.Span.ID]; again {
			return t, "" // it takes no more room
		}
		if len(t.spans) >= s.o.MaxOfOne {
			t.refused++
			return t, fmt.Sprintf("the trace %s has %d spans already", r.TraceID, len(t.spans))
		}
	}
	for {
		why := ""
		switch {
		case s.spans >= s.o.MaxSpans:
			why = fmt.Sprintf("%d spans are held already", s.spans)
		case s.bytes+int64(r.Size) > s.o.MaxBytes:
			why = fmt.Sprintf("the spans that are held take %d MiB already", s.bytes>>20)
		case t == nil && len(s.traces) >= s.o.MaxTraces:
			why = fmt.Sprintf("%d traces are held already", len(s.traces))
		case s.o.Room != nil:
			why = s.o.Room(s.held(), r.Size)
		}
		if why == "" {
			break
		}
		if !s.evict(r.TraceID) {
			if t != nil {
				t.refused++
			}
			return t, why
		}
	}
	if t == nil {
		t = s.make(r.TraceID)
		s.unexpect(r.TraceID)
	}
	return t, ""
}

// unexpect marks a trace as unused by any row; s.mu is held.
func (s *Store) unexpect(id string) {
	if len(s.foreign) > 2*s.o.MaxTraces { // of traces that are gone, most of them
		s.foreign = slices.DeleteFunc(s.foreign, func(id string) bool { return !s.unwanted(id) })
	}
	s.foreign = append(s.foreign, id)
}

// evict drops the oldest unused trace other than keep; false if there is none.
// s.mu is held.
func (s *Store) evict(keep string) bool {
	s.foreign = slices.DeleteFunc(s.foreign, func(id string) bool { return !s.unwanted(id) })
	i := slices.IndexFunc(s.foreign, func(id string) bool { return id != keep })
	if i < 0 {
		return false
	}
	s.forget(s.foreign[i])
	s.foreign = slices.Delete(s.foreign, i, i+1)
	return true
}

// unwanted reports whether a trace is held that no row has asked for; s.mu is
// held.
func (s *Store) unwanted(id string) bool {
	t, ok := s.traces[id]
	return ok && !t.expected && t.holds == 0
}

// take adds a span to its trace, and reports whether it is new. If a span was sent twice,
// the one that has ended stays. s.mu is held.
func (s *Store) take(t *trace, r *Record) bool {
	if i, ok := t.places[r.Span.ID]; ok {
		again := !t.spans[i].End.IsZero()
		if !again {
			t.spans[i] = r.Span
		}
		return !again
	}
	t.places[r.Span.ID] = len(t.spans)
	t.spans = append(t.spans, r.Span)
	t.bytes += int64(r.Size)
	s.spans++
	s.bytes += int64(r.Size)
	return true
}

// TraceID returns the id of a trace in its normal form: in lower case, and extracted from a
// traceparent.
func TraceID(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	if parts := strings.Split(id, "-"); len(parts) >= 4 && len(parts[1]) == 32 {
		return parts[1]
	}
	return id
}
