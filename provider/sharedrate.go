package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// SharedRates limits how often several processes, together, ask an endpoint. It is safe for
// concurrent use. While it fails, each process has its own limits only.
type SharedRates interface {
	// Permits gives permits for the next requests. sent is how many were sent since the last
	// call, perMinute what the configuration allows, 0 if any number.
	Permits(ctx context.Context, endpoint string, sent int, perMinute float64) (Permits, error)
	// Refused records that an endpoint refused a request because of its rate: it was sent
	// some time ago, and the endpoint wants no request for wait, 0 if it did not say.
	Refused(ctx context.Context, endpoint string, sent int, ago, wait time.Duration) error
}

// Permits are what a process may send: any number of requests unless Limited, or else N,
// one after every Every. The first may be sent after Wait. After For they expire.
type Permits struct {
	Limited          bool
	N                int
	Wait, Every, For time.Duration
}

// sharedRate is the share of this process in the rate of an endpoint.
type sharedRate struct {
	with SharedRates
	name string // of the endpoint

	mu        sync.Mutex
	perMinute float64
	sent      int
	limited   bool
	left      int
	next      time.Time     // when the next request may be sent
	every     time.Duration // between requests
	expires   time.Time
	asking    chan struct{} // closed when there are new permits; nil if nobody asks for them
}

// newSharedRate names the endpoint by a hash, because its key holds the one for the vendor.
func newSharedRate(with SharedRates, key string) *sharedRate {
	sum := sha256.Sum256([]byte(key))
	return &sharedRate{with: with, name: hex.EncodeToString(sum[:])}
}

// lower notes a rate of the configuration; the lowest applies.
func (s *sharedRate) lower(perMinute float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if perMinute > 0 && (s.perMinute == 0 || perMinute < s.perMinute) {
		s.perMinute = perMinute
	}
}

// sharedTimeout is how long a request waits for its permit to be granted or refused.
const sharedTimeout = 2 * time.Second

// delay takes a permit, and returns how long to wait before it may be used. One caller asks
// for the permits of all.
func (s *sharedRate) delay(ctx context.Context, now func() time.Time) (time.Duration, error) {
	for {
		s.mu.Lock()
		at := now()
		if at.Before(s.expires) && (!s.limited || s.left > 0) {
			wait := max(s.next.Sub(at), 0)
			if s.sent++; s.limited {
				s.left--
				s.next = s.next.Add(s.every)
			}
			s.mu.Unlock()
			return wait, nil
		}
		if asking := s.asking; asking != nil {
			s.mu.Unlock()
			select {
			case <-asking:
				continue
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		s.asking = make(chan struct{})
		sent, perMinute := s.sent, s.perMinute
		s.sent = 0
		s.mu.Unlock()
		s.ask(ctx, now, sent, perMinute)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
}

// ask gets the next permits.
func (s *sharedRate) ask(ctx context.Context, now func() time.Time, sent int, perMinute float64) {
	limited, cancel := context.WithTimeout(ctx, sharedTimeout)
	defer cancel()
	p, err := s.with.Permits(limited, s.name, sent, perMinute)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.asking)
	s.asking = nil
	if err != nil {
		s.sent += sent
	}
	if ctx.Err() != nil {
		return // another caller asks
	}
	if err != nil {
		p = Permits{For: sharedTimeout} // requests go on without the others
	}
	at := now()
	s.limited, s.left, s.every = p.Limited, p.N, p.Every
	s.next, s.expires = at.Add(p.Wait), at.Add(max(p.For, time.Millisecond))
}

// refused tells the others that a request was refused, and how many were sent before. It
// reports whether they know it; a nil sharedRate has no others.
func (s *sharedRate) refused(ctx context.Context, ago, wait time.Duration) bool {
	if s == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedTimeout)
	defer cancel()
	s.mu.Lock()
	sent := s.sent
	s.sent = 0
	s.mu.Unlock()
	err := s.with.Refused(ctx, s.name, sent, ago, wait)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.sent += sent
	}
	return err == nil
}
