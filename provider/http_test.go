package provider_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/value"
)

const secret = "sk-test-1234567890"

// naps is a clock that records waits instead of waiting.
type naps struct {
	mu   sync.Mutex
	list []time.Duration
}

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, d)
	return ctx.Err()
}

// clock is a clock that sleeping advances as well. Without it, what waits for a time would ask for
// the time until then.
func (n *naps) clock(now func() time.Time) func() time.Time {
	if now == nil {
		now = time.Now
	}
	return func() time.Time {
		at := now()
		for _, d := range n.all() {
			at = at.Add(d)
		}
		return at
	}
}

func (n *naps) all() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]time.Duration(nil), n.list...)
}

// environment has the key of every vendor and the address of the server.
func environment(url string) proviso.EnvMap {
	return proviso.EnvMap{
		"OPENAI_API_KEY": secret, "OPENAI_BASE_URL": url + "/v1",
		"ANTHROPIC_API_KEY": secret, "ANTHROPIC_BASE_URL": url,
		"GOOGLE_API_KEY": secret, "GOOGLE_API_BASE_URL": url,
		"AZURE_API_KEY": secret, "AZURE_API_BASE_URL": url,
		"OLLAMA_BASE_URL":          url,
		"AWS_BEARER_TOKEN_BEDROCK": secret, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url,
		"VERTEX_API_KEY": secret, "VERTEX_API_HOST": url,
		"REPLICATE_API_TOKEN": secret, "REPLICATE_API_BASE_URL": url + "/v1",
	}
}

// fixture is a provider in front of a fake server.
type fixture struct {
	proviso.Provider
	server *fakemodel.Server
	naps   *naps
}

func serve(t testing.TB, id string, cfg *value.Object, o provider.Options, f fakemodel.Options) fixture {
	t.Helper()
	s := fakemodel.New(f)
	t.Cleanup(s.Close)
	n := &naps{}
	if o.Sleep == nil {
		o.Sleep, o.Now = n.sleep, n.clock(o.Now)
	}
	o.Env = environment(s.URL)
	p, err := provider.Open(proviso.ProviderSpec{ID: id, Config: cfg}, o)
	if err != nil {
		t.Fatal(err)
	}
	return fixture{p, s, n}
}

func replies(list ...fakemodel.Reply) fakemodel.Options {
	return fakemodel.Options{Reply: fakemodel.Sequence(list...)}
}

func (f fixture) ask(t testing.TB, prompt string) (proviso.Output, error) {
	t.Helper()
	return f.Answer(t.Context(), proviso.Ask{Prompt: prompt})
}

func coded(t *testing.T, err error, code string) *proviso.Error {
	t.Helper()
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error is %v, want one with the code %s", err, code)
	}
	if strings.Contains(e.Error(), secret) {
		t.Errorf("the key is in the message: %v", e)
	}
	return e
}

var fine = fakemodel.Reply{Text: "fine"}

// everyone is one provider of each API.
var everyone = []string{
	"openai:chat:gpt-4o", "openai:responses:gpt-4o", "openai:completion:davinci-002", "anthropic:messages:claude-3-haiku-20240307",
	"google:gemini-2.5-flash", "ollama:chat:llama3", "ollama:completion:llama3", "azure:chat:mine",
	"bedrock:amazon.nova-lite-v1:0", "vertex:gemini-2.5-flash", "replicate:meta/llama-4",
}

func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]fakemodel.Reply{
		"429": fakemodel.RateLimited(""), "500": fakemodel.Broken(500), "502": fakemodel.HTML(502), "503": fakemodel.Broken(503),
		"504": fakemodel.Broken(504), "529": fakemodel.Broken(529), "reset": {Reset: true}, "cut": {Text: "long enough to cut", Cut: true},
		"gateway error in 200": {Raw: `{"error":{"code":502,"message":"upstream"}}`},
	} {
		for _, id := range everyone {
			t.Run(name+"/"+id, func(t *testing.T) {
				t.Parallel()
				f := serve(t, id, nil, provider.Options{}, replies(bad, bad, fine))
				out, err := f.ask(t, "hi")
				if err != nil || out.Text() != "fine" {
					t.Fatalf("answered %q, %v", out.Text(), err)
				}
				if n := f.server.Count(); n != 3 {
					t.Errorf("asked %d times, want 3", n)
				}
				waits := f.naps.all()
				if len(waits) != 2 || waits[0] < time.Second || waits[0] > 1250*time.Millisecond || waits[1] < 2*time.Second || waits[1] > 2500*time.Millisecond {
					t.Errorf("waited %v, want about 1 s and 2 s", waits)
				}
			})
		}
	}
}

