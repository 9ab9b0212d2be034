package server

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// heldEvaluation is a streamed evaluation in memory, with its events so far. It is safe for
// concurrent use.
type heldEvaluation struct {
	id      string
	project store.Project
	key     store.Key // key that started it
	output  string
	keep    time.Duration // how long to keep it after its end
	held    *heldEvaluations
	cancel  context.CancelCauseFunc
	created time.Time

	size  int64     // guarded by held.mu
	ended time.Time // guarded by held.mu; zero while it is running

	mu      sync.Mutex
	events  [][]byte // encoded events; an event's id is its index
	closed  bool     // no more events follow
	changed chan struct{}

	server string // server that evaluates it; "" means this one
	lost   bool   // that server was killed

	// What other servers know of this evaluation.
	sharing   sync.Mutex // held while writing for other servers
	announced bool       // other servers may know the evaluation
	shared    int        // number of events that are written
	trying    int        // number of events that are written or are being written
	sharedEnd bool       // the end of the evaluation is written
}

// add adds an event.
func (e *heldEvaluation) add(name string, data any) {
	text, err := encode(data)
	if err != nil {
		return // events are strings, numbers and lists of these, which always marshal
	}
	e.mu.Lock()
	event := "event: " + name + "\nid: " + strconv.Itoa(len(e.events)) + "\ndata: " + string(bytes.TrimRight(text, "\n")) + "\n\n"
	if !e.closed {
		e.events = append(e.events, []byte(event))
		e.news()
	}
	e.mu.Unlock()
	e.held.grow(e, int64(len(event)))
	e.held.unshared.add(e)
}

// news wakes the streams; the caller holds e.mu.
func (e *heldEvaluation) news() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// finish marks the stream as complete.
func (e *heldEvaluation) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		e.news()
	}
}

// after returns the events after the one with the id last, whether the stream is complete, and
// a channel that is closed at the next event.
func (e *heldEvaluation) after(last int) (events [][]byte, closed bool, changed <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.events[min(last+1, len(e.events)):], e.closed, e.changed
}

// heldEvaluations are the streamed evaluations that are running or have ended recently. It is
// safe for concurrent use.
type heldEvaluations struct {
	most, ofKey int64     // bytes, for all evaluations and for those of one key
	unshared    *unshared // nil if there are no other servers

	running sync.WaitGroup

	mu     sync.Mutex
	byID   map[string]*heldEvaluation
	ended  []*heldEvaluation // in the order of their end
	total  int64
	perKey map[string]int64
	closed bool
}

func newHeldEvaluations(most int64) *heldEvaluations {
	return &heldEvaluations{most: most, ofKey: most / 4, byID: map[string]*heldEvaluation{}, perKey: map[string]int64{}}
}

const (
	// copies estimates how many times a request is in memory while it is evaluated: its text,
	// its values and its compiled assertions.
	copies = 3
	// leastHeld is the minimum size of a running evaluation, in bytes. It limits their number.
	leastHeld = 64 << 10
)

// begin adds a new evaluation, or returns an error if there is no room. To make room, it drops
// ended evaluations, oldest first, starting with those of the same key.
func (h *heldEvaluations) begin(e *heldEvaluation, request int) error {
	e.held, e.changed, e.created = h, make(chan struct{}), time.Now()
	e.size = leastHeld + copies*int64(request)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return problem(codeStopping, "the server is stopping")
	}
	h.makeRoom(e, e.size)
	if h.perKey[e.key.ID]+e.size > h.ofKey || h.total+e.size > h.most {
		return problem(codeBusy, "evaluations in progress use all the memory for them").after(time.Second)
	}
	h.byID[e.id] = e
	h.total += e.size
	h.perKey[e.key.ID] += e.size
	h.running.Add(1)
	return nil
}

