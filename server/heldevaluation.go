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

// heldEvaluation is a streamed evaluation in memory: its events so far. It is safe for
// concurrent use.
type heldEvaluation struct {
	id      string
	project store.Project
	key     store.Key // that started it
	output  string
	keep    time.Duration // after its end
	held    *heldEvaluations
	cancel  context.CancelCauseFunc
	created time.Time

	size  int64     // guarded by held.mu
	ended time.Time // guarded by held.mu; zero while it goes on

	mu      sync.Mutex
	events  [][]byte // as they are sent; the id of an event is its index
	closed  bool     // there is no further event
	changed chan struct{}

	server string // that evaluates it; "" is this one
	lost   bool   // that server was killed

	// What other servers know of it.
	sharing   sync.Mutex // held while something is written for them
	announced bool       // they may know of it
	shared    int        // events that are written
	trying    int        // events that are written or will be next
	sharedEnd bool       // that it has ended is written
}

// add adds an event.
func (e *heldEvaluation) add(name string, data any) {
	text, err := encode(data)
	if err != nil {
		return // they are texts, numbers and lists of these
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

// news wakes the streams; e.mu is held.
func (e *heldEvaluation) news() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// finish says that there is no further event.
func (e *heldEvaluation) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		e.news()
	}
}

// after returns the events after the one with the id last, whether those are all, and a
// channel that is closed when there is more.
func (e *heldEvaluation) after(last int) (events [][]byte, closed bool, changed <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.events[min(last+1, len(e.events)):], e.closed, e.changed
}

// heldEvaluations are the streamed evaluations that go on, or have ended lately. It is
// safe for concurrent use.
type heldEvaluations struct {
	most, ofKey int64     // bytes, of all and of those of one key
	unshared    *unshared // nil if there are no other servers

	running sync.WaitGroup

	mu     sync.Mutex
	byID   map[string]*heldEvaluation
	ended  []*heldEvaluation // the first to end first
	total  int64
	perKey map[string]int64
	closed bool
}

func newHeldEvaluations(most int64) *heldEvaluations {
	return &heldEvaluations{most: most, ofKey: most / 4, byID: map[string]*heldEvaluation{}, perKey: map[string]int64{}}
}

const (
	// copies is how often a request is in memory while it is evaluated, about: its text,
	// its values and its compiled assertions.
	copies = 3
	// leastHeld is counted for an evaluation that goes on, in bytes. It bounds their number.
	leastHeld = 64 << 10
)

// begin holds a new evaluation, or returns why there is no room for it. Those that have
// ended make room: first those of the same key, and the first to end first.
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
		return problem(codeBusy, "the evaluations under way take all the room there is").after(time.Second)
	}
	h.byID[e.id] = e
	h.total += e.size
	h.perKey[e.key.ID] += e.size
	h.running.Add(1)
	return nil
}

// makeRoom drops evaluations that have ended until n bytes more of e fit, or none is left;
// h.mu is held.
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

// grow counts n bytes more of an evaluation. One that takes more than there is for a key
// alone is dropped.
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

// end says that an evaluation is over. What is kept of it are its events and the output.
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

// drop forgets an evaluation, and ends its streams; h.mu is held.
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

// stateOf returns when an evaluation ended, and whether it is not held any more.
func (h *heldEvaluations) stateOf(e *heldEvaluation) (ended time.Time, dropped bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return e.ended, h.byID[e.id] != e
}

// busy reports whether evaluations are under way.
func (h *heldEvaluations) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.byID) > len(h.ended)
}

// abandon forgets an evaluation that was never told of.
func (h *heldEvaluations) abandon(e *heldEvaluation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID[e.id] == e {
		h.drop(e)
	}
}

// get returns an evaluation, nil if it is not held.
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

// expire forgets what was kept for long enough, and returns what goes on.
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

// stop takes no more evaluations, and waits for those under way until ctx ends. Then it
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