func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		reply fakemodel.Reply
		code  string
		want  []string
		asked int // requests after two calls
	}{
		{"overloaded for ever", fakemodel.RateLimited(""), proviso.Unavailable, []string{"HTTP 429", "Rate limit reached", "5 attempts"}, 10},
		{"quota", fakemodel.OutOfQuota(), proviso.Unavailable, []string{"HTTP 429", "quota"}, 1},
		{"401", fakemodel.Reply{}.Failing(401, "invalid_api_key", "Incorrect API key provided: "+secret), proviso.Unavailable, []string{"HTTP 401", "[redacted]", "OPENAI_API_KEY"}, 1},
		{"402", fakemodel.Reply{}.Failing(402, "", "Insufficient Balance"), proviso.Unavailable, []string{"HTTP 402", "Insufficient Balance"}, 1},
		{"403", fakemodel.Reply{}.Failing(403, "forbidden", "no access"), proviso.Unavailable, []string{"HTTP 403", "no access"}, 1},
		{"404", fakemodel.Reply{}.Failing(404, "model_not_found", "The model `gpt-4p` does not exist"), proviso.Unavailable, []string{"HTTP 404", "gpt-4p"}, 1},
		{"unknown model in 400", fakemodel.Reply{}.Failing(400, "", "gpt-4p is not a valid model ID"), proviso.Unavailable, []string{"HTTP 400", "gpt-4p"}, 1},
		{"400", fakemodel.Reply{}.Failing(400, "invalid_request_error", "max_tokens is too large"), proviso.Unavailable, []string{"HTTP 400: max_tokens is too large"}, 2},
		{"422 with details", fakemodel.Reply{Status: 422, Raw: `{"detail":[{"loc":["body"],"msg":"bad"}]}`}, proviso.Unavailable, []string{"HTTP 422", `"msg":"bad"`}, 2},
		{"page", fakemodel.HTML(200), proviso.Unavailable, []string{"expected JSON, got the page \"Bad gateway\""}, 2},
		{"invalid JSON", fakemodel.Reply{Raw: `{"choices": [`}, proviso.Unavailable, []string{"not valid JSON", `{"choices": [`}, 2},
		{"not an object", fakemodel.Reply{Raw: `"hello"`}, proviso.Unavailable, []string{"expected a JSON object"}, 2},
		{"empty", fakemodel.Reply{Raw: " "}, proviso.Unavailable, []string{"empty"}, 2},
		{"error in 200", fakemodel.Reply{Raw: `{"error":{"message":"model crashed"}}`}, proviso.Unavailable, []string{"HTTP 200: model crashed"}, 2},
		{"text error in 200", fakemodel.Reply{Raw: `{"error":"out of\u001b[31m memory"}`}, proviso.Unavailable, []string{"out of [31m memory"}, 2},
		{"message in 200", fakemodel.Reply{Raw: `{"message":"no such route","request_id":"1"}`}, proviso.Unavailable, []string{"no such route"}, 2},
		{"no choices", fakemodel.Reply{Raw: `{"id":"1","choices":[]}`}, proviso.Unavailable, []string{"no choices"}, 2},
		{"no message", fakemodel.Reply{Raw: `{"id":"1","choices":[{}]}`}, proviso.Unavailable, []string{"no message"}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{}, replies(tc.reply))
			_, first := f.ask(t, "one")
			e := coded(t, first, tc.code)
			trouble := map[string]provider.Trouble{"quota": provider.QuotaTrouble, "402": provider.QuotaTrouble, "401": provider.KeyTrouble, "403": provider.KeyTrouble,
				"404": provider.ModelTrouble, "unknown model in 400": provider.ModelTrouble}[tc.name]
			if got := provider.TroubleOf(first); got != trouble {
				t.Errorf("the trouble is %q, want %q", got, trouble)
			}
			refused := ""
			if trouble == provider.KeyTrouble {
				refused = "OPENAI_API_KEY"
			}
			if got := provider.RefusedKey(first); got != refused {
				t.Errorf("the key %q was refused, want %q", got, refused)
			}
			for _, w := range append(tc.want, "openai:chat:gpt-4o: ") {
				if !strings.Contains(e.Error(), w) {
					t.Errorf("the message %q does not say %q", e.Error(), w)
				}
			}
			if strings.ContainsAny(e.Error(), "\x1b\n") {
				t.Errorf("control characters in %q", e.Error())
			}
			_, second := f.ask(t, "two")
			if n := f.server.Count(); n != tc.asked {
				t.Errorf("asked %d times, want %d", n, tc.asked)
			}
			if tc.asked == 1 && !errors.Is(second, first) {
				t.Errorf("the second question gives %v, want the same error", second)
			}
		})
	}
}