// makeRoom drops ended evaluations until n more bytes of e fit, or none is left to drop. The
// caller holds h.mu.
func (h *heldEvaluations) makeRoom(e *heldEvaluation, n int64) {
	for h.perKey[e.key.ID]+n > h.ofKey {
		i := slices.IndexFunc(h.ended, func(o *heldEvaluation) bool { return o.key.ID == e.key.ID && o != e })
		if i < 0 {
			break
		}
		h.drop(h.ended[i])
	}
	for h.total+n > h.most {
		i := slices.IndexFunc(h.ended, func(o *heldEvaluation) bool { return o != e })
		if i < 0 {
			break
		}
		h.drop(h.ended[i])
	}
}

// errTooLarge ends an evaluation whose events take too much memory.
var errTooLarge = proviso.Errorf(proviso.Limit, "the results take more memory than the server holds for a key")

// grow adds n bytes to the size of an evaluation. It drops an evaluation that alone exceeds the
// limit for a key.
func (h *heldEvaluations) grow(e *heldEvaluation, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID[e.id] != e {
		return
	}
	h.makeRoom(e, n)
	e.size += n
	h.total += n
	h.perKey[e.key.ID] += n
	if h.perKey[e.key.ID] > h.ofKey || h.total > h.most {
		h.drop(e)
		e.cancel(errTooLarge)
	}
}

// end marks an evaluation as over. Only its events and its output are kept.
func (h *heldEvaluations) end(e *heldEvaluation) {
	defer h.running.Done()
	e.finish()
	h.mu.Lock()
	defer h.mu.Unlock()
	e.ended = time.Now()
	if h.byID[e.id] != e {
		return
	}
	defer h.unshared.add(e)
	now := int64(len(e.output)) + 1024
	e.mu.Lock()
	for _, event := range e.events {
		now += int64(len(event))
	}
	e.mu.Unlock()
	h.total += now - e.size
	h.perKey[e.key.ID] += now - e.size
	e.size = now
	h.ended = append(h.ended, e)
}

// drop removes an evaluation and ends its streams; the caller holds h.mu.
func (h *heldEvaluations) drop(e *heldEvaluation) {
	delete(h.byID, e.id)
	h.ended = slices.DeleteFunc(h.ended, func(o *heldEvaluation) bool { return o == e })
	h.total -= e.size
	if h.perKey[e.key.ID] -= e.size; h.perKey[e.key.ID] <= 0 {
		delete(h.perKey, e.key.ID)
	}
	e.finish()
	if e.ended.IsZero() || time.Since(e.ended) < e.keep { // otherwise it has expired everywhere
		h.unshared.drop(e)
	}
}

// stateOf returns when an evaluation ended, and whether it was dropped.
func (h *heldEvaluations) stateOf(e *heldEvaluation) (ended time.Time, dropped bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return e.ended, h.byID[e.id] != e
}

// busy reports whether evaluations are running.
func (h *heldEvaluations) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.byID) > len(h.ended)
}

// abandon removes an evaluation whose id no client has received.
func (h *heldEvaluations) abandon(e *heldEvaluation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID[e.id] == e {
		h.drop(e)
	}
}

// get returns an evaluation, or nil if it is not held.
func (h *heldEvaluations) get(id string, now time.Time) *heldEvaluation {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.byID[id]
	if e != nil && !e.ended.IsZero() && now.Sub(e.ended) >= e.keep {
		h.drop(e)
		return nil
	}
	return e
}

// expire drops expired evaluations, and returns the running ones.
func (h *heldEvaluations) expire(now time.Time) (underWay []*heldEvaluation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.byID {
		switch {
		case e.ended.IsZero():
			underWay = append(underWay, e)
		case now.Sub(e.ended) >= e.keep:
			h.drop(e)
		}
	}
	return underWay
}

// stop accepts no more evaluations and waits for the running ones until ctx ends. Then it
// cancels them.
func (h *heldEvaluations) stop(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	over := make(chan struct{})
	go func() {
		h.running.Wait()
		close(over)
	}()
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	for _, e := range h.expire(time.Now()) {
		e.cancel(proviso.Errorf(proviso.Unavailable, "the server stopped"))
	}
	select {
	case <-over:
	case <-time.After(cutOffTimeout):
	}
}
