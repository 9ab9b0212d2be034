package server

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/store"
)

// TraceLimits limits the spans that a server holds for runs and evaluations. A field that is 0
// has the default in its comment.
type TraceLimits struct {
	Spans     int           // spans of all keys; 100,000
	Bytes     int64         // approximate size of all spans; 256 MiB
	KeySpans  int           // spans of one key; 25,000
	KeyBytes  int64         // approximate size of a key's spans; 64 MiB
	KeyTraces int           // traces of one key; 2,500
	OneTrace  int           // spans of one trace; 10,000
	Age       time.Duration // how long an unused trace is held; 15 minutes
	Wait      time.Duration // how long to wait for needed spans; 3 seconds, and a suite may set at most 1 minute
}

func (l *TraceLimits) defaults() {
	l.Spans, l.Bytes = orElse(l.Spans, otlp.MaxSpans), cmp.Or(l.Bytes, otlp.MaxBytes)
	l.KeySpans, l.KeyBytes = orElse(l.KeySpans, otlp.MaxSpans/4), cmp.Or(l.KeyBytes, otlp.MaxBytes/4)
	l.KeyTraces, l.OneTrace = orElse(l.KeyTraces, otlp.MaxTraces/4), orElse(l.OneTrace, otlp.MaxSpans/10)
	l.Age, l.Wait = orElse(l.Age, 15*time.Minute), orElse(l.Wait, otlp.DefaultWait)
}

// maxSuiteWait is the longest time that a suite may wait for spans.
const maxSuiteWait = time.Minute

// toSpans names the address for spans in messages.
const toSpans = "POST /v1/traces of this server, with the key of whoever asks"

// spans holds the spans of each key, which only that key can see. It is safe
// for concurrent use.
type spans struct {
	o        TraceLimits
	receiver *otlp.Receiver
	kept     store.Store // shared with other servers and workers; nil if there are none
	log      *slog.Logger
	count    *prometheus.CounterVec

	mu     sync.Mutex
	keys   map[string]*keySpans
	seen   map[store.Project]int // projects whose keys have held spans, each with 0
	others otlp.Held             // held for keys other than the one whose spans are being added
}

// keySpans are the spans of one key.
type keySpans struct {
	all     *spans
	id      string // id of the key
	project store.Project
	store   *otlp.Store
	users   int // runs and evaluations that use the spans
}

// newSpans returns an empty spans. kept is where other servers and workers find the spans; nil
// if there are none.
func newSpans(o TraceLimits, kept store.Store, log *slog.Logger, maxBody int64, count *prometheus.CounterVec) *spans {
	o.defaults()
	s := &spans{o: o, kept: kept, log: log, count: count, keys: map[string]*keySpans{}, seen: map[store.Project]int{}}
	s.receiver = otlp.NewReceiver(nil, otlp.ReceiverOptions{MaxBody: maxBody, Add: s.add})
	return s
}

// of returns the spans of a key; the caller holds s.mu.
func (s *spans) of(key store.Key) *keySpans {
	k, ok := s.keys[key.ID]
	if !ok {
		k = &keySpans{all: s, id: key.ID, project: key.Project}
		o := otlp.StoreOptions{Wait: s.o.Wait, MaxSpans: s.o.KeySpans, MaxBytes: s.o.KeyBytes, MaxTraces: s.o.KeyTraces, MaxOfOne: s.o.OneTrace, Room: k.room}
		if s.shares(key) {
			o.Fetch, o.Begun, o.Ended = k.fetch, k.begun, k.ended
		}
		k.store = otlp.NewStore(o)
		k.store.Listens(toSpans, nil)
		s.keys[key.ID], s.seen[key.Project] = k, 0
	}
	return k
}

// use returns the span store of a key, which is kept until done is called.
func (s *spans) use(key store.Key) (of *otlp.Store, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(key)
	k.users++
	return k.store, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		k.users--
	}
}

// add stores the spans of a request for its key.
func (s *spans) add(ctx context.Context, b *otlp.Batch) (rejected int, reason string) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return b.Rejected + len(b.Records), "nobody sent them" // only ServeHTTP calls this
	}
	rejected, reason = s.hold(c, b)
	if s.shares(c.key) {
		n, why, err := s.share(ctx, c.key, b)
		if c.unshared = err; n+b.Rejected > rejected {
			rejected, reason = n+b.Rejected, cmp.Or(b.Reason, why)
		}
	}
	s.count.WithLabelValues(string(c.key.Project), "refused").Add(float64(rejected))
	s.count.WithLabelValues(string(c.key.Project), "taken").Add(float64(len(b.Records) + b.Rejected - rejected))
	return rejected, reason
}

// hold adds the spans of a request to memory.
func (s *spans) hold(c *call, b *otlp.Batch) (rejected int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.of(c.key)
	s.others = s.held(k)
	rejected, reason = k.store.Add(b)
	for i := range b.Records {
		if id := b.Records[i].TraceID; !slices.Contains(c.traces, id) && len(c.traces) < maxTracesOfOne {
			c.traces = append(c.traces, id)
		}
	}
	return rejected, reason
}

// held returns the total held for all keys but one; the caller holds s.mu.
func (s *spans) held(but *keySpans) otlp.Held {
	var sum otlp.Held
	for _, k := range s.keys {
		if k != but {
			h := k.store.Held()
			sum.Traces, sum.Spans, sum.Bytes = sum.Traces+h.Traces, sum.Spans+h.Spans, sum.Bytes+h.Bytes
		}
	}
	return sum
}

// perProject returns the number of spans held for each project.
func (s *spans) perProject() map[store.Project]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := maps.Clone(s.seen)
	for _, k := range s.keys {
		held[k.project] += k.store.Held().Spans
	}
	return held
}