func TestStopsOneTargetOnly(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		if r.Model == "typo" {
			return fakemodel.Reply{}.Failing(404, "model_not_found", "no such model")
		}
		return fine
	}})
	defer s.Close()
	o := provider.Options{Env: environment(s.URL), Limits: &throttle.Limits{}}
	bad, err1 := provider.Open(proviso.ProviderSpec{ID: "openai:chat:typo"}, o)
	good, err2 := provider.Open(proviso.ProviderSpec{ID: "openai:chat:gpt-4o"}, o)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := bad.Answer(t.Context(), proviso.Ask{Prompt: "x"}); err == nil {
				t.Error("a model that does not exist answered")
			}
			if out, err := good.Answer(t.Context(), proviso.Ask{Prompt: "x"}); err != nil || out.Value != "fine" {
				t.Errorf("the other model answered %v, %v", out.Value, err)
			}
		})
	}
	wg.Wait()
	if n := s.Count(); n > 104 {
		t.Errorf("the model that does not exist was asked %d times, want at most the 4 in flight", n-100)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	date := func(after time.Duration) string { return now.Add(after).Format(http.TimeFormat) }
	for _, tc := range []struct {
		header   map[string]string
		from, to time.Duration
	}{
		{map[string]string{"Retry-After": "7"}, 7 * time.Second, 8750 * time.Millisecond},
		{map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond, 1875 * time.Millisecond},
		{map[string]string{"Retry-After-Ms": "250", "Retry-After": "9"}, 250 * time.Millisecond, 313 * time.Millisecond},
		{map[string]string{"Retry-After": date(20 * time.Second), "Date": date(0)}, 20 * time.Second, 25 * time.Second},
		{map[string]string{"Retry-After": date(20*time.Second - 5*time.Hour), "Date": date(-5 * time.Hour)}, 20 * time.Second, 25 * time.Second}, // our clock is ahead
		{map[string]string{"Retry-After": date(20*time.Second + 5*time.Hour), "Date": date(5 * time.Hour)}, 20 * time.Second, 25 * time.Second},  // our clock is behind
		{map[string]string{"Retry-After": date(20 * time.Second), "Date": "yesterday"}, 20 * time.Second, 25 * time.Second},
		{map[string]string{"Retry-After": "soon"}, time.Second, 1250 * time.Millisecond},
		{map[string]string{"Retry-After": "-3"}, time.Second, 1250 * time.Millisecond},
	} {
		bad := fakemodel.RateLimited("")
		bad.Header = tc.header
		f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{Now: func() time.Time { return now }}, replies(bad, fine))
		if _, err := f.ask(t, "hi"); err != nil {
			t.Fatal(err)
		}
		if w := f.naps.all(); w[0] < tc.from || w[0] > tc.to {
			t.Errorf("%v: waited %v, want %v to %v", tc.header, w, tc.from, tc.to)
		}
	}
	f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{}, replies(fakemodel.RateLimited("3600"), fine))
	_, err := f.ask(t, "hi")
	if e := coded(t, err, proviso.Unavailable); !strings.Contains(e.Error(), "1h0m0s") || f.server.Count() != 1 {
		t.Errorf("a wait of an hour gives %v", e)
	}
}

