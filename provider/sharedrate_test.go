package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/permit"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/value"
)

// table keeps the state of endpoints for several processes, as a store does. All tests in this file
// run in a synctest bubble, whose clock only sleeping advances.
type table struct {
	mu      sync.Mutex
	rows    map[string][]byte
	calls   int
	failing error
	hangs   bool
	alone   []string
}

func (s *table) Share(ctx context.Context, endpoint string, a permit.Ask) (g permit.Grant, err error) {
	time.Sleep(3 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.hangs {
		s.mu.Unlock()
		time.Sleep(time.Minute) // even if ctx ends
		s.mu.Lock()
	}
	if s.failing != nil {
		return g, s.failing
	}
	var e permit.Endpoint
	if row, found := s.rows[endpoint]; found {
		if err := json.Unmarshal(row, &e); err != nil {
			return g, err
		}
	}
	g = e.Take(time.Now(), a)
	if s.rows == nil {
		s.rows = map[string][]byte{}
	}
	s.rows[endpoint], err = json.Marshal(&e)
	return g, err
}

func (s *table) Alone(err error, share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alone = append(s.alone, fmt.Sprintf("%v %.0f", err, share))
}

// set reads or changes the table. Calls that no request waits for may still arrive.
func (s *table) set(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// vendor is an API that refuses requests beyond a rate, with a token bucket for bursts.
type vendor struct {
	perSecond, burst float64 // 0 means no limit
	latency          time.Duration
	tokens           int                // tokens of an answer
	first            string             // Retry-After of the first request, which is refused
	limiter          *fakemodel.Limiter // replaces the rate and the burst

	mu      sync.Mutex
	room    float64
	sent    []time.Time
	refused int
}

// admit returns headers; if the request is refused, with Retry-After.
func (v *vendor) admit() (h http.Header, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	if v.limiter != nil {
		if h, ok = v.limiter.Admit(now, float64(v.tokens)); !ok {
			v.refused++
		}
		v.sent = append(v.sent, now)
		return h, ok
	}
	h = http.Header{}
	if len(v.sent) == 0 {
		v.room = v.burst
	} else {
		v.room = min(v.burst, v.room+v.perSecond*now.Sub(v.sent[len(v.sent)-1]).Seconds())
	}
	v.sent = append(v.sent, now)
	if v.perSecond > 0 && v.room < 1 || v.first != "" {
		if v.first != "" {
			h.Set("Retry-After", v.first)
		}
		v.first = ""
		v.refused++
		return h, false
	}
	v.room--
	return h, true
}

func (v *vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Request: r}
	body := fmt.Sprintf(`{"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 0, "completion_tokens": %d, "total_tokens": %[1]d}}`, v.tokens)
	header, ok := v.admit()
	header.Set("Content-Type", "application/json")
	resp.Header = header
	if ok {
		time.Sleep(v.latency)
	} else {
		time.Sleep(20 * time.Millisecond)
		resp.StatusCode, body = http.StatusTooManyRequests, `{"error": {"message": "slow down"}}`
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

// between counts the requests sent in an interval after begun.
func (v *vendor) between(begun time.Time, from, to time.Duration) (n int) {
	for _, at := range v.sent {
		if d := at.Sub(begun); d >= from && d < to {
			n++
		}
	}
	return n
}

// fleet sends requests to a vendor from several processes, each with several rows at a time.
type fleet struct {
	vendor         *vendor
	shared         *table // nil if each process learns for itself
	config         *value.Object
	workers        int
	atATime        int           // concurrent rows of a process
	rows           int           // total
	every          time.Duration // time between the rows of a process; 0 starts them at once
	failed         int
	took           time.Duration
	queriesASecond float64 // calls of Share per second and process
}

func (f *fleet) run(t *testing.T) {
	t.Helper()
	begun, left := time.Now(), f.rows
	var mu sync.Mutex
	var all sync.WaitGroup
	for range f.workers {
		limits := &throttle.Limits{}
		if f.shared != nil {
			limits.Shared = f.shared
		}
		p, err := provider.Open(proviso.ProviderSpec{ID: "openai:chat:m", Config: f.config},
			provider.Options{Client: &http.Client{Transport: f.vendor}, Limits: limits, Concurrency: f.atATime})
		if err != nil {
			t.Fatal(err)
		}
		for range f.atATime {
			all.Go(func() {
				for {
					mu.Lock()
					if left--; left < 0 {
						mu.Unlock()
						return
					}
					mu.Unlock()
					if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hello"}); err != nil {
						mu.Lock()
						f.failed++
						mu.Unlock()
					}
					time.Sleep(f.every)
				}
			})
		}
	}
	all.Wait()
	f.took = time.Since(begun)
	defer time.Sleep(2 * time.Minute) // until the calls of the table that nobody waits for have ended
	if f.shared != nil {
		f.shared.set(func() { f.queriesASecond = float64(f.shared.calls) / f.took.Seconds() / float64(f.workers) })
	}
}

func (f *fleet) rate() float64 { return float64(f.rows-f.failed) / f.took.Seconds() }

// withKey is a configuration with a key and further settings.
func withKey(key string, more ...any) *value.Object {
	return value.ObjectOf(append([]any{"apiKey", key}, more...)...)
}

// TestSharedRates: several workers together are refused about as often as one, and have the same
// throughput.
func TestSharedRates(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{8, 40, 120} {
		for _, latency := range []time.Duration{50 * time.Millisecond, 2 * time.Second} {
			const together = 128
			if limit > together/latency.Seconds()/1.5 || testing.Short() && limit != 40 {
				continue // hardly reached
			}
			run := func(workers int, shared bool) (f *fleet) {
				synctest.Test(t, func(t *testing.T) {
					f = &fleet{vendor: &vendor{perSecond: limit, burst: limit / 4, latency: latency}, config: withKey("k"),
						workers: workers, atATime: together / workers, rows: int(20 * limit)}
					if shared {
						f.shared = &table{}
					}
					f.run(t)
				})
				t.Logf("limit %3.0f a second, answers after %4v, %d workers, shared %5v: %4d of %d refused, %3d failed, %5.1f answers a second, %.1f queries a second",
					limit, latency, workers, shared, f.vendor.refused, len(f.vendor.sent), f.failed, f.rate(), f.queriesASecond)
				return f
			}
			one := run(1, true)
			if one.rate() < 0.8*limit {
				t.Errorf("one worker gets %.1f a second of %v", one.rate(), limit)
			}
			for _, workers := range []int{4, 8} {
				f := run(workers, true)
				if most := one.vendor.refused*3/2 + 6; f.vendor.refused > most || f.failed > 0 {
					t.Errorf("%d workers: %d refused, %d failed; want %d, 0", workers, f.vendor.refused, f.failed, most)
				}
				if f.rate() < 0.9*one.rate() {
					t.Errorf("%d workers get %.1f a second, one %.1f", workers, f.rate(), one.rate())
				}
				if f.queriesASecond > 8 {
					t.Errorf("%d workers: %.1f queries a second", workers, f.queriesASecond)
				}
				if workers != 8 {
					continue
				}
				if alone := run(workers, false); alone.vendor.refused < 3*f.vendor.refused {
					t.Errorf("%d workers that share nothing are refused %d times, those that share %d times", workers, alone.vendor.refused, f.vendor.refused)
				}
			}
		}
	}
}

// TestSharedSettings: rpm and tpm apply to all workers together.
func TestSharedSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		config *value.Object
		most   float64 // per second
		burst  float64
		tokens int
	}{
		{"requests", withKey("k", "rpm", 600.0), 10, 10, 1},
		{"few requests", withKey("k", "rpm", 30.0), 0.5, 1, 1},
		{"tokens", withKey("k", "tpm", 60000.0), 10, 64, 100}, // the tokens of an answer are known only afterwards
		{"tokens of large answers", withKey("k", "tpm", 60000.0), 0.5, 64, 2000},
		{"both", withKey("k", "rpm", 600.0, "tpm", 30000.0), 5, 64, 100},
	} {
		for _, workers := range []int{1, 8} {
			synctest.Test(t, func(t *testing.T) {
				v := &vendor{latency: 500 * time.Millisecond, tokens: tc.tokens}
				f := &fleet{vendor: v, shared: &table{}, config: tc.config, workers: workers, atATime: 64 / workers, rows: 64 + int(60*tc.most)}
				begun := time.Now()
				f.run(t)
				for _, d := range []time.Duration{10 * time.Second, 60 * time.Second} {
					if n, most := v.between(begun, 0, d), tc.most*d.Seconds()+tc.burst; float64(n) > most+1 {
						t.Errorf("%s, %d workers: %d requests in %v, want %v", tc.name, workers, n, d, most)
					}
				}
				if least := 0.9 * tc.most; f.rate() < least {
					t.Errorf("%s, %d workers: %.2f requests a second, want %.2f", tc.name, workers, f.rate(), least)
				}
			})
		}
	}
}

