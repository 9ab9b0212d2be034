package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/proviso-eval/proviso/permit"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/store"
)

// rates limits the request rate of each client. With several servers, each allows an equal
// share, because a load balancer spreads a client's requests evenly. It is safe for concurrent
// use.
type rates struct {
	perSecond rate.Limit // of all servers together
	burst     int        // of all servers together

	mu      sync.Mutex
	servers int // 0 and 1 mean only this one
	buckets map[string]*rate.Limiter
}

// maxBuckets limits the memory of rates. Beyond it full buckets are removed, which does not
// affect their clients.
const maxBuckets = 10_000

func newRates(perSecond float64) *rates {
	return &rates{perSecond: rate.Limit(perSecond), burst: max(1, int(2*perSecond)), buckets: map[string]*rate.Limiter{}}
}

// share sets the number of servers that share the rates.
func (l *rates) share(servers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers = servers
}

// ownShare returns the rate and burst of this server; the caller holds l.mu. The burst is at
// least one request.
func (l *rates) ownShare() (rate.Limit, int) {
	n := max(1, l.servers)
	return l.perSecond / rate.Limit(n), max(1, l.burst/n)
}

// take takes one request from a client's bucket, or returns how long the client must wait.
func (l *rates) take(client string, now time.Time) (wait time.Duration, ok bool) {
	if l.perSecond <= 0 {
		return 0, true
	}
	l.mu.Lock()
	b := l.buckets[client]
	if b == nil {
		l.forget(now)
		b = rate.NewLimiter(l.ownShare())
		l.buckets[client] = b
	}
	if limit, burst := l.ownShare(); b.Limit() != limit || b.Burst() != burst {
		b.SetLimitAt(now, limit)
		b.SetBurstAt(now, burst)
	}
	l.mu.Unlock()
	r := b.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait, false
	}
	return 0, true
}

// full reports whether a client may send a request, and otherwise how long it must wait. It
// takes nothing from the bucket.
func (l *rates) full(client string, now time.Time) (wait time.Duration, ok bool) {
	l.mu.Lock()
	b := l.buckets[client]
	limit, _ := l.ownShare()
	l.mu.Unlock()
	if b == nil {
		return 0, true
	}
	left := b.TokensAt(now)
	return time.Duration((1 - left) / float64(limit) * float64(time.Second)), left >= 1
}

// forget drops full buckets when there are too many; the caller holds l.mu.
func (l *rates) forget(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for client, b := range l.buckets {
		if b.TokensAt(now) >= float64(b.Burst()) {
			delete(l.buckets, client)
		}
	}
}

// SharedRates shares the rates of endpoints through a store, with all processes that use it. It
// logs when this process must continue without the others; a nil log discards that.
func SharedRates(r store.Rates, log *slog.Logger) throttle.SharedRates {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return sharedRates{r, log}
}

type sharedRates struct {
	rates store.Rates
	log   *slog.Logger
}

func (s sharedRates) Share(ctx context.Context, endpoint string, a permit.Ask) (permit.Grant, error) {
	return s.rates.ShareRate(ctx, endpoint, a)
}

func (s sharedRates) Alone(err error, share float64) {
	switch {
	case err == nil:
		s.log.Info("the rate of a model is shared with the other processes again")
	case share > 0:
		s.log.Warn("the rate of a model cannot be shared; this process continues with its last share", "per_minute", share*60, "error", err)
	default:
		s.log.Warn("the rate of a model cannot be shared; this process continues on its own, as no limit is known", "error", err)
	}
}
