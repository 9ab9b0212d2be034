package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// sharedTrialState is what servers on one store know of a trial that one of them runs.
type sharedTrialState struct {
	Server  string          `json:"server"` // that runs it
	Project store.Project   `json:"project"`
	Key     string          `json:"key"`
	Status  string          `json:"status"`
	Done    int             `json:"done"`
	Trial   json.RawMessage `json:"trial"` // as clients see it
}

const (
	// trialPace is the least time between two states of a trial that goes on.
	trialPace = time.Second
	// trialAgain is when a state is written again that has not changed, so that it does not
	// expire.
	trialAgain = keepTrial / 4
)

// shareTrials writes for other servers what is new of trials.
func (s *Server) shareTrials(ctx context.Context) error {
	var errs []error
	for _, t := range s.trials.all() {
		errs = append(errs, s.shareTrial(ctx, t, time.Now()))
	}
	return errors.Join(errs...)
}

// shareTrial writes the state of a trial if it is time.
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
	item.Seal = true // it has texts of judges
	if err := s.peers.store.PutShared(ctx, item); err != nil {
		return err
	}
	t.shared, t.sharedAt = changes, now
	return nil
}

// seenTrialState is a trial as a client sees it.
type seenTrialState struct {
	id     string
	key    string // that started it
	server string // that runs it; "" is this one
	status string
	done   int
	trial  any // a [Trial], or its JSON
}

// seenTrial returns the trial that the address names as it is now, if a server knows it and
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

// failedTrial is the JSON of a trial whose server was killed.
func failedTrial(trial json.RawMessage) (json.RawMessage, error) {
	fields := map[string]any{}
	if err := json.Unmarshal(trial, &fields); err != nil {
		return nil, err
	}
	fields["status"], fields["error"] = trialFailed, "the server that ran it has ended; start it again"
	return json.Marshal(fields)
}
