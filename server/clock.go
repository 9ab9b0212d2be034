package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// clock measures how long a request waited for its client to send the body and
// for models to answer. Overlapping waits count once. It is safe for concurrent
// use.
type clock struct {
	mu      sync.Mutex
	waiting int
	since   time.Time
	waited  time.Duration
}

type clockKey struct{}

// withClock returns a context in which c measures the calls to models.
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

// Waiting returns a round tripper that counts the time until a response is read
// or closed as waiting time in the metrics of its request. It belongs below
// everything that calls models.
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
