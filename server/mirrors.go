package server

import (
	"context"
	"sync"
	"time"
)

// mirrors are the evaluations of other servers whose events clients of this one follow: they
// are read once, however many follow. It is safe for concurrent use.
type mirrors struct {
	most int64 // bytes

	mu    sync.Mutex
	of    map[string]*mirror
	total int64
}

// mirror is an evaluation that clients follow.
type mirror struct {
	e         *heldEvaluation
	followers int
	size      int64
	read      chan struct{} // closed once its events were read for the first time
	stop      context.CancelFunc
}

const (
	// mirrorEvery is how often the events of another server are read.
	mirrorEvery = 250 * time.Millisecond
	// mirrorLook is every how many times this server looks whether the other one is alive.
	mirrorLook = 8
)

// mirror returns an evaluation of another server with its events so far. They go on until
// leave is called.
func (s *Server) mirror(ctx context.Context, e *heldEvaluation) (held *heldEvaluation, leave func(), err error) {
	m := s.mirrors.enter(s, e)
	leave = func() { s.mirrors.leave(m) }
	select {
	case <-m.read:
		return m.e, leave, nil
	case <-ctx.Done():
		leave()
		return nil, nil, context.Cause(ctx)
	}
}

// enter counts a client that follows an evaluation.
func (x *mirrors) enter(s *Server, e *heldEvaluation) *mirror {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.of[e.id]
	if m == nil {
		ctx, stop := context.WithCancel(context.Background())
		m = &mirror{e: e, read: make(chan struct{}), stop: stop}
		e.held = newHeldEvaluations(0) // it counts here
		x.of[e.id] = m
		go m.follow(ctx, s)
	}
	m.followers++
	return m
}

// leave ends what no client follows.
func (x *mirrors) leave(m *mirror) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if m.followers--; m.followers == 0 {
		m.stop()
		x.total -= m.size
		if x.of[m.e.id] == m {
			delete(x.of, m.e.id)
		}
	}
}

// grow counts bytes of an evaluation. If all take too much, its streams end, and the clients
// come back later.
func (x *mirrors) grow(e *heldEvaluation, n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.of[e.id]
	if m == nil || m.e != e {
		return
	}
	m.size += int64(n)
	if x.total += int64(n); x.total > x.most {
		delete(x.of, e.id)
		e.finish()
		m.stop()
	}
}

// follow reads the events of an evaluation until it has ended, or ctx ends.
func (m *mirror) follow(ctx context.Context, s *Server) {
	tick := time.NewTicker(mirrorEvery)
	defer tick.Stop()
	defer m.stop()
	first := sync.OnceFunc(func() { close(m.read) })
	defer first()
	for n := 0; ; n++ {
		if err := s.readShared(ctx, m.e, n%mirrorLook == 0); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("read the events of another server", "evaluation", m.e.id, "error", err)
		}
		first()
		if m.e.isClosed() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