// room returns why there is no room for another span of a key. To make room, it drops traces of
// keys that hold more, the largest first. The caller holds the lock of spans.
func (k *keySpans) room(held otlp.Held, size int) string {
	s := k.all
	for s.others.Spans+held.Spans >= s.o.Spans || s.others.Bytes+held.Bytes+int64(size) > s.o.Bytes {
		if !s.shed(k, held.Bytes) {
			return "the server holds as many spans as it may"
		}
		s.others = s.held(k)
	}
	return ""
}

// shed drops an unused trace of a key that holds more than more bytes, and returns false if
// there is none. The caller holds s.mu.
func (s *spans) shed(but *keySpans, more int64) bool {
	type large struct {
		*keySpans
		bytes int64
	}
	var list []large
	for _, k := range s.keys {
		if k == but {
			continue
		}
		if n := k.store.Held().Bytes; n > more {
			list = append(list, large{k, n})
		}
	}
	slices.SortFunc(list, func(a, b large) int { return cmp.Compare(b.bytes, a.bytes) })
	return slices.ContainsFunc(list, func(l large) bool { return l.store.Shed() })
}

// expire regularly drops unused traces until ctx ends.
func (s *spans) expire(ctx context.Context) {
	every(ctx, nil, min(s.o.Age, time.Minute), func(now time.Time) { s.sweep(now.Add(-s.o.Age)) })
}

func (s *spans) sweep(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, k := range s.keys {
		k.store.Expire(since)
		if k.users == 0 && k.store.Held() == (otlp.Held{}) {
			delete(s.keys, key)
		}
	}
}

// SpansRefused is the response to spans: empty, or the number of rejected spans.
type SpansRefused struct {
	Partial *PartialSuccess `json:"partialSuccess,omitempty"`
}

// PartialSuccess is set if some spans were rejected.
type PartialSuccess struct {
	Rejected string `json:"rejectedSpans" doc:"How many were not taken, as a text"`
	Message  string `json:"errorMessage" doc:"Why the first of them was not"`
}

// postSpans receives spans as OTLP over HTTP. Its responses are those of OTLP.
func (s *Server) postSpans(c *call) error {
	c.r.Body = io.NopCloser(bytes.NewReader(c.body))
	status, kind, body := s.spans.receiver.Answer(c.r)
	if status == http.StatusOK && c.unshared != nil {
		return c.unshared // the client sends the spans again
	}
	if status == http.StatusOK {
		if err := s.answers.take(c.r.Context(), c.key, c.traces); err != nil {
			return err // the client sends the spans again
		}
	}
	return c.sendResponse(store.Response{Status: status, MediaType: kind, Body: body})
}

// traceAsked returns the spans that an evaluation may use, which are those of one trace of its
// key, and a function that releases them.
func (s *Server) traceAsked(ctx context.Context, c *call, id string) (of proviso.Spans, done func()) {
	held, done := s.spansOf(c.key, id)
	if held == nil {
		return nil, done
	}
	s.spans.expect(ctx, c.key, id)
	return waitedSpans{of: held, clock: &c.clock}, done
}

// spansOf returns the spans of one trace that the key has sent, and a function that releases
// them.
func (s *Server) spansOf(key store.Key, id string) (of proviso.Spans, done func()) {
	if id == "" {
		return nil, func() {}
	}
	held, end := s.spans.use(key)
	held.Hold(id)
	return held, func() {
		held.Release(id)
		end()
	}
}

// waitedSpans counts the time until spans arrive as waiting time.
type waitedSpans struct {
	of    proviso.Spans
	clock *clock
}

// Spans implements proviso.Spans.
func (w waitedSpans) Spans(ctx context.Context, id string) ([]proviso.Span, error) {
	w.clock.begin()
	defer w.clock.end()
	return w.of.Spans(ctx, id)
}

// traces returns the spans for a suite: those that the server received with the key of the run,
// and those in the suite's files; nil if the suite uses none. A suite gets no receiver of its
// own, and spans are not forwarded.
func traces(read *proviso.Suite, files proviso.Files, held *otlp.Store) (proviso.Spans, proviso.Mistakes) {
	t := read.Tracing
	var mistakes proviso.Mistakes
	note := func(at, code, message string, warning bool) {
		m := proviso.Mistake{Code: code, Message: message, Warning: warning}
		if read.Places != nil {
			m.Place = read.Place(at)
		}
		mistakes = append(mistakes, m)
	}
	for _, e := range []struct {
		key string
		to  *proviso.Endpoint
	}{{"emit", t.Emit}, {"forwarding", t.Forward}} {
		if e.to != nil {
			note("/tracing/"+e.key, proviso.Unsupported, "a server does not forward the spans or verdicts of a run: tracing."+e.key+" is for proviso eval", true)
		}
	}
	if !t.Enabled && len(t.Files) == 0 {
		return nil, mistakes
	}
	recorded := otlp.NewStore(otlp.StoreOptions{})
	for _, name := range t.Files {
		data, err := files.ReadFile(name)
		if err != nil {
			continue // reported when the suite was read
		}
		if err := recorded.Load(name, string(data)); err != nil {
			note("/tracing/file", proviso.Invalid, err.Error(), false)
		}
	}
	if !t.Enabled {
		return recorded, mistakes
	}
	if held == nil { // the suite is only read
		held = otlp.NewStore(otlp.StoreOptions{})
	}
	view := otlp.ViewOptions{Recorded: recorded, Redact: t.Redact}
	if ms := t.WaitMS; ms != nil {
		if view.Wait = min(time.Duration(*ms)*time.Millisecond, maxSuiteWait); *ms == 0 {
			view.Wait = -time.Millisecond // no wait
		}
	}
	return held.View(view), mistakes
}
