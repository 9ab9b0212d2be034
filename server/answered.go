package server

import (
	"context"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/store"
)

const (
	maxTracesOfOne = 1000 // traces whose answers one request with spans may complete
	maxAnswering   = 10_000
	answerQuiet    = 10 * time.Second // wait after a trace's last span before its answers become events
)

// answers turns the answers in spans into events, for keys with the scope ingest. The root span
// of a trace becomes an event at once. Other spans may belong to an agent whose span has not
// arrived: they wait in memory until that span arrives or no span has arrived for
// [answerQuiet], and are lost if the process ends. It is safe for concurrent use.
type answers struct {
	s *Server

	mu      sync.Mutex
	waiting map[answering]*answerTrace
}

type answering struct{ key, trace string }

// answerTrace is a trace whose spans are arriving.
type answerTrace struct {
	key  store.Key
	last time.Time
	done map[string]bool // ids of events that were made
}

func newAnswers(s *Server) *answers { return &answers{s: s, waiting: map[answering]*answerTrace{}} }

// take makes events from the answers in traces that have new spans.
func (a *answers) take(ctx context.Context, key store.Key, traces []string) error {
	if !key.Can(store.Ingest) {
		return nil
	}
	for _, trace := range traces {
		if err := a.answer(ctx, key, trace, false); err != nil {
			return err
		}
	}
	return nil
}

// of returns a trace. It adds a new one if there is room.
func (a *answers) of(key store.Key, trace string) *answerTrace {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := answering{key.ID, trace}
	t := a.waiting[id]
	if t == nil {
		t = &answerTrace{key: key, done: map[string]bool{}}
		if len(a.waiting) < maxAnswering {
			a.waiting[id] = t
		}
	}
	t.last = time.Now()
	return t
}

// answer makes events from the answers of one trace. Spans that a run or an evaluation waits for
// are not production traffic.
func (a *answers) answer(ctx context.Context, key store.Key, trace string, final bool) error {
	held, release := a.s.spans.use(key)
	defer release()
	if final { // the parent span may have reached another server
		if err := held.Refresh(ctx, trace); err != nil {
			return err
		}
	}
	spans, wanted := held.Peek(trace)
	if wanted || len(spans) == 0 {
		return nil
	}
	if elsewhere, err := a.s.spans.awaited(ctx, key, trace); elsewhere || err != nil {
		return err
	}
	t := a.of(key, trace)
	list, _ := otlp.Answers(trace, spans, final)
	var events []store.NewEvent
	out := PostedEvents{}
	now := a.s.o.Now().UTC()
	for _, answer := range list {
		e, mistakes := ingest.ReadEvent(answer.Event, now)
		a.mu.Lock()
		again := t.done[answer.Span]
		t.done[answer.Span] = true
		a.mu.Unlock()
		if again {
			continue
		}
		if len(mistakes) > 0 {
			out.Rejected = append(out.Rejected, rejected(0, mistakes))
			continue
		}
		n, err := a.s.newEvent(ctx, key.Project, e)
		if err != nil {
			return err
		}
		if n.Check() == nil {
			events = append(events, n)
		}
	}
	err := a.s.storeEvents(ctx, key.Project, events, &out)
	if err != nil { // the client sends the spans again
		a.mu.Lock()
		clear(t.done)
		a.mu.Unlock()
	}
	return err
}

// settle makes events from answers that have waited long enough, until ctx ends.
func (a *answers) settle(ctx context.Context) {
	every(ctx, nil, answerQuiet/4, func(now time.Time) { a.end(ctx, now.Add(-answerQuiet)) })
}

// flush makes events from all waiting answers.
func (a *answers) flush(ctx context.Context) { a.end(ctx, time.Now()) }

// end completes the traces that have no spans newer than since.
func (a *answers) end(ctx context.Context, since time.Time) {
	var ids []answering
	var keys []store.Key
	a.mu.Lock()
	for id, t := range a.waiting {
		if !t.last.After(since) {
			ids, keys = append(ids, id), append(keys, t.key)
		}
	}
	a.mu.Unlock()
	for i, id := range ids {
		if err := a.answer(ctx, keys[i], id.trace, true); err != nil {
			a.s.o.Log.Warn("keep the answers of a trace", "error", err)
			continue // retried at the next tick
		}
		a.mu.Lock()
		delete(a.waiting, id)
		a.mu.Unlock()
	}
}
