package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
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
	keepTrial    = time.Hour // after the end of the trial
	maxTrials    = 100       // those that ended first are dropped
	maxTrialRuns = 8         // running at a time
	maxKeyTrials = 2         // running for one key
	maxKeyEnded  = 20        // ended trials of one key
)

// heldTrial is a trial in memory. It is safe for concurrent use.
type heldTrial struct {
	id      string
	project store.Project
	key     store.Key // key that started it
	cancel  context.CancelFunc

	ended time.Time // guarded by heldTrials.mu; zero while the trial is running

	mu    sync.Mutex
	state Trial

	changes  int        // number of state changes, guarded by mu
	sharing  sync.Mutex // held while the state is written for other servers
	shared   int        // number of written changes, guarded by sharing
	sharedAt time.Time  // guarded by sharing
}

// now returns a snapshot of the trial.
func (t *heldTrial) now() Trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// change changes the state with f.
func (t *heldTrial) change(f func(*Trial)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.state)
	t.changes++
}

// heldTrials are the trials that are running or have ended recently. It is safe for concurrent
// use.
type heldTrials struct {
	mu   sync.Mutex
	byID map[string]*heldTrial
}

func newHeldTrials() *heldTrials { return &heldTrials{byID: map[string]*heldTrial{}} }

// begin adds a new trial, or returns an error if there is no room.
func (h *heldTrials) begin(t *heldTrial) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var first, ownFirst *heldTrial // the first trials to end
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
		return problem(codeBusy, "other trials are in progress; wait for one to end, or cancel it").after(5 * time.Second)
	}
	switch { // a key drops its own trials first
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

// get returns a trial, or nil if it is not held.
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

// busy reports whether trials are running.
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

// end marks a trial as over.
func (h *heldTrials) end(t *heldTrial) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.ended = time.Now()
}

// sharedTrialState is what the servers on one store know of a trial that one of them runs.
type sharedTrialState struct {
	Server  string          `json:"server"` // server that runs the trial
	Project store.Project   `json:"project"`
	Key     string          `json:"key"`
	Status  string          `json:"status"`
	Done    int             `json:"done"`
	Trial   json.RawMessage `json:"trial"` // as clients see it
}

const (
	// trialPace is the minimum time between two written states of a running trial.
	trialPace = time.Second
	// trialAgain is the age at which an unchanged state is written again, so that it does not
	// expire.
	trialAgain = keepTrial / 4
)

// shareTrials writes new trial states for other servers.
func (s *Server) shareTrials(ctx context.Context) error {
	var errs []error
	for _, t := range s.trials.all() {
		errs = append(errs, s.shareTrial(ctx, t, time.Now()))
	}
	return errors.Join(errs...)
}

// shareTrial writes the state of a trial if it is due.
func (s *Server) shareTrial(ctx context.Context, t *heldTrial, now time.Time) error {
	t.sharing.Lock()
	defer t.sharing.Unlock()
	t.mu.Lock()
	state, changes := t.state, t.changes
	t.mu.Unlock()
	over := state.Status != trialRunning
	age := now.Sub(t.sharedAt)
	if changes == t.shared && (over || age < trialAgain) || !over && age < trialPace {
		return nil
	}
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	item, err := sharedItem(sharedTrial, t.id, "", keepTrial, sharedTrialState{s.peers.id, t.project, t.key.ID, state.Status, state.Done, data})
	if err != nil {
		return err
	}
	item.Seal = true // it contains judges' texts
	if err := s.peers.store.PutShared(ctx, item); err != nil {
		return err
	}
	t.shared, t.sharedAt = changes, now
	return nil
}

// seenTrialState is a trial as a client sees it.
type seenTrialState struct {
	id     string
	key    string // key that started it
	server string // server that runs it; "" means this one
	status string
	done   int
	trial  any // a [Trial], or its JSON
}

// seenTrial returns a snapshot of the trial that the address names, if a server knows it and
// the client may see it.
func (s *Server) seenTrial(c *call) (*seenTrialState, error) {
	ctx, id := c.r.Context(), c.r.PathValue("trial")
	none := proviso.Errorf(proviso.NotFound, "there is no trial %s; trials are held for an hour after their end, and until the only server stops", quotedShort(id))
	sees := func(project store.Project, key string) bool {
		return project == c.project && (seesAll(c.key) || key == c.key.ID)
	}
	if t := s.trials.get(id); t != nil {
		if !sees(t.project, t.key.ID) {
			return nil, none
		}
		now := t.now()
		return &seenTrialState{id: id, key: t.key.ID, status: now.Status, done: now.Done, trial: now}, nil
	}
	if s.peers == nil || !strings.HasPrefix(id, trialID) {
		return nil, none
	}
	var in sharedTrialState
	found, err := s.peers.get(ctx, sharedTrial, id, &in)
	if err != nil {
		return nil, err
	}
	if !found || in.Server == s.peers.id || !sees(in.Project, in.Key) {
		return nil, none
	}
	if in.Status == trialRunning && !s.peers.alive(ctx, in.Server) {
		in.Status = trialFailed
		in.Trial, err = failedTrial(in.Trial)
	}
	return &seenTrialState{id: id, key: in.Key, server: in.Server, status: in.Status, done: in.Done, trial: in.Trial}, err
}

// failedTrial returns the JSON of a trial whose server was killed.
func failedTrial(trial json.RawMessage) (json.RawMessage, error) {
	fields := map[string]any{}
	if err := json.Unmarshal(trial, &fields); err != nil {
		return nil, err
	}
	fields["status"], fields["error"] = trialFailed, "the server that ran it has ended; start it again"
	return json.Marshal(fields)
}
