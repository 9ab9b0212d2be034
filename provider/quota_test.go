package provider_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
)

// says sets headers in one of the ways in which vendors report their limits.
type says = func(http.Header, time.Time, fakemodel.Left, fakemodel.Left)

// some picks one of these numbers of workers for case i, in turn. With PROVISO_TEST_SLOW it returns
// all of them.
func some(i int, workers ...int) []int {
	if os.Getenv("PROVISO_TEST_SLOW") != "" {
		return workers
	}
	return workers[i%len(workers):][:1]
}

// TestReported: if a vendor reports with each answer what is left, nothing has to be learnt. Hardly
// a request is refused, and the limit is used up, whether several processes share the rate or one
// works alone.
func TestReported(t *testing.T) {
	t.Parallel()
	const perMinute = 300
	for i, tc := range []struct {
		name    string
		says    says
		fixed   bool
		tokens  int // tokens of an answer; if set, tokens are limited instead of requests
		latency time.Duration
	}{
		{"OpenAI", fakemodel.OpenAISays, false, 0, 2 * time.Second},
		{"OpenAI, by minutes", fakemodel.OpenAISays, true, 0, 50 * time.Millisecond},
		{"OpenAI, tokens", fakemodel.OpenAISays, false, 500, 2 * time.Second},
		{"OpenAI, tokens by minutes", fakemodel.OpenAISays, true, 500, 50 * time.Millisecond},
		{"Anthropic", fakemodel.AnthropicSays, false, 0, 50 * time.Millisecond},
		{"Anthropic, by minutes", fakemodel.AnthropicSays, true, 0, 2 * time.Second},
		{"draft", fakemodel.DraftSays, true, 0, 50 * time.Millisecond},
		{"old draft", fakemodel.OldDraftSays, true, 0, 50 * time.Millisecond},
	} {
		for _, workers := range some(i, 1, 8, 0) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(20 * time.Second) // the first minute is not complete
				limiter := &fakemodel.Limiter{Requests: perMinute, Fixed: tc.fixed, Says: tc.says}
				if tc.tokens > 0 {
					limiter.Requests, limiter.Tokens = 0, float64(perMinute*tc.tokens)
				}
				f := &fleet{vendor: &vendor{latency: tc.latency, tokens: tc.tokens, limiter: limiter}, config: withKey("k"),
					workers: max(workers, 1), atATime: 128 / max(workers, 1), rows: 2 * perMinute}
				if workers > 0 {
					f.shared = &table{}
				}
				f.run(t)
				t.Logf("%s, %d workers: %d refused, %.1f answers a minute, %.1f queries a second", tc.name, workers, f.vendor.refused, 60*f.rate(), f.queriesASecond)
				if f.vendor.refused > 8 || f.failed > 0 || 60*f.rate() < 0.95*perMinute || f.queriesASecond > 8 {
					t.Errorf("%s, %d workers: %d refused, %d failed, %.1f answers a minute, %.1f queries a second", tc.name, workers, f.vendor.refused, f.failed, 60*f.rate(), f.queriesASecond)
				}
			})
		}
	}
}

// TestWholeMinutes: a vendor that counts by whole minutes without reporting it gets as many
// requests as it allows from its third minute on, also from a single process. A vendor with a small
// bucket is not mistaken for one.
func TestWholeMinutes(t *testing.T) {
	t.Parallel()
	for i, tc := range []struct {
		perMinute float64
		fixed     bool
		latency   time.Duration
		refused   int // maximum number of refusals in 5 minutes
		failed    int // rows that failed after their retries
	}{
		{240, true, 500 * time.Millisecond, 200, 3},
		{240, true, 2 * time.Second, 170, 3},
		{60, true, 50 * time.Millisecond, 160, 3},
		{60, false, 2 * time.Second, 180, 15},
		{30, false, 50 * time.Millisecond, 210, 15},
	} {
		one := 0
		for _, workers := range append([]int{0, 1}, some(i, 4, 8)...) { // 0 is a process without shared rates
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(20 * time.Second) // the first minute is not complete
				v := &vendor{latency: tc.latency, limiter: &fakemodel.Limiter{Requests: tc.perMinute, Fixed: tc.fixed}}
				f := &fleet{vendor: v, config: withKey("k"), workers: max(workers, 1), atATime: 32 / max(workers, 1), rows: int(5 * tc.perMinute)}
				refused := tc.refused
				if workers > 0 {
					f.shared = &table{}
				} else {
					refused += 32 // it does not start slowly
				}
				f.run(t)
				if workers < 2 {
					one = v.refused
				}
				t.Logf("%+v, %d workers: %d refused, %d failed, %.1f answers a minute", tc, workers, v.refused, f.failed, 60*f.rate())
				if v.refused > refused || v.refused > one*3/2+10 || f.failed > tc.failed || 60*f.rate() < 0.95*tc.perMinute {
					t.Errorf("%+v, %d workers: %d refused, one %d; %d failed, %.1f answers a minute", tc, workers, v.refused, one, f.failed, 60*f.rate())
				}
			})
		}
	}
}

