// Package throttle decides when the next request to a model endpoint may be sent. It applies the
// number of requests in flight, the configured rates, the limits that the endpoint reports, and
// this process's share where several processes use the endpoint. Start at [Limits.Gate].
package throttle

import (
	"context"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/permit"
)

// Limits holds what is known about endpoints: how many concurrent requests each can take, its rate,
// and whether it can be reached at all. Providers opened with the same Limits share it. The zero
// value is ready to use. It is safe for concurrent use.
type Limits struct {
	// Shared coordinates the rates with other processes; nil shares nothing.
	Shared SharedRates

	mu    sync.Mutex
	gates map[string]*Gate
}

// SharedRates limits how often several processes, together, send requests to an endpoint. It is
// safe for concurrent use.
type SharedRates interface {
	// Share reports this process's requests to an endpoint, and returns what it may send next. The
	// endpoint name is a hash.
	Share(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error)
	// Alone reports that Share fails, or, with a nil error, that it succeeds again. In between, the
	// process sends requests at the rate of its last share, in requests per second; 0 means no
	// limit.
	Alone(err error, share float64)
}

// Gate returns the gate of an endpoint: most is the number of requests that may be in flight; rpm
// and tpm are requests and tokens per minute, where 0 means no limit. The lowest rates among the
// endpoint's providers apply.
func (l *Limits) Gate(key string, most int, rpm, tpm float64) *Gate {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok := l.gates[key]
	if !ok {
		if l.gates == nil {
			l.gates = map[string]*Gate{}
		}
		g = &Gate{most: most, limit: float64(most), rates: newRates(l.Shared, key)}
		l.gates[key] = g
	}
	g.rates.lower(rpm, tpm)
	return g
}

// Gate admits the requests to one endpoint. The limit of requests in flight starts at the maximum
// and then adapts as in TCP congestion control: an overload error halves it, at most once for all
// requests that were in flight together, and each window of successes adds one (additive increase,
// multiplicative decrease; Chiu and Jain, 1989). If latency grows several times, the limit falls by
// a quarter. Rate limit errors lower the rate instead.
type Gate struct {
	rates *rates

	mu       sync.Mutex
	most     int
	limit    float64
	inFlight int
	queue    []chan struct{} // first come, first served
	cut      time.Time       // last reduction of the limit
	window   window
	answered bool // the endpoint has responded at least once
	stopped  error
}

// Clock is the clock that requests wait by.
type Clock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Enter waits until a request of about this many tokens may be sent. After it succeeds, the caller
// must call [Gate.Leave].
func (g *Gate) Enter(ctx context.Context, clock Clock, tokens float64) (Ticket, error) {
	if err := g.Err(); err != nil {
		return Ticket{}, err
	}
	if err := g.place(ctx); err != nil {
		return Ticket{}, err
	}
	t, err := g.rates.pass(ctx, clock, tokens)
	if err == nil {
		err = g.Err()
	}
	if err != nil {
		g.Leave()
	}
	return t, err
}

// Answer is an endpoint's answer to a request.
type Answer struct {
	Accepted   bool          // the request succeeded
	Heard      bool          // the endpoint responded at all
	Limited    bool          // the endpoint refused the request because of its rate
	Overloaded bool          // the endpoint refused the request because of its rate or its load
	After      time.Duration // how long the endpoint wants no requests; 0 if it did not say
	Patience   time.Duration // the longest that a request waits
}

// Note records the answer to a request that was sent at start.
func (g *Gate) Note(ctx context.Context, clock Clock, t *Ticket, start time.Time, a Answer) {
	end := clock.Now()
	t.report.Accepted = !a.Limited
	explained := g.rates.tell(ctx, clock.Now, t, start)
	if !t.reports() && (a.Accepted || a.Limited && a.After <= 0) {
		g.rates.answered(start, a.Accepted)
	}
	switch {
	case a.Accepted:
		g.succeeded(start, end, end.Sub(start))
	case !a.Heard:
	case a.Overloaded:
		if explained || a.Limited && g.rates.refused(ctx, clock.Now, t.epoch) {
			g.heard() // all processes slow down together, or wait until the limit is available again
		} else {
			g.refused(start, end)
		}
		if a.After > 0 && a.After <= a.Patience { // no request waits longer than this
			g.rates.hold(ctx, clock.Now, a.After)
		}
	default:
		g.heard()
	}
}

// place waits for a slot among the requests in flight.
func (g *Gate) place(ctx context.Context) error {
	g.mu.Lock()
	if len(g.queue) == 0 && g.inFlight < int(g.limit) {
		g.inFlight++
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.queue = append(g.queue, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, t := range g.queue {
		if t == turn {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			return ctx.Err()
		}
	}
	g.inFlight-- // the turn came as ctx ended
	g.admit()
	return ctx.Err()
}

// Leave releases the slot taken by [Gate.Enter].
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	g.admit()
}

// admit admits waiting requests while there are free slots. The caller holds the lock.
func (g *Gate) admit() {
	for len(g.queue) > 0 && g.inFlight < int(g.limit) {
		close(g.queue[0])
		g.queue = g.queue[1:]
		g.inFlight++
	}
}

// Settle corrects a request's estimated tokens to the tokens actually used.
func (g *Gate) Settle(estimate, used float64) { g.rates.settle(estimate, used) }

// refused records that the endpoint rejected a request that started at start.
func (g *Gate) refused(start, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answered = true
	g.shrink(start, now, 0.5)
}

// succeeded records a request that succeeded after the time took.
func (g *Gate) succeeded(start, now time.Time, took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answered = true
	if g.window.add(took, int(g.limit)) {
		g.shrink(start, now, 0.75)
	} else if g.limit < float64(g.most) {
		g.limit = min(g.limit+1/g.limit, float64(g.most))
		g.admit()
	}
}

// shrink lowers the limit, unless it was lowered after start: requests that were in flight together
// report the same congestion.
func (g *Gate) shrink(start, now time.Time, by float64) {
	if start.Before(g.cut) {
		return
	}
	g.cut = now
	g.limit = max(1, g.limit*by)
}

// heard records that the endpoint has responded.
func (g *Gate) heard() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answered = true
}

// Silent reports whether the endpoint has never responded.
func (g *Gate) Silent() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.answered
}

// Stop rejects all further requests. It returns the error that each of them gets: that of the first
// call of Stop.
func (g *Gate) Stop(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped == nil {
		g.stopped = err
	}
	return g.stopped
}

// Err is the reason why the endpoint was stopped, or nil.
func (g *Gate) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stopped
}
