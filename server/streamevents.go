package server

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// heldEvaluation returns the streamed evaluation that the address names, or nil if no server
// holds it or the key may not see it.
func (s *Server) heldEvaluation(c *call) (*heldEvaluation, error) {
	e, err := s.heldFor(c.r.Context(), c.project, c.r.PathValue("evaluation"))
	if e == nil || err != nil || !seesAll(c.key) && e.key.ID != c.key.ID {
		return nil, err
	}
	return e, nil
}

// heldFor returns a streamed evaluation of a project, or nil if no server holds it. An
// evaluation on another server has neither output nor events.
func (s *Server) heldFor(ctx context.Context, project store.Project, id string) (*heldEvaluation, error) {
	e := s.evaluations.get(id, time.Now())
	if e == nil {
		var err error
		if e, err = s.elsewhere(ctx, id); e == nil || err != nil {
			return nil, err
		}
	}
	if e.project != project {
		return nil, nil
	}
	return e, nil
}

func (s *Server) evaluationEvents(c *call) error {
	last := -1
	if id := c.r.Header.Get("Last-Event-ID"); id != "" {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 {
			return proviso.Errorf(proviso.Invalid, "Last-Event-ID is the number of an event of this stream, not %s", strconv.Quote(shortened(id)))
		}
		last = n
	}
	e, err := s.heldEvaluation(c)
	if err != nil {
		return err
	}
	if e == nil {
		if _, err := s.seenEvaluation(c); err != nil {
			return err
		}
		return problem(codeGone, "the events of this evaluation are no longer kept; its result is at /v1/evaluations/"+c.r.PathValue("evaluation"))
	}
	if e.server != "" {
		followed, leave, err := s.mirror(c.r.Context(), e)
		if err != nil {
			return err
		}
		defer leave()
		e = followed
	}
	if events, closed, _ := e.after(last); closed && len(events) == 0 {
		return c.sendResponse(store.Response{Status: http.StatusNoContent}) // tells browsers not to reconnect
	}
	leave, ok := s.tokens.enter(c.token)
	if !ok {
		return problem(codeBusy, strconv.Itoa(tokenStreams)+" event streams of this token are open").after(5 * time.Second)
	}
	defer leave()
	end, err := s.openStream(c)
	if err != nil {
		return err
	}
	defer end()
	if c.r.Method != http.MethodHead {
		s.streamEvaluation(c, e, last)
	}
	return nil
}

// streamEvaluation sends events until the last one, until the client has disconnected or may no
// longer see them, or until the server stops.
func (s *Server) streamEvaluation(c *call, e *heldEvaluation, last int) {
	w := &eventWriter{w: c.w, control: http.NewResponseController(c.w)}
	beat, poll := time.NewTicker(s.o.Heartbeat), time.NewTicker(s.o.Poll)
	defer beat.Stop()
	defer poll.Stop()
	if !w.write("retry: 2000\n\n") {
		return
	}
	expired := c.token.timer()
	defer expired.Stop()
	for !c.token.over(time.Now()) {
		events, closed, changed := e.after(last)
		last += len(events)
		if len(events) > 0 && !w.write(string(bytes.Join(events, nil))) || closed {
			return
		}
		for waiting := true; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-poll.C:
				if !s.stillOpen(c) {
					return
				}
			case <-beat.C:
				if !w.write(": still here\n\n") {
					return
				}
			case <-expired.C:
				return
			case <-c.r.Context().Done():
				return
			case <-s.quit:
				return
			}
		}
	}
}

// cancelEvaluation ends an evaluation. Decided verdicts stay.
func (s *Server) cancelEvaluation(c *call) error {
	e, err := s.heldEvaluation(c)
	if err != nil {
		return err
	}
	if e != nil && (e.key.ID == c.key.ID || c.key.Can(store.Admin)) {
		if e.server == "" {
			e.cancel(errCancelled)
		} else if err := s.peers.cancel(c.r.Context(), e.server, e.id); err != nil {
			return err
		}
	} else if _, err := s.seenEvaluation(c); err != nil {
		return err
	}
	return c.sendResponse(store.Response{Status: http.StatusNoContent})
}

// expireEvaluations drops expired evaluations, and ends those whose key was revoked.
func (s *Server) expireEvaluations(ctx context.Context) {
	every(ctx, nil, s.o.Poll, func(now time.Time) {
		if err := s.follow(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("read requests of other servers", "error", err)
		}
		revoked := map[string]bool{}
		for _, e := range s.evaluations.expire(now) {
			gone, known := revoked[e.key.ID]
			if !known {
				gone = s.revoked(ctx, e.key.ID)
				revoked[e.key.ID] = gone
			}
			if gone {
				e.cancel(proviso.Errorf(proviso.Refused, "cancelled: the key was revoked"))
			}
		}
	})
}

// mirrors are the evaluations of other servers that clients of this server follow. Their events
// are read once, however many clients follow. It is safe for concurrent use.
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
	read      chan struct{} // closed once its events have been read for the first time
	stop      context.CancelFunc
}

const (
	// mirrorEvery is the interval at which another server's events are read.
	mirrorEvery = 250 * time.Millisecond
	// mirrorLook is the number of reads between two checks that the other server is alive.
	mirrorLook = 8
)

// mirror returns an evaluation of another server with its events so far. Further events are
// added until leave is called.
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
		e.held = newHeldEvaluations(0) // the mirror counts its size
		x.of[e.id] = m
		go m.follow(ctx, s)
	}
	m.followers++
	return m
}

// leave ends a mirror without clients.
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

// grow adds n bytes to the size of an evaluation. If all mirrors together exceed the limit, the
// streams of this one end, and its clients reconnect later.
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

// follow reads the events of an evaluation until it ends, or ctx ends.
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
		if _, closed, _ := m.e.after(0); closed {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
