package server

import (
	"context"
	"encoding/json"
	"time"
)

// A process with --replay answers from a recording. It takes only runs of servers that replay,
// and these go to no other process, so that nobody gets recorded answers who expects those of
// models, or the other way around. A fleet may hold both, and says so.

// shownServer is what servers tell each other of themselves.
type shownServer struct {
	Replays bool `json:"replays,omitempty"`
}

// replays reports whether this process answers from a recording.
func (s *Server) replays() bool {
	runner, ok := s.o.Runner.(capable)
	return ok && runner.Only() == needsReplay
}

// mixed counts the other servers and processes that replay if this one does not, and those that
// do not if this one does.
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

// tellMixed logs when others replay and this process does not, or the other way around, and
// when that ends, until ctx ends.
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
