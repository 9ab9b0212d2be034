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
	MaxSpans  = 100_000   // spans of all traces together
	MaxBytes  = 256 << 20 // approximate size of all spans in bytes
	MaxTraces = 10_000

	DefaultWait  = 3 * time.Second
	DefaultQuiet = 100 * time.Millisecond
)

// StoreOptions configure a store. The zero value is valid.
type StoreOptions struct {
	// Wait is how long to wait for spans once a row asks for them; 0 means DefaultWait, a negative
	// value no wait.
	Wait time.Duration
	// Quiet is how long no span must have arrived before a trace that looks complete is returned; 0
	// means DefaultQuiet.
	Quiet time.Duration

	MaxSpans  int   // 0 means the constant of the same name
	MaxBytes  int64 // see MaxSpans
	MaxTraces int   // see MaxSpans
	MaxOfOne  int   // spans of one trace; 0 means MaxSpans

	// Room returns why there is no room for another span of this size in bytes, given what the
	// store holds, or "". If nil, only the limits above apply. The store is locked during the call.
	Room func(held Held, size int) string

	// Fetch adds, with [Store.Merge], spans of a trace that other receivers have received after a
	// position. The first position is 0. It returns the next position, and how many spans of the
	// trace the other receivers had no room for. It is called for each trace that is waited for, at
	// once and then every [FetchEvery]. If nil, the store has all spans itself.
	Fetch func(ctx context.Context, trace string, after int64) (next int64, refused int, err error)
	// Begun is called for each trace that a row starts, and Ended after the row is decided. Both
	// may be nil.
	Begun, Ended func(trace string)
}

// FetchEvery is the interval at which a store fetches spans from other receivers.
const FetchEvery = 100 * time.Millisecond

// Store holds spans until their rows are decided. It is safe for concurrent use. Spans of traces
// that no row has announced are kept while there is room, because a provider may report its trace
// id only with its answer.
type Store struct {
	o StoreOptions

	mu       sync.Mutex
	traces   map[string]*trace
	foreign  []string // traces that no row announced, oldest first
	spans    int
	bytes    int64
	recorded map[string][]proviso.Span
	names    []string // names of the loaded files
	endpoint string   // address for spans; "" if there is no receiver
	broken   error    // why there is no receiver
}

// trace holds the spans of one trace.
type trace struct {
	parent   string // span id that the provider was given; "" if none
	expected bool   // a row uses the trace
	holds    int    // number of calls of Hold without Release
	spans    []proviso.Span
	places   map[string]int // indices of spans by id
	bytes    int64
	refused  int           // spans for which there was no room
	fetched  int64         // position of the last fetch from other receivers
	missed   int           // spans for which other receivers had no room
	changed  chan struct{} // closed when a span arrives
	last     time.Time     // when the last span arrived
	asked    time.Time     // when a row first asked for it
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

// Listens sets the address for spans, or the error that explains why there is none.
func (s *Store) Listens(endpoint string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint, s.broken = endpoint, err
}

// Begin starts a trace for a row, before its provider is asked, with ids that cannot be guessed. ok
// is false if there is no receiver for spans.
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

// Add adds the spans of a request. It returns the number of rejected spans, and why the first was
// rejected.
func (s *Store) Add(b *Batch) (rejected int, reason string) { return s.add(b, true) }

// Merge is [Store.Add] for spans that may have been added before. Such spans change nothing, not
// even the time of the last arrival.
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

// room makes room for a span and returns its trace, or the reason why there is no room; s.mu is
// held.
func (s *Store) room(r *Record) (*trace, string) {
	t := s.traces[r.TraceID]
	if t != nil {
		if _, again := t.places[r.Span.ID]; again {
			return t, "" // it replaces a span, so it takes no more room
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

// unexpect marks a trace as used by no row; s.mu is held.
func (s *Store) unexpect(id string) {
	if len(s.foreign) > 2*s.o.MaxTraces { // most of these traces are gone
		s.foreign = slices.DeleteFunc(s.foreign, func(id string) bool { return !s.unwanted(id) })
	}
	s.foreign = append(s.foreign, id)
}

// evict drops the oldest unused trace other than keep. It returns false if there is none. s.mu is
// held.
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

// unwanted reports whether a trace is held although no row has asked for it; s.mu is held.
func (s *Store) unwanted(id string) bool {
	t, ok := s.traces[id]
	return ok && !t.expected && t.holds == 0
}

// take adds a span to its trace, and reports whether the span is new. If a span was sent twice, the
// copy that has ended is kept. s.mu is held.
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

// TraceID returns a trace id in normal form: in lower case, and extracted from a traceparent.
func TraceID(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	if parts := strings.Split(id, "-"); len(parts) >= 4 && len(parts[1]) == 32 {
		return parts[1]
	}
	return id
}
