package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/store"
)

// Kinds of items that servers on one store share.
const (
	sharedServer     = "server"            // by server id; exists while the server is alive
	sharedSession    = "session"           // by the hash of its cookie, grouped by key
	sharedToken      = "panel token"       // by the hash of its text, grouped by key
	sharedEvaluation = "evaluation"        // a streamed evaluation, by its id
	sharedOutput     = "evaluation output" // by the id of the evaluation
	sharedEvents     = "evaluation events" // grouped by evaluation
	sharedTrial      = "trial"             // by trial id
	sharedCancel     = "cancel"            // by the id of the work to cancel, grouped by the server that runs it
)

const (
	serverID = "server_"
	// aliveLife is how long a server counts as alive after a heartbeat, in multiples of
	// [Options.AliveEvery].
	aliveLife = 3
	// maxPeers limits the number of servers that are counted.
	maxPeers = 1000
)

// peers are the servers on one store, and what this one shares with them. It is safe for
// concurrent use.
type peers struct {
	id    string
	store store.Store
	every time.Duration
	shown shownServer
	rates []*rates // rate limits that the servers share

	mu     sync.Mutex
	steady time.Time // since when this server has reached the store; zero while it cannot
}

// newPeers returns the servers on a store, or nil if only one server can use it, whose memory
// is enough.
func newPeers(s store.Store, every time.Duration) *peers {
	if !s.Several() {
		return nil
	}
	return &peers{id: store.NewID(serverID, time.Now()), store: s, every: every}
}

// put shares a value as JSON.
func (p *peers) put(ctx context.Context, kind, name, group string, life time.Duration, v any) error {
	item, err := sharedItem(kind, name, group, life, v)
	if err != nil {
		return err
	}
	return p.store.PutShared(ctx, item)
}

// sharedItem returns an item with a value as JSON.
func sharedItem(kind, name, group string, life time.Duration, v any) (store.SharedItem, error) {
	content, err := json.Marshal(v)
	return store.SharedItem{Kind: kind, Name: name, Group: group, Life: max(life, time.Microsecond), Content: content}, err
}

// get reads a value into v, and returns false if there is none.
func (p *peers) get(ctx context.Context, kind, name string, v any) (bool, error) {
	item, err := p.store.GetShared(ctx, kind, name)
	if item == nil || err != nil {
		return false, err
	}
	return true, json.Unmarshal(item.Content, v)
}

// stay sends heartbeats to the other servers, and counts those, until ctx ends.
func (p *peers) stay(ctx context.Context, s *Server) {
	if p == nil {
		return
	}
	for {
		pause := p.every
		err := p.beat(ctx)
		if err != nil && ctx.Err() == nil {
			s.o.Log.Warn("renew this server's heartbeat", "error", err)
			pause = p.every / 10
		}
		p.reached(err == nil, time.Now())
		if transport.Wait(ctx, pause) != nil {
			return
		}
	}
}

// reached records whether the store can be reached.
func (p *peers) reached(is bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !is:
		p.steady = time.Time{}
	case p.steady.IsZero():
		p.steady = now
	}
}

// beat sends one heartbeat. Until it has counted the servers, shares of rates stay as they
// were.
func (p *peers) beat(ctx context.Context) error {
	if err := p.put(ctx, sharedServer, p.id, "", aliveLife*p.every, p.shown); err != nil {
		return err
	}
	servers, err := p.store.ListShared(ctx, sharedServer, "", "", maxPeers)
	if err != nil {
		return err
	}
	for _, r := range p.rates {
		r.share(len(servers))
	}
	return nil
}

// leave shares the final state of this server's work with other servers.
func (s *Server) leave(ctx context.Context) error {
	if s.peers == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cutOffTimeout)
	defer cancel()
	return errors.Join(s.shareEvaluations(ctx), s.shareTrials(ctx), s.peers.store.DeleteShared(ctx, sharedServer, s.peers.id))
}

// alive reports whether a server is alive. A server counts as dead only after this one has
// reached the store for a while, because no server can send heartbeats while the store is
// unavailable.
func (p *peers) alive(ctx context.Context, server string) bool {
	p.mu.Lock()
	since := p.steady
	p.mu.Unlock()
	if since.IsZero() || time.Since(since) < 2*p.every {
		return true
	}
	item, err := p.store.GetShared(ctx, sharedServer, server)
	return item != nil || err != nil
}

// cancel asks a server to cancel some of its work.
func (p *peers) cancel(ctx context.Context, server, id string) error {
	return p.put(ctx, sharedCancel, id, server, time.Hour, struct{}{})
}

// follow cancels work on this server as other servers request.
func (s *Server) follow(ctx context.Context) error {
	if s.peers == nil || !s.evaluations.busy() && !s.trials.busy() {
		return nil
	}
	items, err := s.peers.store.ListShared(ctx, sharedCancel, s.peers.id, "", store.MaxPage)
	if err != nil || len(items) == 0 {
		return err
	}
	var ids []string
	for _, item := range items {
		id := item.Name
		ids = append(ids, id)
		if e := s.evaluations.get(id, time.Now()); e != nil {
			e.cancel(errCancelled)
		}
		if t := s.trials.get(id); t != nil {
			t.cancel()
		}
	}
	return s.peers.store.DeleteShared(ctx, sharedCancel, ids...)
}

// A process with --replay answers from a recording. It takes only runs of servers that replay,
// and these runs go to no other process. So clients that expect model answers never get
// recorded ones, or the other way around. A fleet may contain both kinds, and warns of it.

// shownServer is what servers publish of themselves.
type shownServer struct {
	Replays bool `json:"replays,omitempty"`
}

// replays reports whether this process answers from a recording.
func (s *Server) replays() bool {
	runner, ok := s.o.Runner.(capable)
	return ok && runner.Only() == needsReplay
}

// mixed counts the other servers and processes whose replaying differs from this one.
func (s *Server) mixed(ctx context.Context) (n int, err error) {
	if s.peers == nil {
		return 0, nil
	}
	living, err := s.o.Store.Processes(ctx)
	if err != nil {
		return 0, err
	}
	for i := range living {
		if (living[i].Only == needsReplay) != s.replays() {
			n++
		}
	}
	servers, err := s.o.Store.ListShared(ctx, sharedServer, "", "", maxPeers)
	for _, item := range servers {
		var shown shownServer
		if json.Unmarshal(item.Content, &shown) == nil && shown.Replays != s.replays() {
			n++
		}
	}
	return n, err
}

// tellMixed logs when other processes replay and this one does not, or the other way around,
// and when that ends. It runs until ctx ends.
func (s *Server) tellMixed(ctx context.Context) {
	if s.replays() {
		s.o.Log.Warn("this process replays recorded answers: it takes runs only of servers with --replay, and asks no model")
	}
	if s.peers == nil {
		return
	}
	told := false
	every(ctx, nil, s.o.AliveEvery, func(time.Time) {
		n, err := s.mixed(ctx)
		switch {
		case err != nil || (n > 0) == told:
		case n == 0:
			s.o.Log.Info("all processes now agree on --replay")
		case s.replays():
			s.o.Log.Warn("other processes on the database ask models, and this one replays: neither takes the runs of the other", "others", n)
		default:
			s.o.Log.Warn("other processes on the database replay recorded answers, and this one does not: neither takes the runs of the other", "others", n)
		}
		if err == nil {
			told = n > 0
		}
	})
}
