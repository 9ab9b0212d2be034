package server

import (
	"context"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// The states of a trial.
const (
	trialRunning   = "running"
	trialDone      = "done"
	trialFailed    = "failed"
	trialCancelled = "cancelled"
)

// Limits of trials in memory.
const (
	keepTrial    = time.Hour // after its end
	maxTrials    = 100       // those that ended first make room
	maxTrialRuns = 8         // under way at a time
	maxKeyTrials = 2         // of them of one key
	maxKeyEnded  = 20        // of one key, that have ended
)

// heldTrial is a trial in memory. It is safe for concurrent use.
type heldTrial struct {
	id      string
	project store.Project
	key     store.Key // that started it
	cancel  context.CancelFunc

	ended time.Time // guarded by heldTrials.mu; zero while it goes on

	mu    sync.Mutex
	state Trial

	changes  int        // of the state, guarded by mu
	sharing  sync.Mutex // held while the state is written for other servers
	shared   int        // changes that are written, guarded by sharing
	sharedAt time.Time  // guarded by sharing
}

// now returns the trial as it is.
func (t *heldTrial) now() Trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// change changes the state.
func (t *heldTrial) change(f func(*Trial)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.state)
	t.changes++
}

// heldTrials are the trials that go on, or have ended lately. It is safe for concurrent
// use.
type heldTrials struct {
	mu   sync.Mutex
	byID map[string]*heldTrial
}

func newHeldTrials() *heldTrials { return &heldTrials{byID: map[string]*heldTrial{}} }

// begin holds a new trial, or returns why there is no room for it.
func (h *heldTrials) begin(t *heldTrial) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var first, ownFirst *heldTrial // to end
	running, own, ownEnded := 0, 0, 0
	for id, other := range h.byID {
		switch {
		case other.ended.IsZero():
			if running++; other.key.ID == t.key.ID {
				own++
			}
		case time.Since(other.ended) >= keepTrial:
			delete(h.byID, id)
		default:
			first = earlier(first, other)
			if other.key.ID == t.key.ID {
				ownEnded++
				ownFirst = earlier(ownFirst, other)
			}
		}
	}
	if running >= maxTrialRuns || own >= maxKeyTrials {
		return problem(codeBusy, "other trials are under way; wait for one to end, or cancel it").after(5 * time.Second)
	}
	switch { // a key makes room for its own trials first
	case ownEnded >= maxKeyEnded || len(h.byID) >= maxTrials && ownFirst != nil:
		delete(h.byID, ownFirst.id)
	case len(h.byID) >= maxTrials && first != nil:
		delete(h.byID, first.id)
	}
	h.byID[t.id] = t
	return nil
}

// earlier returns the trial that ended first. a may be nil.
func earlier(a, b *heldTrial) *heldTrial {
	if a == nil || b.ended.Before(a.ended) {
		return b
	}
	return a
}

// get returns a trial, nil if it is not held.
func (h *heldTrials) get(id string) *heldTrial {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.byID[id]
	if t != nil && !t.ended.IsZero() && time.Since(t.ended) >= keepTrial {
		delete(h.byID, id)
		return nil
	}
	return t
}

// busy reports whether trials are under way.
func (h *heldTrials) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.byID {
		if t.ended.IsZero() {
			return true
		}
	}
	return false
}

// all returns the trials.
func (h *heldTrials) all() (list []*heldTrial) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.byID {
		list = append(list, t)
	}
	return list
}

// end says that a trial is over.
func (h *heldTrials) end(t *heldTrial) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.ended = time.Now()
}
