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

// rates limits the request rate of each client. Of several servers, each gives its share:
// a balancer spreads the requests of a client evenly. It is safe for concurrent use.
type rates struct {
	perSecond rate.Limit // of all servers
	burst     int        // of all servers

	mu      sync.Mutex
	servers int // 0 and 1 are this one alone
	buckets map[string]*rate.Limiter
}

// maxBuckets bounds the memory of rates. Beyond it full buckets are removed,
// which does not affect their clients.
const maxBuckets = 10_000

func newRates(perSecond float64) *rates {
	return &rates{perSecond: rate.Limit(perSecond), burst: max(1, int(2*perSecond)), buckets: map[string]*rate.Limiter{}}
}

// share makes each of so many servers give its share.
func (l *rates) share(servers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers = servers
}

// ownShare is what this server gives; l.mu is held. The burst is at least one request, and the
// rate stays what it is a share of.
func (l *rates) ownShare() (rate.Limit, int) {
	n := max(1, l.servers)
	return l.perSecond / rate.Limit(n), max(1, l.burst/n)
}

// take takes one request of a client, or returns how long it has to wait.
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

// full reports whether a client has used up what it may, without taking anything, and
// how long it has to wait then.
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

// forget drops full buckets when there are too many; l.mu is held.
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

// SharedRates keeps what is known of the rates of endpoints in a store, for all processes
// that use it. The log tells when this process has to go on without the others; nil keeps none.
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
		s.log.Warn("the rate of a model cannot be shared; this process goes on with its last share", "per_minute", share*60, "error", err)
	default:
		s.log.Warn("the rate of a model cannot be shared; this process goes on by itself, as no limit is known", "error", err)
	}
}