func TestRetriesAreConfigured(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		config  *value.Object
		options int
		asked   int
	}{
		{nil, 0, 5}, {nil, 2, 3}, {nil, -1, 1}, {value.ObjectOf("maxRetries", 0.0), 3, 1}, {value.ObjectOf("maxRetries", 1.0), 0, 2},
	} {
		f := serve(t, "openai:chat:gpt-4o", tc.config, provider.Options{MaxRetries: tc.options}, replies(fakemodel.Broken(500)))
		if _, err := f.ask(t, "hi"); err == nil || f.server.Count() != tc.asked {
			t.Errorf("%+v: asked %d times, %v", tc, f.server.Count(), err)
		}
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]fakemodel.Reply{"hangs": {Hang: true}, "drips": {Text: strings.Repeat("slowly ", 100), Drip: 10 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{Timeout: time.Second}, replies(slow))
			_, err := f.ask(t, "hi")
			if e := coded(t, err, proviso.Timeout); !strings.Contains(e.Error(), "no answer within 1s") || f.server.Count() != 1 {
				t.Errorf("asked %d times: %v", f.server.Count(), e)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{Concurrency: 1}, replies(fakemodel.Reply{Hang: true}))
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 3)
	for range 3 { // one in flight, two waiting for a slot
		go func() {
			_, err := f.Answer(ctx, proviso.Ask{Prompt: "hi"})
			errs <- err
		}()
	}
	for f.server.Count() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	for range 3 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call gives %v", err)
		}
	}
	if n := f.server.Count(); n != 1 {
		t.Errorf("%d requests were made", n)
	}
}

// TestNobodyThere uses an address that refuses connections: it is retried for about three seconds,
// whatever the retry limit for other errors is, and then gets no more requests.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(fakemodel.Options{})
	s.Close()
	for id, cfg := range map[string]*value.Object{
		"openai:gpt-4o":        nil,
		"openai:chat:gpt-4o":   config(t, `{"maxRetries":9}`),
		s.URL + "/some/answer": config(t, `{"method":"POST","body":{"p":"{{prompt}}"}}`),
	} {
		n := &naps{}
		o := httpOptions(t)
		o.Env, o.Sleep, o.Now = environment(s.URL), n.sleep, n.clock(nil)
		p, err := provider.Open(proviso.ProviderSpec{ID: id, Config: cfg}, o)
		if err != nil {
			t.Fatal(err)
		}
		_, first := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"})
		coded(t, first, proviso.Unavailable)
		if _, second := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); !errors.Is(second, first) {
			t.Errorf("%s: first %v, then %v", id, first, second)
		}
		var waited time.Duration
		for _, d := range n.all() {
			waited += d
		}
		if len(n.all()) != 2 || waited < 3*time.Second || waited > 4*time.Second {
			t.Errorf("%s: waited %v", id, n.all())
		}
	}
}

func TestConcurrencyFallsAndRecovers(t *testing.T) {
	t.Parallel()
	var phase atomic.Int32
	f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{Concurrency: 16}, fakemodel.Options{
		Latency: 10 * time.Millisecond,
		Reply: func(r fakemodel.Request) fakemodel.Reply {
			if phase.Load() == 1 {
				return fakemodel.Broken(503)
			}
			return fine
		},
	})
	burst := func(n int) {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() { _, _ = f.ask(t, "hi") })
		}
		wg.Wait()
	}
	burst(100)
	if p := f.server.Peak(); p > 16 || p <= 8 { // a busy machine may not reach 16
		t.Errorf("%d were in flight, want about 16 and no more", p)
	}
	phase.Store(1)
	burst(20) // each is refused five times
	phase.Store(0)
	f.server.Reset()
	burst(30)
	if p, n := f.server.Peak(), f.server.Count(); p > 8 || n != 30 {
		t.Errorf("after the refusals %d were in flight, of %d requests", p, n)
	}
	burst(300) // 1+2+...+16 successes are enough
	f.server.Reset()
	burst(100)
	if p := f.server.Peak(); p > 16 || p <= 8 {
		t.Errorf("after the recovery %d were in flight, want about 16 and no more", p)
	}
}

// TestConcurrencyFallsAsLatencyGrows uses a clock that the server advances.
func TestConcurrencyFallsAsLatencyGrows(t *testing.T) {
	t.Parallel()
	for later, want := range map[time.Duration]int{250 * time.Millisecond: 8, time.Second: 6} {
		var now, each atomic.Int64
		together := make(chan struct{})
		f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{Concurrency: 8, Now: func() time.Time { return time.Unix(0, now.Load()) }},
			fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
				if r.Prompt == "together" {
					<-together
				}
				now.Add(each.Load())
				return fine
			}})
		for _, d := range []time.Duration{100 * time.Millisecond, later} {
			each.Store(int64(d))
			for range 20 { // one window
				if _, err := f.ask(t, "hi"); err != nil {
					t.Fatal(err)
				}
			}
		}
		f.server.Reset()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { _, _ = f.ask(t, "together") })
		}
		for deadline := time.Now().Add(5 * time.Second); f.server.Peak() < want && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond) // time for one request too many
		if got := f.server.Peak(); got != want {
			t.Errorf("%v each after 100ms: %d in flight, want %d", later, got, want)
		}
		close(together)
		wg.Wait()
	}
}

