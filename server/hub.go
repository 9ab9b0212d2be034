package server

import "sync"

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

// watch returns a function for a channel that is closed at the next change of a
// run, and a function that ends the watch.
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