// TestSharedPause: a pause that one worker is told applies to all workers as soon as they learn
// about it.
func TestSharedPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{latency: 100 * time.Millisecond, first: "5"}
		f := &fleet{vendor: v, shared: &table{}, config: withKey("k"), workers: 8, atATime: 2, rows: 200}
		begun := time.Now()
		f.run(t)
		if n := v.between(begun, 200*time.Millisecond, 5*time.Second); n != 0 || v.refused != 1 || f.failed > 0 {
			t.Errorf("%d requests in the pause; %d refused, %d failed", n, v.refused, f.failed)
		}
		if n := v.between(begun, 5*time.Second, 6*time.Second); n > 80 {
			t.Errorf("%d requests at once after the pause", n)
		}
	})
}

// TestSharedKeys: a refusal for one key does not slow another key of the same model.
func TestSharedKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := &table{}
		slow := &fleet{vendor: &vendor{perSecond: 1, burst: 1}, shared: shared, config: withKey("key-of-one"), workers: 2, atATime: 4, rows: 20}
		fast := &fleet{vendor: &vendor{perSecond: 100, burst: 100}, shared: shared, config: withKey("key-of-another"), workers: 2, atATime: 4, rows: 200, every: 200 * time.Millisecond}
		var both sync.WaitGroup
		both.Go(func() { slow.run(t) })
		both.Go(func() { fast.run(t) })
		both.Wait()
		if fast.rate() < 30 || fast.vendor.refused > 0 || slow.vendor.refused == 0 {
			t.Errorf("%.1f a second with %d refused, beside one with %d", fast.rate(), fast.vendor.refused, slow.vendor.refused)
		}
		shared.set(func() {
			if len(shared.rows) != 2 {
				t.Errorf("%d endpoints, want 2", len(shared.rows))
			}
			for name, row := range shared.rows {
				if strings.Contains(name+string(row), "key-of") {
					t.Errorf("the key is shared: %s %s", name, row)
				}
			}
		})
	})
}

