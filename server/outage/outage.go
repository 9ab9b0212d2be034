// Package outage keeps a log from filling up while the store of a server cannot be used.
// Start at [New].
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

// Handler is a handler of a log that is not filled while the store cannot be used: of the
// lines whose error is because of that, it passes on the first one, the first one with
// another reason, and then one in 30 seconds, and says once that the store is there again. It
// is safe for concurrent use.
type Handler struct {
	next  slog.Handler
	state *outage
}

const (
	outageEvery = 30 * time.Second // between the lines of an outage
	outagePoll  = time.Second      // between the questions whether it is over
	pingTimeout = 2 * time.Second  // of one question
	// outageReasons is how many reasons of an outage have a line at once. A server that stops
	// ends connections with a message that does not say why no new ones can be made.
	outageReasons = 4
)

// outage is what the handlers of one log share.
type outage struct {
	own  slog.Handler // without the attributes of others
	mu   sync.Mutex
	ping func(context.Context) error

	since   time.Time // zero if there is none
	last    time.Time // when a line was passed on
	seen    time.Time // when there was a line
	leftOut int       // lines since then
	reasons []string  // that lines had, up to outageReasons
}

// New returns a handler before another one.
func New(next slog.Handler) *Handler {
	return &Handler{next, &outage{own: next}}
}

// Watch sets what tells that the store is there again, such as [store.Store.Ping].
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

// reasonOf returns why the store cannot be used, if the error of a line is because of that; ""
// otherwise.
func reasonOf(r *slog.Record) (reason string) {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && (errors.Is(err, store.ErrUnreachable) || errors.Is(err, store.ErrUnreadable) || errors.Is(err, store.ErrReadOnly)) {
			reason = err.Error() // what was done: the reason
			reason = reason[strings.LastIndex(reason, ": ")+1:]
		}
		return reason == ""
	})
	return reason
}

// passes counts a line, and reports whether it is passed on, with the number of those that
// were left out before it.
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

// quiet reports whether there was no line between the last two questions.
func (o *outage) quiet() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.seen) >= outagePoll
}

// wait waits until the store is there again, or closed. It is not there as long as lines say
// that it is not.
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
			return // it is closed
		}
	}
	now := time.Now()
	o.mu.Lock()
	r := slog.NewRecord(now, slog.LevelInfo, "the database is there again", 0)
	r.AddAttrs(slog.Float64("away_s", now.Sub(o.since).Seconds()), slog.Int("left_out", o.leftOut))
	o.since, o.leftOut, o.reasons = time.Time{}, 0, nil
	o.mu.Unlock()
	_ = o.own.Handle(context.Background(), r) // a log that cannot be written
}
