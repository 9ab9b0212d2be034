package server

import "sync"

// hub wakes those who watch a run when something became of it. It is safe for
// concurrent use.
type hub struct {
	mu   sync.Mutex
	runs map[string]*topic
}

// topic is a run that is watched.
type topic struct {
	watchers int
	changed  chan struct{}
}

func newHub() *hub { return &hub{runs: map[string]*topic{}} }

// watch returns a function that gives a channel which is closed at the next
// change of a run, and one that ends the watching.
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

// changed wakes those who watch a run.
func (h *hub) changed(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.runs[run]; t != nil {
		close(t.changed)
		t.changed = make(chan struct{})
	}
}
