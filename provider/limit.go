package provider

import (
	"context"
	"math"
	"sync"
	"time"
)

// Limits holds what is learnt about endpoints: how many concurrent requests
// each can take, its rate, and whether it can be reached at all. Providers
// opened with the same Limits share it. The zero value is empty. It is safe for
// concurrent use.
type Limits struct {
	// Shared is what other processes know of the endpoints; nil shares nothing.
	Shared SharedRates

	mu    sync.Mutex
	gates map[string]*gate
}

// gate returns the gate of an endpoint. The lowest rates among the endpoint's
// providers apply.
func (l *Limits) gate(key string, most int, rpm, tpm float64) *gate {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok := l.gates[key]
	if !ok {
		if l.gates == nil {
			l.gates = map[string]*gate{}
		}
		g = &gate{most: most, limit: float64(most), throttle: newThrottle(l.Shared, key)}
		l.gates[key] = g
	}
	g.throttle.lower(rpm, tpm)
	return g
}

// gate admits the requests to one endpoint. The number of requests in flight
// starts at the maximum and then adapts as in TCP congestion control: an error
// of an overloaded endpoint halves it, at most once for all requests that were
// in flight together, and each window of successes adds one (additive increase,
// multiplicative decrease; Chiu and Jain, 1989). Answers that become several
// times slower reduce it by a quarter. Errors of a rate limit slow down the
// throttle instead.
type gate struct {
	throttle *throttle

	mu       sync.Mutex
	most     int
	limit    float64
	inFlight int
	queue    []chan struct{} // first come, first served

	cut      time.Time // last reduction of the limit
	window   window
	answered bool // the endpoint has responded at least once
	stopped  error
}

// enter waits for a place among the requests in flight.
func (g *gate) enter(ctx context.Context) error {
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

// leave releases the place.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	g.admit()
}

// admit admits waiting requests while there are free places.
func (g *gate) admit() {
	for len(g.queue) > 0 && g.inFlight < int(g.limit) {
		close(g.queue[0])
		g.queue = g.queue[1:]
		g.inFlight++
	}
}

// refused records that the endpoint rejected a request that started at start.
func (g *gate) refused(start, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answered = true
	g.shrink(start, now, 0.5)
}

// succeeded records that a request that took that long succeeded.
func (g *gate) succeeded(start, now time.Time, took time.Duration) {
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

// shrink lowers the limit unless it was lowered since start: requests that were
// in flight together report the same congestion.
func (g *gate) shrink(start, now time.Time, by float64) {
	if start.Before(g.cut) {
		return
	}
	g.cut = now
	g.limit = max(1, g.limit*by)
}

// heard records that the endpoint has responded.
func (g *gate) heard() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answered = true
}

// silent reports whether the endpoint has never responded.
func (g *gate) silent() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.answered
}

// stop ends all requests. It returns the error that every later request gets.
func (g *gate) stop(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped == nil {
		g.stopped = err
	}
	return g.stopped
}

// err is the reason why the endpoint was stopped, or nil.
func (g *gate) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stopped
}

// Latency windows.
const (
	leastWindow = 20                    // answers; fewer are not significant
	growth      = 3                     // ratio to the best window that counts as overload
	negligible  = 50 * time.Millisecond // below which growth is noise
)

// window compares the geometric mean of the latest latencies, which one slow
// answer barely changes, with the best earlier window.
type window struct {
	logs float64
	n    int
	best float64 // log of nanoseconds; 0 if there is none yet
}

// add reports whether a window has ended that is much slower than the best one
// since the last report.
func (w *window) add(took time.Duration, limit int) bool {
	w.logs += math.Log(float64(max(took, time.Microsecond)))
	w.n++
	if w.n < max(leastWindow, 2*limit) {
		return false
	}
	mean := w.logs / float64(w.n)
	w.logs, w.n = 0, 0
	if w.best == 0 || mean < w.best {
		w.best = mean
		return false
	}
	slow := mean > w.best+math.Log(growth) && mean > math.Log(float64(negligible))
	if slow {
		w.best = mean // longer answers are not overload: they reduce the limit only once
	}
	return slow
}
