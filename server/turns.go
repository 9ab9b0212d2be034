package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/store"
)

// defaultCPUBudget is the default CPU budget of a request.
const defaultCPUBudget = 2 * time.Second

// overBudget is the error of a request that exceeds its CPU budget.
func overBudget(budget time.Duration) error {
	return proviso.Errorf(proviso.Limit, "the request computes for more than %v; --cpu-budget sets the limit", budget)
}

// task calls handle and counts its CPU time for the request's key. A request that waits for
// models takes turns only where it computes; any other request holds a turn throughout, so that
// reading its body counts.
func (s *Server) task(c *call, handle func() error) error {
	whole := c.r
	ctx, task := s.turns.Begin(whole.Context(), c.key.ID, s.o.CPUBudget, s.over)
	defer func() {
		task.End()
		c.r = whole // its context ends when the client disconnects
	}()
	if !c.route.Asks {
		turn, done, err := turns.Enter(ctx)
		if err != nil {
			return err
		}
		defer done()
		ctx = turn
	}
	c.r = whole.WithContext(ctx)
	err := handle()
	if over := task.Err(); err != nil && over != nil {
		return c.tooMuch(over)
	}
	return err
}

// tooMuch is the error of a request that exceeds its CPU budget. For most requests a retry
// would fail, too. Events are different: their time depends on the load of the machine, and
// clients drop events that are refused permanently.
func (c *call) tooMuch(over error) error {
	if c.route.Scope != store.Ingest && !slices.Contains(c.route.Also, store.Ingest) {
		return over
	}
	return problem(codeBusy, "reading the events took longer than a request may compute; nothing of it was stored: send fewer events at once, or later").after(admitAgainIn).because(over)
}

// compute calls f while holding a turn.
func (c *call) compute(f func() error) error {
	_, done, err := turns.Enter(c.r.Context())
	if err != nil {
		return err
	}
	defer done()
	return f()
}

// unlimited removes the CPU budget of a request until end is called. The request must bound its
// work by its counts.
func (s *Server) unlimited(c *call) (end func()) {
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	c.r = c.r.WithContext(ctx)
	return task.End
}

// withTurns counts the CPU time of a run for its key. A run has no CPU budget: its rows and its
// time limit bound it.
func (s *Server) withTurns(ctx context.Context, key string) (context.Context, *turns.Task) {
	return s.turns.Begin(ctx, key, 0, nil)
}

// clock measures how long a request waits for its client to send the body and for models to
// answer. Overlapping waits count once. It is safe for concurrent use.
type clock struct {
	mu      sync.Mutex
	waiting int
	since   time.Time
	waited  time.Duration
}

type clockKey struct{}

// withClock returns a context in which c measures model calls.
func withClock(ctx context.Context, c *clock) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

func (c *clock) begin() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == 0 {
		c.since = time.Now()
	}
	c.waiting++
}

func (c *clock) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting--; c.waiting == 0 {
		c.waited += time.Since(c.since)
	}
}

// total returns the time waited so far.
func (c *clock) total() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting > 0 {
		return c.waited + time.Since(c.since)
	}
	return c.waited
}

// Waiting returns a round tripper that counts the time until a response is read or closed as
// waiting time in the metrics of its request. It goes below everything that calls models.
func Waiting(next http.RoundTripper) http.RoundTripper { return waitingTripper{next} }

type waitingTripper struct{ next http.RoundTripper }

// RoundTrip makes one request.
func (t waitingTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	c, _ := req.Context().Value(clockKey{}).(*clock)
	if c == nil {
		return t.next.RoundTrip(req)
	}
	c.begin()
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		c.end()
		return nil, err
	}
	resp.Body = &waitingBody{ReadCloser: resp.Body, clock: c}
	return resp, nil
}

// waitingBody ends the wait with its last byte.
type waitingBody struct {
	io.ReadCloser
	clock *clock
	once  sync.Once
}

func (b *waitingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && errors.Is(err, io.EOF) {
		b.once.Do(b.clock.end)
	}
	return n, err
}

func (b *waitingBody) Close() error {
	b.once.Do(b.clock.end)
	return b.ReadCloser.Close()
}
