package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// Event is an event in the stream of a run: progress while the run is in progress, then one
// event end.
type Event struct {
	ID       string          `json:"id" doc:"Of the run"`
	Status   store.RunStatus `json:"status" enum:"queued,waiting,running,done,failed,cancelled"`
	Progress Progress        `json:"progress"`
	Cost     float64         `json:"cost" doc:"US dollars so far"`
	Waits    string          `json:"waits,omitempty" doc:"Why it is waiting"`
	Error    string          `json:"error,omitempty"`
}

func (s *Server) events(c *call) error {
	return s.followStates(c, c.r.PathValue("run"), func() (state, error) {
		r, err := s.seenRun(c)
		p := progressOf(r)
		return state{fmt.Sprintf("%s-%d-%d", r.Status, p.Rows, p.Finished), r.Status.Ended(), Event{ID: r.ID, Status: r.Status, Progress: p, Cost: r.Totals.Cost, Waits: r.Waits, Error: r.Error}}, err
	})
}

// state is a snapshot of a run or a trial.
type state struct {
	id    string // id of the event
	ended bool   // the state is final
	data  any
}

// followStates streams the states of a run or a trial, under its id in the hub, as server-sent
// events (HTML standard). It ends when the run or trial ends, the client disconnects, or the
// server stops. Each event has the complete state, so a client that reconnects with
// Last-Event-ID misses nothing: it gets the next event when the state changes.
func (s *Server) followStates(c *call, id string, now func() (state, error)) error {
	last := c.r.Header.Get("Last-Event-ID")
	if first, err := now(); err != nil {
		return err
	} else if first.ended && first.id == last {
		return c.sendResponse(store.Response{Status: http.StatusNoContent}) // tells browsers not to reconnect
	}
	end, err := s.openStream(c)
	if err != nil {
		return err
	}
	defer end()
	if c.r.Method == http.MethodHead {
		return nil
	}
	next, leave := s.hub.watch(id)
	defer leave()
	w := &eventWriter{w: c.w, control: http.NewResponseController(c.w)}
	beat := time.NewTicker(s.o.Heartbeat)
	defer beat.Stop()
	for more := w.write("retry: 2000\n\n"); more; {
		changed := next()
		is, err := now()
		if err != nil || !s.stillOpen(c) {
			return nil // the client reconnects
		}
		more = (is.id == last || w.state(is)) && !is.ended && s.await(c.r.Context(), w, changed, beat.C)
		last = is.id
	}
	return nil
}

// openStream starts a response of events, unless too many streams are open. The caller calls
// end.
func (s *Server) openStream(c *call) (end func(), err error) {
	if s.streams.Add(1) > int64(s.o.MaxStreams) {
		s.streams.Add(-1)
		return nil, problem(codeBusy, fmt.Sprintf("%d event streams are open", s.o.MaxStreams)).after(5 * time.Second)
	}
	streams := s.metrics.streams.WithLabelValues(string(c.project))
	streams.Inc()
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers the response
	c.w.WriteHeader(http.StatusOK)
	return func() {
		s.streams.Add(-1)
		streams.Dec()
	}, nil
}

// pace is the minimum time between two events of a stream.
const pace = 100 * time.Millisecond

// await waits for a change of a run, and returns false when the stream is over.
func (s *Server) await(ctx context.Context, w *eventWriter, changed <-chan struct{}, beat <-chan time.Time) bool {
	paced, poll := time.NewTimer(pace), time.NewTimer(s.o.Poll)
	defer paced.Stop()
	defer poll.Stop()
	for early, news := true, false; early || !news; {
		select {
		case <-paced.C:
			early = false
		case <-changed:
			news, changed = true, nil
		case <-poll.C:
			early, news = false, true
		case <-beat:
			if !w.write(": still here\n\n") {
				return false
			}
		case <-ctx.Done():
			return false
		case <-s.quit:
			return false
		}
	}
	return true
}

// eventWriter sends and flushes events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// write sends a text, and returns false if the client has disconnected.
func (w *eventWriter) write(text string) bool {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer supports this
	if _, err := w.w.Write([]byte(text)); err != nil {
		return false
	}
	return w.control.Flush() == nil
}

// state sends a state.
func (w *eventWriter) state(s state) bool {
	name := "progress"
	if s.ended {
		name = "end"
	}
	data, err := json.Marshal(s.data)
	return err == nil && w.write(fmt.Sprintf("event: %s\nid: %s\ndata: %s\n\n", name, s.id, data))
}

// hub notifies the watchers of a run when its state changes. It is safe for
// concurrent use.
type hub struct {
	mu   sync.Mutex
	runs map[string]*topic
}

// topic is a watched run.
type topic struct {
	watchers int
	changed  chan struct{}
}

func newHub() *hub { return &hub{runs: map[string]*topic{}} }

// watch returns a function that gives a channel, closed at the next change of a run, and a
// function that ends the watch.
func (h *hub) watch(run string) (next func() <-chan struct{}, end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.runs[run]
	if t == nil {
		t = &topic{changed: make(chan struct{})}
		h.runs[run] = t
	}
	t.watchers++
	next = func() <-chan struct{} {
		h.mu.Lock()
		defer h.mu.Unlock()
		return t.changed
	}
	end = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if t.watchers--; t.watchers == 0 {
			delete(h.runs, run)
		}
	}
	return next, end
}

// changed notifies the watchers of a run.
func (h *hub) changed(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.runs[run]; t != nil {
		close(t.changed)
		t.changed = make(chan struct{})
	}
}
