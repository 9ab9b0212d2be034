package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// sharedStub answers with the given permits, one after the other, and then with an error.
type sharedStub struct {
	mu      sync.Mutex
	give    []Permits
	sent    []int
	refused []time.Duration
	name    string
}

func (s *sharedStub) Permits(_ context.Context, endpoint string, sent int, _ float64) (Permits, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = endpoint
	s.sent = append(s.sent, sent)
	if len(s.give) == 0 {
		return Permits{}, errors.New("no store")
	}
	p := s.give[0]
	s.give = s.give[1:]
	return p, nil
}

func (s *sharedStub) Refused(_ context.Context, _ string, sent int, _, wait time.Duration) error {
	s.sent = append(s.sent, sent)
	s.refused = append(s.refused, wait)
	return nil
}

// TestSharedRate: permits are spread over the time that they are for, one request for a block
// asks for them, and a process whose store fails goes on by itself.
func TestSharedRate(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	stub := &sharedStub{give: []Permits{
		{For: 100 * ms},
		{Limited: true, N: 3, Wait: 10 * ms, Every: 20 * ms, For: 500 * ms},
		{Limited: true, N: 1, Every: 20 * ms, For: 500 * ms},
	}}
	r := newSharedRate(stub, "https://api.example.com model sk-secret")
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	check := func(want ...time.Duration) {
		t.Helper()
		for _, w := range want {
			if got, err := r.delay(t.Context(), clock); err != nil || got != w {
				t.Errorf("%v after %v, want %v; %v", got, now.Sub(time.Unix(0, 0)), w, err)
			}
		}
	}
	check(0, 0, 0, 0)
	now = now.Add(100 * ms)
	check(10*ms, 30*ms)
	if !r.refused(t.Context(), 0, time.Second) {
		t.Error("the others do not know it")
	}
	check(50*ms, 0)
	check(0, 0) // the store fails
	if got, want := stub.sent, []int{0, 4, 2, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
	if len(stub.refused) != 1 || stub.refused[0] != time.Second {
		t.Errorf("refused: %v", stub.refused)
	}
	if strings.Contains(stub.name, "secret") || stub.name == "" {
		t.Errorf("the name of the endpoint is %q", stub.name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	now = now.Add(time.Hour)
	if _, err := r.delay(ctx, clock); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that ended: %v", err)
	}
}

// TestSharedRateAtOnce: many requests at once share the blocks.
func TestSharedRateAtOnce(t *testing.T) {
	t.Parallel()
	stub := &sharedStub{}
	for range 10 {
		stub.give = append(stub.give, Permits{Limited: true, N: 10, Every: time.Millisecond, For: time.Hour})
	}
	r := newSharedRate(stub, "e")
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, err := r.delay(t.Context(), time.Now); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(stub.sent) != 10 {
		t.Errorf("%d blocks for 100 requests, want 10", len(stub.sent))
	}
}