// TestSharedAlone: workers that cannot share, because the store fails or hangs, continue with their
// last share, and share again later.
func TestSharedAlone(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			shared := &table{}
			v := &vendor{latency: 50 * time.Millisecond}
			f := &fleet{vendor: v, shared: shared, config: withKey("k", "rpm", 1200.0), workers: 4, atATime: 8, rows: 2000}
			begun := time.Now()
			time.AfterFunc(20*time.Second, func() {
				shared.set(func() { shared.hangs, shared.failing = hangs, errors.New("the store is away") })
			})
			time.AfterFunc(60*time.Second, func() { shared.set(func() { shared.hangs, shared.failing = false, nil }) })
			f.run(t)
			for _, from := range []time.Duration{25 * time.Second, 40 * time.Second, 80 * time.Second} {
				if n := v.between(begun, from, from+10*time.Second); n < 180 || n > 225 {
					t.Errorf("hangs %v: %d requests in the 10 s after %v, want 200", hangs, n, from)
				}
			}
			lost, again := 0, 0
			var told []string
			shared.set(func() { told = slices.Clone(shared.alone) })
			for _, line := range told {
				switch {
				case strings.HasSuffix(line, " 5"): // a quarter of 20 per second
					lost++
				case line == "<nil> 0":
					again++
				}
			}
			if lost != 4 || again != 4 || len(told) != 8 {
				t.Errorf("hangs %v: told %q", hangs, told)
			}
		})
	}
}

// TestSharedCancelled: a request that waits for its turn ends with its context, and does not delay
// the next one.
func TestSharedCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{}
		p, err := provider.Open(proviso.ProviderSpec{ID: "openai:chat:m", Config: withKey("k", "rpm", 1.0)},
			provider.Options{Client: &http.Client{Transport: v}, Limits: &throttle.Limits{Shared: &table{}}, Concurrency: 8})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "x"}); err != nil {
			t.Fatal(err)
		}
		defer time.Sleep(time.Minute)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if _, err := p.Answer(ctx, proviso.Ask{Prompt: "x"}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a request that may not be sent: %v", err)
				}
			})
		}
		all.Wait()
		begun := time.Now()
		if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "x"}); err != nil || time.Since(begun) > 51*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if times := v.sent; len(times) != 2 || !slices.IsSortedFunc(times, time.Time.Compare) {
			t.Errorf("sent at %v", times)
		}
	})
}
