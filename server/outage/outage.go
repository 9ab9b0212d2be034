// Package outage keeps a log from filling up while a server's store is unavailable. Start at
// [New].
package outage

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// Handler is a log handler that limits lines while the store is unavailable. Of the lines with
// such an error, it passes on the first, each of the first few with a new reason, and then one
// every 30 seconds. It logs once that the store is available again. It is safe for concurrent
// use.
type Handler struct {
	next  slog.Handler
	state *outage
}

const (
	outageEvery = 30 * time.Second // between the lines of an outage
	outagePoll  = time.Second      // between two pings
	pingTimeout = 2 * time.Second  // for one ping
	// outageReasons is the number of different reasons that are logged at once in an outage. A
	// server that stops ends connections with a message that does not say why new ones fail.
	outageReasons = 4
)

// outage is the state that the handlers of one log share.
type outage struct {
	own  slog.Handler // without the attributes of derived handlers
	mu   sync.Mutex
	ping func(context.Context) error

	since   time.Time // start of the outage; zero if there is none
	last    time.Time // time of the last line that was passed on
	seen    time.Time // time of the last line
	leftOut int       // lines that were dropped since last
	reasons []string  // logged reasons, up to outageReasons
}

// New returns a handler that passes lines on to next.
func New(next slog.Handler) *Handler {
	return &Handler{next, &outage{own: next}}
}

// Watch sets the check that the store is available again, such as [store.Store.Ping].
func (o *Handler) Watch(ping func(context.Context) error) {
	o.state.mu.Lock()
	defer o.state.mu.Unlock()
	o.state.ping = ping
}

// Enabled implements [slog.Handler].
func (o *Handler) Enabled(ctx context.Context, l slog.Level) bool { return o.next.Enabled(ctx, l) }

// WithAttrs implements [slog.Handler].
func (o *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{o.next.WithAttrs(attrs), o.state}
}

// WithGroup implements [slog.Handler].
func (o *Handler) WithGroup(name string) slog.Handler {
	return &Handler{o.next.WithGroup(name), o.state}
}

// Handle implements [slog.Handler].
func (o *Handler) Handle(ctx context.Context, r slog.Record) error {
	reason := reasonOf(&r)
	if reason == "" {
		return o.next.Handle(ctx, r)
	}
	leftOut, pass := o.state.passes(r.Time, reason)
	if !pass {
		return nil
	}
	if leftOut > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("left_out", leftOut))
	}
	return o.next.Handle(ctx, r)
}

// reasonOf returns why the store is unavailable, if a line has such an error; otherwise "".
func reasonOf(r *slog.Record) (reason string) {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && (errors.Is(err, store.ErrUnreachable) || errors.Is(err, store.ErrUnreadable) || errors.Is(err, store.ErrReadOnly)) {
			reason = err.Error() // "what failed: reason"
			reason = reason[strings.LastIndex(reason, ": ")+1:]
		}
		return reason == ""
	})
	return reason
}

// passes counts a line, and reports whether it is passed on, with the number of lines that were
// dropped before it.
func (o *outage) passes(now time.Time, reason string) (leftOut int, pass bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = now
	fresh := len(o.reasons) < outageReasons && !slices.Contains(o.reasons, reason)
	if fresh {
		o.reasons = append(o.reasons, reason)
	}
	switch {
	case o.since.IsZero():
		o.since = now
		if o.ping != nil {
			go o.wait(o.ping)
		}
	case now.Sub(o.last) < outageEvery && !fresh:
		o.leftOut++
		return 0, false
	}
	leftOut, o.last, o.leftOut = o.leftOut, now, 0
	return leftOut, true
}

// quiet reports whether the last line is at least outagePoll ago.
func (o *outage) quiet() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.seen) >= outagePoll
}

// wait waits until the store is available again, or closed. While lines report errors of the
// store, it is not available.
func (o *outage) wait(ping func(context.Context) error) {
	for {
		time.Sleep(outagePoll)
		ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
		err := ping(ctx)
		cancel()
		if err == nil && o.quiet() {
			break
		}
		if err != nil && store.Outage(err) == nil && !errors.Is(err, context.DeadlineExceeded) {
			return // the store is closed
		}
	}
	now := time.Now()
	o.mu.Lock()
	r := slog.NewRecord(now, slog.LevelInfo, "the database is there again", 0)
	r.AddAttrs(slog.Float64("away_s", now.Sub(o.since).Seconds()), slog.Int("left_out", o.leftOut))
	o.since, o.leftOut, o.reasons = time.Time{}, 0, nil
	o.mu.Unlock()
	_ = o.own.Handle(context.Background(), r) // nothing helps if the log cannot be written
}