// TestReportedReplayed: limits reported in recorded answers do not delay a replay.
func TestReportedReplayed(t *testing.T) {
	t.Parallel()
	server := fakemodel.New(fakemodel.Options{Limiter: &fakemodel.Limiter{Requests: 2, Fixed: true, Says: fakemodel.OpenAISays}})
	defer server.Close()
	shelf := blobs.Open(t.TempDir())
	o := transport.CassetteOptions{Headers: []string{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"}}
	for _, cassette := range []*transport.Cassette{transport.Record(shelf, o), transport.Replay(shelf, o)} {
		p, err := provider.Open(proviso.ProviderSpec{ID: "openai:chat:gpt-4o"}, provider.Options{Env: environment(server.URL), Cassette: cassette,
			Client: transport.New(transport.Options{Wrap: cassette.Wrap}).Client(), Sleep: func(context.Context, time.Duration) error {
				if cassette.Replays() {
					return errors.New("the replay waits")
				}
				return nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "x"}); err != nil {
				t.Fatal(err)
			}
			if !cassette.Replays() {
				break // the others would have to wait
			}
		}
	}
}

// liar is a vendor that refuses nothing and sends false headers.
func liar(header map[string]string) *vendor {
	return &vendor{latency: 50 * time.Millisecond, limiter: &fakemodel.Limiter{Requests: 1e9, Says: func(h http.Header, _ time.Time, _, _ fakemodel.Left) {
		for name, v := range header {
			h.Set(name, v)
		}
	}}}
}

// TestWrongReports: impossible headers are ignored, and plausible ones delay requests for at most
// six resets.
func TestWrongReports(t *testing.T) {
	t.Parallel()
	of := func(limit, left, reset string) map[string]string {
		return map[string]string{"X-Ratelimit-Limit-Requests": limit, "X-Ratelimit-Remaining-Requests": left, "X-Ratelimit-Reset-Requests": reset}
	}
	for i, tc := range []struct {
		header map[string]string
		most   time.Duration // time that 400 requests may take
	}{
		{nil, 5 * time.Second},
		{of("1000", "999", "1ms"), 5 * time.Second},
		{of("0", "0", "1m"), 5 * time.Second},
		{of("1", "0", "1m"), 5 * time.Second},
		{of("-1", "-1", "0"), 5 * time.Second},
		{of("1000", "0", "8760h"), 5 * time.Second},
		{of("1000", "0", "1e300"), 5 * time.Second},
		{of("1000", "0", "9999999999"), 5 * time.Second},
		{of("NaN", "NaN", "NaN"), 5 * time.Second},
		{of("1e300", "0", "1m"), 5 * time.Second},
		{of("", "0", "1m"), 5 * time.Second},
		{map[string]string{"Ratelimit": `"a";r=0;t=31536000, "b";r="0", ;;;=, limit`, "Ratelimit-Policy": `"a";q=0`}, 5 * time.Second},
		{map[string]string{"Anthropic-Ratelimit-Requests-Limit": "50", "Anthropic-Ratelimit-Requests-Remaining": "0", "Anthropic-Ratelimit-Requests-Reset": "9999-01-01T00:00:00Z"}, 5 * time.Second},
		// These are plausible, so the first requests wait. After that, proviso ignores them.
		{of("1000", "0", "1m"), 7 * time.Minute},
		{of("1000", "0", "2m"), 13 * time.Minute},
		{of("1000", "1", "2m"), 13 * time.Minute},
		{of("1e12", "0", "2m"), 13 * time.Minute},
		{of("10", "1", "2m"), 13 * time.Minute},
		{of("1000", "25", "1m"), 7 * time.Minute},
		{of("1000", "99", "1m"), 7 * time.Minute},
	} {
		for _, workers := range some(i, 1, 8, 0) {
			synctest.Test(t, func(t *testing.T) {
				f := &fleet{vendor: liar(tc.header), config: withKey("k"), workers: max(workers, 1), atATime: 32 / max(workers, 1), rows: 400}
				if workers > 0 {
					f.shared = &table{}
				}
				f.run(t)
				t.Logf("%v, %d workers: %v", tc.header, workers, f.took)
				if f.took > tc.most || f.failed > 0 {
					t.Errorf("%v, %d workers: %v, want %v; %d failed", tc.header, workers, f.took, tc.most, f.failed)
				}
			})
		}
	}
}

// TestReportedOnTheWire uses HTTP and a clock that only sleeping advances: a server whose limit is
// nearly used up gets the next requests when the limit is available again.
func TestReportedOnTheWire(t *testing.T) {
	t.Parallel()
	for id, say := range map[string]says{"openai:chat:gpt-4o": fakemodel.OpenAISays, "anthropic:messages:claude-sonnet-4-5": fakemodel.AnthropicSays} {
		for _, fixed := range []bool{false, true} {
			var mu sync.Mutex
			begun := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
			now := begun
			clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
			limiter := &fakemodel.Limiter{Requests: 20, Fixed: fixed, Says: say, Now: clock}
			o := provider.Options{Now: clock, Sleep: func(_ context.Context, d time.Duration) error {
				mu.Lock()
				defer mu.Unlock()
				now = now.Add(d)
				return nil
			}}
			f := serve(t, id, nil, o, fakemodel.Options{Limiter: limiter})
			for range 60 {
				if _, err := f.ask(t, "x"); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
			took := clock().Sub(begun)
			if admitted, refused := limiter.Counts(); admitted != 60 || refused > 1 || took < 100*time.Second || took > 3*time.Minute {
				t.Errorf("%s, fixed %v: %d admitted, %d refused, in %v", id, fixed, admitted, refused, took)
			}
		}
	}
}

// TestNoReset: what is left of a limit delays nothing if its reset is unknown. A bucket of 10 that
// refills 10 times a second is used as much as one that reports nothing, where the latter refuses
// nothing.
func TestNoReset(t *testing.T) {
	t.Parallel()
	reports := map[string]says{
		"nothing": nil,
		"no reset": func(h http.Header, _ time.Time, requests, _ fakemodel.Left) {
			h.Set("X-Ratelimit-Limit", "10")
			h.Set("X-Ratelimit-Remaining", strconv.Itoa(int(requests.Left)))
		},
		"a reset that cannot be read": func(h http.Header, now time.Time, requests, tokens fakemodel.Left) {
			h.Set("X-Ratelimit-Limit", "10")
			h.Set("X-Ratelimit-Remaining", strconv.Itoa(int(requests.Left)))
			h.Set("X-Ratelimit-Reset", "soon")
		},
		"Azure": fakemodel.AzureSays,
	}
	for name, say := range reports {
		for _, workers := range []int{1, 0} {
			synctest.Test(t, func(t *testing.T) {
				v := &vendor{latency: 50 * time.Millisecond, limiter: &fakemodel.Limiter{Requests: 10, Window: time.Second, Says: say}}
				f := &fleet{vendor: v, config: withKey("k"), workers: 1, atATime: 9, rows: 540, every: 950 * time.Millisecond}
				if workers > 0 {
					f.shared = &table{}
				}
				f.run(t)
				if f.rate() < 8 || v.refused > 0 || f.failed > 0 {
					t.Errorf("%s, %d workers: %.1f answers a second, %d refused, %d failed", name, workers, f.rate(), v.refused, f.failed)
				}
			})
		}
	}
}

// TestWrongReportsAndRefusals: a false report does not explain refusals, so a rate is learnt from
// them.
func TestWrongReportsAndRefusals(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 4, 0} {
		synctest.Test(t, func(t *testing.T) {
			v := &vendor{latency: 500 * time.Millisecond, limiter: &fakemodel.Limiter{Requests: 10, Window: time.Second, Says: func(h http.Header, _ time.Time, _, _ fakemodel.Left) {
				h.Set("X-Ratelimit-Limit", "1000")
				h.Set("X-Ratelimit-Remaining", "0")
				h.Set("X-Ratelimit-Reset", "30")
			}}}
			f := &fleet{vendor: v, config: withKey("k"), workers: max(workers, 1), atATime: 32 / max(workers, 1), rows: 1500}
			if workers > 0 {
				f.shared = &table{}
			}
			f.run(t)
			t.Logf("%d workers: %v, %d refused, %d failed", workers, f.took, v.refused, f.failed)
			if v.refused > 500 || f.failed > 15 || f.took > 9*time.Minute {
				t.Errorf("%d workers: %v, %d refused, %d failed", workers, f.took, v.refused, f.failed)
			}
		})
	}
}
