package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/store"
)

// sharedState is what servers on one store know of an evaluation that one of them streams,
// beside its output and its events.
type sharedState struct {
	Server  string        `json:"server"` // server that evaluates
	Project store.Project `json:"project"`
	Key     string        `json:"key"`
	Created time.Time     `json:"created"`
	Ended   time.Time     `json:"ended,omitzero"` // when the last event was written
}

const (
	// shareEvery is the minimum interval at which changes are written for other servers.
	shareEvery = 200 * time.Millisecond
	// shareBytes is the approximate size of one transaction.
	shareBytes = 4 << 20
	// slack is how long shared items outlive their evaluation.
	slack = 5 * time.Minute
)

// unshared are the evaluations with changes that other servers do not know yet. It is safe for
// concurrent use.
type unshared struct {
	writing sync.Mutex // held while the taken changes are written

	mu      sync.Mutex
	list    map[*heldEvaluation]bool
	dropped []string // ids of shared evaluations that were dropped
}

// add records that an evaluation has changed.
func (u *unshared) add(e *heldEvaluation) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list[e] = true
}

// drop records that an evaluation was dropped.
func (u *unshared) drop(e *heldEvaluation) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.list, e)
	u.dropped = append(u.dropped, e.id)
}

// take returns the changes, which the caller must write.
func (u *unshared) take() (list []*heldEvaluation, dropped []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for e := range u.list {
		list = append(list, e)
	}
	clear(u.list)
	dropped, u.dropped = u.dropped, nil
	return list, dropped
}

// announce shares an evaluation with other servers for the first time, before a client knows
// its id.
func (s *Server) announce(ctx context.Context, e *heldEvaluation) {
	if s.peers == nil {
		return
	}
	e.sharing.Lock()
	e.announced = true
	e.sharing.Unlock()
	if err := s.share(ctx, []*heldEvaluation{e}); err != nil {
		s.o.Log.Warn("share an evaluation with other servers", "evaluation", e.id, "error", err)
	}
}

// shareAll writes changes for other servers, until ctx ends.
func (s *Server) shareAll(ctx context.Context) {
	if s.peers == nil {
		return
	}
	failing := false
	every(ctx, nil, shareEvery, func(time.Time) {
		err := errors.Join(s.shareEvaluations(ctx), s.shareTrials(ctx))
		if err != nil && !failing && ctx.Err() == nil {
			s.o.Log.Warn("share evaluations with other servers", "error", err)
		}
		failing = err != nil
	})
}

// shareEvaluations writes changes of evaluations.
func (s *Server) shareEvaluations(ctx context.Context) error {
	s.evaluations.unshared.writing.Lock()
	defer s.evaluations.unshared.writing.Unlock()
	list, dropped := s.evaluations.unshared.take()
	var errs []error
	if err := s.share(ctx, list); err != nil {
		errs = append(errs, err)
		for _, e := range list {
			s.evaluations.unshared.add(e)
		}
	}
	for _, id := range dropped {
		errs = append(errs, s.peers.store.DeleteSharedGroup(ctx, sharedEvents, id))
	}
	if len(dropped) > 0 {
		errs = append(errs, s.peers.store.DeleteShared(ctx, sharedEvaluation, dropped...), s.peers.store.DeleteShared(ctx, sharedOutput, dropped...))
	}
	return errors.Join(errs...)
}

// share writes what other servers do not know of the evaluations.
func (s *Server) share(ctx context.Context, list []*heldEvaluation) error {
	var items []store.SharedItem
	var wrote []func()
	size := 0
	write := func() error {
		if len(items) == 0 {
			return nil
		}
		err := s.peers.store.PutShared(ctx, items...)
		if err == nil {
			for _, f := range wrote {
				f()
			}
		}
		items, wrote, size = nil, nil, 0
		return err
	}
	for _, e := range list {
		e.sharing.Lock()
		defer e.sharing.Unlock()
		more, done, err := s.newOf(e)
		if err != nil {
			return err
		}
		if len(more) == 0 {
			continue
		}
		items, wrote = append(items, more...), append(wrote, done)
		for i := range more {
			size += len(more[i].Content)
		}
		if size > shareBytes {
			if err := write(); err != nil {
				return err
			}
		}
	}
	return write()
}