// TestRateLimits uses a clock that only sleeping advances.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Unix(0, 0)
	o := provider.Options{
		Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now },
		Sleep: func(_ context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(d)
			return nil
		},
	}
	for _, tc := range []struct {
		config   *value.Object
		from, to time.Duration
	}{
		{value.ObjectOf("rpm", 30.0), 37999 * time.Millisecond, 38100 * time.Millisecond}, // one every 2 s
		{value.ObjectOf("rpm", 600.0), 900 * time.Millisecond, time.Second},               // a second's worth at once
		{value.ObjectOf("tpm", 6000.0), 18 * time.Second, 20 * time.Second},               // 100 tokens take a second
		{nil, 0, 0},
	} {
		now = time.Unix(0, 0)
		f := serve(t, "openai:chat:gpt-4o", tc.config, o, replies(fakemodel.Reply{Text: "x", Usage: proviso.Usage{Prompt: 40, Completion: 60}}))
		for range 20 {
			if out, err := f.ask(t, "hi"); err != nil || *out.Latency != 0 {
				t.Fatalf("latency %v, %v: waiting counts", out.Latency, err)
			}
		}
		if took := now.Sub(time.Unix(0, 0)); took < tc.from || took > tc.to {
			t.Errorf("%v: 20 requests took %v, want %v to %v", value.Stringify(tc.config), took, tc.from, tc.to)
		}
	}
}

func TestLatencyIsOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	f := serve(t, "openai:chat:gpt-4o", nil, provider.Options{}, fakemodel.Options{Latency: 5 * time.Millisecond, Reply: fakemodel.Sequence(fakemodel.Broken(500), fine)})
	out, err := f.ask(t, "hi")
	if err != nil || *out.Latency < 5*time.Millisecond || out.Usage.Requests != 1 {
		t.Errorf("latency %v, %+v, %v", out.Latency, out.Usage, err)
	}
}

// BenchmarkAnswer measures the time of client and server together, with 200
// requests in flight.
func BenchmarkAnswer(b *testing.B) {
	f := serve(b, "openai:chat:gpt-4o", nil, provider.Options{Concurrency: 200}, fakemodel.Options{
		Forget: true, Reply: func(fakemodel.Request) fakemodel.Reply { return fine },
	})
	b.SetParallelism(100) // times GOMAXPROCS
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := f.ask(b, "What is the capital of France?"); err != nil {
				b.Error(err)
			}
		}
	})
}

// TestRedirects follows a redirect to the same host, and sends no key to any
// other host.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := fakemodel.New(replies(fine))
	defer other.Close()
	to := func(status int, where string) fakemodel.Reply {
		return fakemodel.Reply{Status: status, Header: map[string]string{"Location": where}, Raw: "moved"}
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, id := range everyone {
			f := serve(t, id, nil, provider.Options{}, replies(to(status, other.URL+"/v1/chat/completions?key=secret")))
			for range 2 {
				_, err := f.ask(t, "hi")
				if e := coded(t, err, proviso.Unavailable); !strings.Contains(e.Error(), "a redirect to "+other.URL+"/v1/chat/completions, which is not followed") {
					t.Errorf("%s: %v", id, e)
				}
			}
			if f.server.Count() != 1 || other.Count() != 0 {
				t.Fatalf("%s was asked %d times, the other host %d times", id, f.server.Count(), other.Count())
			}
		}
	}
	f := serve(t, "openai:gpt-4o", nil, provider.Options{}, replies(to(307, "/v1/chat/completions"), fine))
	if out, err := f.ask(t, "hi"); err != nil || out.Value != "fine" || f.server.Last().Prompt != "hi" {
		t.Errorf("on the same host: %v, %v", out.Value, err)
	}
}

// TestRefusedKeyOfASuite: a key that comes from the suite is not reported as one of the user's
// environment.
func TestRefusedKeyOfASuite(t *testing.T) {
	t.Parallel()
	f := serve(t, "openai:chat:gpt-4o", value.ObjectOf("apiKey", "sk-own"), provider.Options{}, replies(fakemodel.Reply{}.Failing(401, "invalid_api_key", "no such key")))
	_, err := f.ask(t, "one")
	if provider.TroubleOf(err) != provider.KeyTrouble || provider.RefusedKey(err) != "" {
		t.Errorf("%v: %q", err, provider.RefusedKey(err))
	}
}