// newOf returns what other servers do not know of an evaluation, and a function to call once
// that is written. The caller holds e.sharing. A retry after an error writes the same items,
// because the first write may have succeeded.
func (s *Server) newOf(e *heldEvaluation) (items []store.SharedItem, done func(), err error) {
	if !e.announced || e.sharedEnd {
		return nil, nil, nil
	}
	ended, dropped := s.evaluations.stateOf(e)
	if dropped {
		return nil, nil, nil
	}
	e.mu.Lock()
	if e.trying == e.shared {
		for size := 0; size < shareBytes && e.trying < len(e.events); e.trying++ {
			size += len(e.events[e.trying])
		}
	}
	events := e.events[e.shared:e.trying]
	all := e.trying == len(e.events)
	closed := e.closed && !ended.IsZero() && all
	e.mu.Unlock()
	life := s.o.EvaluateLimit + e.keep + slack
	if e.shared == 0 {
		items = append(items, store.SharedItem{Kind: sharedOutput, Name: e.id, Content: []byte(e.output), Seal: true, Life: life})
	}
	if len(events) > 0 {
		items = append(items, store.SharedItem{Kind: sharedEvents, Name: eventsName(e.id, e.shared), Group: e.id, Content: bytes.Join(events, nil), Seal: true, Life: life})
	}
	if e.shared == 0 || closed {
		state := sharedState{Server: s.peers.id, Project: e.project, Key: e.key.ID, Created: e.created}
		if closed {
			life, state.Ended = e.keep, ended
		}
		item, err := sharedItem(sharedEvaluation, e.id, "", life, state)
		if err != nil {
			return nil, nil, err
		}
		items = append(items, item)
	}
	return items, func() {
		e.shared, e.sharedEnd = e.trying, closed
		if !all {
			s.evaluations.unshared.add(e)
		}
	}, nil
}

// eventsName returns the name of an item with events of an evaluation; first is the number of
// its first event.
func eventsName(id string, first int) string { return fmt.Sprintf("%s/%09d", id, first) }

// elsewhere returns an evaluation that another server streams, without its output and its
// events, or nil.
func (s *Server) elsewhere(ctx context.Context, id string) (*heldEvaluation, error) {
	state, err := s.stateElsewhere(ctx, id)
	if state == nil || err != nil {
		return nil, err
	}
	return &heldEvaluation{id: id, project: state.Project, key: store.Key{ID: state.Key}, server: state.Server, created: state.Created, ended: state.Ended,
		lost: state.Ended.IsZero() && !s.peers.alive(ctx, state.Server), changed: make(chan struct{})}, nil
}

// stateElsewhere returns the state of an evaluation that another server streams, or nil.
func (s *Server) stateElsewhere(ctx context.Context, id string) (*sharedState, error) {
	if s.peers == nil || !strings.HasPrefix(id, store.EvaluationID) {
		return nil, nil
	}
	var state sharedState
	found, err := s.peers.get(ctx, sharedEvaluation, id, &state)
	if !found || err != nil || state.Server == s.peers.id { // this server dropped it
		return nil, err
	}
	return &state, nil
}

// readOutput reads the output of an evaluation that another server streams.
func (s *Server) readOutput(ctx context.Context, e *heldEvaluation) error {
	if e.server == "" {
		return nil
	}
	item, err := s.peers.store.GetShared(ctx, sharedOutput, e.id)
	if item != nil {
		e.output = string(item.Content)
	}
	return err
}

// errLost is the error of an evaluation whose server was killed.
var errLost = proviso.Errorf(proviso.Unavailable, "the server that evaluated this has ended; send the request again")

// readShared adds the events that another server has written since the last call. With look, it
// also checks whether that server is alive.
func (s *Server) readShared(ctx context.Context, e *heldEvaluation, look bool) error {
	state, err := s.stateElsewhere(ctx, e.id) // read before the events, so that these are complete if the state has ended
	if err != nil {
		return err
	}
	for state != nil {
		n, err := s.readSharedEvents(ctx, e)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	switch {
	case state == nil, !state.Ended.IsZero():
		e.finish()
	case look && !s.peers.alive(ctx, state.Server):
		e.lose()
	}
	return nil
}

// readSharedEvents adds up to 100 items of events, and returns how many.
func (s *Server) readSharedEvents(ctx context.Context, e *heldEvaluation) (int, error) {
	e.mu.Lock()
	next := len(e.events)
	e.mu.Unlock()
	items, err := s.peers.store.ListShared(ctx, sharedEvents, e.id, eventsName(e.id, next-1), 100)
	if err != nil {
		return 0, err
	}
	for _, item := range items {
		if item.Name != eventsName(e.id, next) {
			return 0, proviso.Errorf(proviso.Internal, "events of the evaluation %s are missing", e.id)
		}
		list := bytes.SplitAfter(item.Content, []byte("\n\n"))
		list = list[:len(list)-1]
		next += len(list)
		s.mirrors.grow(e, len(item.Content))
		e.mu.Lock()
		e.events = append(e.events, list...)
		e.news()
		e.mu.Unlock()
	}
	return len(items), nil
}

// lose ends an evaluation whose server was killed.
func (e *heldEvaluation) lose() {
	e.add("end", StreamEnd{Response: &judge.Response{Status: proviso.Errored.String(), Errors: []judge.Failed{{Message: errLost.Error()}}}})
	e.finish()
}
