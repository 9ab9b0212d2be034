package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// fake is a provider that counts its calls.
type fake struct {
	asked  atomic.Int32
	answer func(ctx context.Context, n int32, ask proviso.Ask) (proviso.Output, error)
}

func (*fake) ID() string { return "fake" }

func (f *fake) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	return f.answer(ctx, f.asked.Add(1), ask)
}

// priced answers with a number that counts up, at a fixed cost.
func priced(cost float64) *fake {
	return &fake{answer: func(_ context.Context, n int32, _ proviso.Ask) (proviso.Output, error) {
		latency := 1234567 * time.Nanosecond
		return proviso.Output{
			Value: fmt.Sprint(n), Cost: &cost, Latency: &latency, FinishReason: "stop", LogProbs: []float64{-0.5}, TraceID: "abc", Refused: true,
			Usage: proviso.Usage{Prompt: 1, Completion: 2, Total: 3, Requests: 1}, ToolCalls: []any{value.ObjectOf("f", 1.0)},
			Metadata: value.ObjectOf("m", 1.0), Guardrails: value.ObjectOf("flagged", false), Raw: value.ObjectOf("id", "x", "vars", 1.0),
		}, nil
	}}
}

func answer(t *testing.T, p proviso.Provider, ask proviso.Ask) proviso.Output {
	t.Helper()
	out, err := p.Answer(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCache(t *testing.T) {
	t.Parallel()
	store, f := blobs.Open(t.TempDir()), priced(0.25)
	c := provider.NewCache(store, provider.CacheOptions{})
	p := c.Provider(f, "one")
	ask := proviso.Ask{Prompt: "p", Config: value.ObjectOf("a", 1.0, "b", 2.0)}
	first := answer(t, p, ask)
	if first.Cached || *first.Cost != 0.25 {
		t.Errorf("the first answer is %+v", first)
	}
	ask.Config = value.ObjectOf("b", 2.0, "a", 1.0)
	hit := answer(t, provider.NewCache(store, provider.CacheOptions{}).Provider(f, "one"), ask)
	if !hit.Cached || *hit.Cost != 0 || hit.Latency != nil || hit.Usage.Requests != 0 || hit.Raw.At("recordedCost") != 0.25 || hit.Raw.At("recordedLatencyMs") != 1.235 {
		t.Errorf("the hit is %+v with %s", hit, value.Stringify(hit.Raw))
	}
	hit.Cached, hit.Cost, hit.Latency, hit.Usage.Requests, hit.Raw = first.Cached, first.Cost, first.Latency, first.Usage.Requests, first.Raw
	if !reflect.DeepEqual(hit, first) {
		t.Errorf("stored %+v\ngot    %+v", first, hit)
	}
	others := []struct {
		identity string
		ask      proviso.Ask
	}{
		{"two", ask},
		{"one", proviso.Ask{Prompt: "q", Config: ask.Config}},
		{"one", proviso.Ask{Prompt: "p"}},
		{"one", proviso.Ask{Prompt: "p", Config: ask.Config, Sample: proviso.Sample{Repeat: 1}}},
		{"one", proviso.Ask{Prompt: "p", Config: ask.Config, Sample: proviso.Sample{Vote: 1}}},
		{"one", proviso.Ask{Prompt: "p", Config: ask.Config, Sample: proviso.Sample{Repair: 1}}},
	}
	for _, o := range others {
		if out := answer(t, c.Provider(f, o.identity), o.ask); out.Cached {
			t.Errorf("%+v is taken for another ask", o)
		}
		if out := answer(t, c.Provider(f, o.identity), o.ask); !out.Cached {
			t.Errorf("%+v is not kept", o)
		}
	}
	if s := c.Stats(); s.Hits != 6 || s.Misses != 7 || s.SavedCost != 1.5 || s.Unsaved != 0 {
		t.Errorf("stats %+v", s)
	}
	if n, err := store.Clear(); n != 7 || err != nil {
		t.Errorf("cleared %d, %v", n, err)
	}
	if out := answer(t, p, ask); out.Cached {
		t.Error("a hit after clearing")
	}
}

func TestCacheKeepsNoFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		out proviso.Output
		err error
	}{
		{proviso.Output{Value: "x", Error: "overloaded"}, nil},
		{proviso.Output{Value: "blocked", Error: "content filter", Refused: true}, nil},
		{proviso.Output{}, nil}, {proviso.Output{Value: value.Undefined{}}, nil},
		{proviso.Output{}, errors.New("gone")},
	} {
		f := &fake{answer: func(context.Context, int32, proviso.Ask) (proviso.Output, error) { return tc.out, tc.err }}
		store := blobs.Open(t.TempDir())
		p := provider.NewCache(store, provider.CacheOptions{}).Provider(f, "")
		for range 2 {
			_, _ = p.Answer(t.Context(), proviso.Ask{})
		}
		if n, _ := store.Clear(); n != 0 || f.asked.Load() != 2 {
			t.Errorf("%+v, %v: %d kept, asked %d times", tc.out, tc.err, n, f.asked.Load())
		}
	}
}

func TestCacheFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, f := blobs.Open(dir), priced(1)
	now := time.Now()
	c := provider.NewCache(store, provider.CacheOptions{TTL: time.Hour, Now: func() time.Time { return now }})
	p := c.Provider(f, "")
	answer(t, p, proviso.Ask{})
	if now = now.Add(59 * time.Minute); !answer(t, p, proviso.Ask{}).Cached {
		t.Error("too old too soon")
	}
	if now = now.Add(-24 * time.Hour); !answer(t, p, proviso.Ask{}).Cached {
		t.Error("a clock that jumps back makes entries old")
	}
	if now = now.Add(48 * time.Hour); answer(t, p, proviso.Ask{}).Cached {
		t.Error("too old an answer")
	}
	list, _ := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	for _, text := range []string{"", "{", "[]", `{"response":{}}`, `{"response":{"output":"x","cost":"y"}}`} {
		if err := os.WriteFile(list[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		now = time.Now()
		if answer(t, p, proviso.Ask{}).Cached || !answer(t, p, proviso.Ask{}).Cached {
			t.Errorf("%q in a file is not a miss that is mended", text)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c = provider.NewCache(blobs.Open(file), provider.CacheOptions{})
	answer(t, c.Provider(f, ""), proviso.Ask{})
	if s := c.Stats(); s.Unsaved != 1 || s.Err == nil {
		t.Errorf("a store that cannot be written gives %+v", s)
	}
}

func TestCacheCoalesces(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	f := priced(0.5)
	inner := f.answer
	f.answer = func(ctx context.Context, n int32, ask proviso.Ask) (proviso.Output, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return proviso.Output{}, ctx.Err()
		}
		return inner(ctx, n, ask)
	}
	c := provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{})
	p := c.Provider(f, "")
	first, giveUp := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() { _, err := p.Answer(first, proviso.Ask{}); gaveUp <- err }()
	for f.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	var wg sync.WaitGroup
	var paid atomic.Int32
	for range 20 {
		wg.Go(func() {
			out, err := p.Answer(t.Context(), proviso.Ask{})
			if err != nil || out.Value != "2" {
				t.Errorf("%+v, %v", out, err)
			}
			if *out.Cost > 0 {
				paid.Add(1)
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	giveUp()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up got %v", err)
	}
	close(release)
	wg.Wait()
	if f.asked.Load() != 2 || paid.Load() != 1 {
		t.Errorf("asked %d times, %d paid", f.asked.Load(), paid.Load())
	}
	if s := c.Stats(); s.Hits != 19 || s.SavedCost != 9.5 {
		t.Errorf("stats %+v", s)
	}
}

func TestCacheOfLocalProviders(t *testing.T) {
	t.Parallel()
	c, b := provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}), provider.NewBudget(0)
	if p := c.Provider(b.Provider(open(t, "echo", nil)), ""); p != open(t, "echo", nil) {
		t.Errorf("echo is wrapped: %T", p)
	}
}

// TestCacheOfHTTP checks that the rendered variables of a template are part of the key.
func TestCacheOfHTTP(t *testing.T) {
	t.Parallel()
	spec := proviso.ProviderSpec{ID: mirror(t).URL, Config: config(t, `{"body":{"p":"{{prompt}}","v":"{{v}}"}}`)}
	o := httpOptions(t)
	inner, err := provider.Open(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	c := provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{})
	plain := c.Provider(inner, provider.Identity(spec, o))
	capped := c.Provider(provider.NewBudget(1).Provider(inner), provider.Identity(spec, o))
	ask := func(p proviso.Provider, v string) proviso.Output {
		return answer(t, p, proviso.Ask{Prompt: "p", Vars: value.ObjectOf("v", v, "unused", v)})
	}
	if a, b, again := ask(plain, "1"), ask(plain, "2"), ask(capped, "1"); a.Cached || b.Cached || !again.Cached || again.Text() != a.Text() {
		t.Errorf("%+v\n%+v\n%+v", a, b, again)
	}
}

// TestRunIDIsNoKey: a template may send the run id, and another run still finds the answer in the
// cache and on the cassette. Whatever differs within a run stays in the key.
func TestRunIDIsNoKey(t *testing.T) {
	t.Parallel()
	spec := proviso.ProviderSpec{ID: mirror(t).URL, Config: config(t, `{"body":{"p":"{{prompt}}","run":"{{__evalId}}","step":"{{__evalStepId}}"}}`)}
	store, shelf := blobs.Open(t.TempDir()), blobs.Open(t.TempDir())
	open := func(c *transport.Cassette) proviso.Provider {
		o := httpOptions(t)
		o.Client = transport.New(transport.Options{Env: proviso.EnvMap{}, Wrap: c.Wrap}).Client()
		p, err := provider.Open(spec, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ask := func(p proviso.Provider, run, step string) (proviso.Output, error) {
		return p.Answer(transport.WithRun(t.Context(), run, proviso.EvalID), proviso.Ask{
			Prompt: "in " + run, Own: value.ObjectOf("__evalId", run, "__evalStepId", step),
		})
	}
	recording := provider.NewCache(store, provider.CacheOptions{}).Provider(open(transport.Record(shelf, transport.CassetteOptions{})), "i")
	replaying := open(transport.Replay(shelf, transport.CassetteOptions{}))
	a, err := ask(recording, "20260101-120000-aaaa", "s1")
	if err != nil || a.Cached || strings.Count(a.Text(), "20260101-120000-aaaa") != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	if b, err := ask(recording, "20260101-120000-bbbb", "s1"); err != nil || !b.Cached || b.Text() != a.Text() {
		t.Errorf("another run is not answered from the cache: %+v, %v", b, err)
	}
	if c, err := ask(replaying, "20260101-120000-cccc", "s1"); err != nil || c.Text() != a.Text() {
		t.Errorf("another run is not answered from the tape: %+v, %v", c, err)
	}
	if d, err := ask(recording, "20260101-120000-aaaa", "s2"); err != nil || d.Cached {
		t.Errorf("another row is answered from the cache: %+v, %v", d, err)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	o := provider.Options{Env: proviso.EnvMap{"OPENAI_BASE_URL": "https://a", "HOME": "/h", "OPENAI_API_KEY": "k"}, Files: files{"t.json": "1", "x.py": "print()"}}
	spec := proviso.ProviderSpec{ID: "m", Label: "l", Config: value.ObjectOf("a", 1.0, "b", "file://t.json:f", "apiKey", "k1")}
	base := provider.Identity(spec, o)
	same, other := spec, spec
	same.Label, same.Config = "another", value.ObjectOf("b", "file://t.json:f", "apiKey", "k2", "a", 1.0)
	if provider.Identity(same, o) != base {
		t.Error("order, label and key are part of the identity")
	}
	other.Config = value.ObjectOf("a", 2.0)
	o2, o3 := o, o
	o2.Env = proviso.EnvMap{"OPENAI_BASE_URL": "https://b"}
	o3.Files = files{"t.json": "2"}
	if provider.Identity(other, o) == base || provider.Identity(spec, o2) == base || provider.Identity(spec, o3) == base {
		t.Error("another setting, endpoint or file is the same identity")
	}
	script := proviso.ProviderSpec{ID: "exec: python x.py"}
	o3.Files = files{"x.py": "print(1)"}
	if provider.Identity(script, o) == provider.Identity(script, o3) {
		t.Error("another script is the same identity")
	}
}

// embedder gives every text the vector of its length.
type embedder struct {
	*fake
	texts [][]string
}

func (e *embedder) Embed(_ context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	e.texts = append(e.texts, texts)
	var list [][]float64
	for _, s := range texts {
		list = append(list, []float64{float64(len(s)), 0.1})
	}
	return list, proviso.Usage{Total: 5}, nil
}

func TestCacheOfEmbeddings(t *testing.T) {
	t.Parallel()
	e := &embedder{fake: priced(1)}
	c, b := provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}), provider.NewBudget(1)
	p := c.Provider(b.Provider(e), "").(proviso.Embedder)
	for _, texts := range [][]string{{"a", "bb", "a"}, {"ccc", "bb"}, {"a"}} {
		got, _, err := p.Embed(t.Context(), texts)
		for i, s := range texts {
			if err != nil || len(got) != len(texts) || got[i][0] != float64(len(s)) || got[i][1] != 0.1 {
				t.Fatalf("%v gives %v, %v", texts, got, err)
			}
		}
	}
	if fmt.Sprint(e.texts) != "[[a bb] [ccc]]" {
		t.Errorf("asked for %v", e.texts)
	}
	answer(t, b.Provider(e), proviso.Ask{})
	if _, _, err := p.Embed(t.Context(), []string{"new"}); codeOf(err) != proviso.Limit {
		t.Errorf("beyond the budget: %v", err)
	}
}

// TestHTTPOnCassette goes through all layers: record, then replay without the
// server.
func TestHTTPOnCassette(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		time.Sleep(3 * time.Millisecond)
		fmt.Fprintf(w, `{"output":%q}`, body)
	}))
	store := blobs.Open(t.TempDir())
	for _, id := range []string{srv.URL + "/{{v}}", "webhook:" + srv.URL} {
		ask := proviso.Ask{Prompt: "p", Vars: value.ObjectOf("v", "x"), Sample: proviso.Sample{Repeat: 2}}
		outs := map[bool]proviso.Output{}
		for _, replays := range []bool{false, true} {
			cassette := transport.Record(store, transport.CassetteOptions{})
			if replays {
				cassette = transport.Replay(store, transport.CassetteOptions{})
			}
			o := httpOptions(t)
			o.Client, o.Cassette = transport.New(transport.Options{Wrap: cassette.Wrap}).Client(), cassette
			p, err := provider.Open(proviso.ProviderSpec{ID: id, Config: config(t, `{"body":{"p":"{{prompt}}"},"transformResponse":"json.output"}`)}, o)
			if err != nil {
				t.Fatal(err)
			}
			outs[replays] = answer(t, p, ask)
			if replays {
				ask.Sample = proviso.Sample{}
				if _, err := p.Answer(t.Context(), ask); codeOf(err) != proviso.NotFound || !strings.Contains(err.Error(), "prompt ") {
					t.Errorf("%s: another sample gives %v", id, err)
				}
			}
		}
		if outs[false].Value != outs[true].Value {
			t.Errorf("%s: recorded %v, replayed %v", id, outs[false].Value, outs[true].Value)
		}
		if a, b := *outs[false].Latency, *outs[true].Latency; !strings.HasPrefix(id, "webhook:") && (a != b || a < 3*time.Millisecond) {
			t.Errorf("%s: latency %v recorded, %v replayed", id, a, b)
		}
	}
	srv.Close()
}

func TestBudget(t *testing.T) {
	t.Parallel()
	b, f := provider.NewBudget(1), priced(0.3)
	p := b.Provider(f)
	for i := range 5 {
		_, err := p.Answer(t.Context(), proviso.Ask{})
		if i < 3 && err != nil || i >= 3 && codeOf(err) != proviso.Limit {
			t.Errorf("ask %d: %v", i, err)
		}
		if i == 3 && (!strings.Contains(err.Error(), "--max-cost 1 ") || !strings.Contains(err.Error(), "0.9 US dollars") || !strings.Contains(err.Error(), "0.3")) {
			t.Errorf("the error says %v", err)
		}
	}
	if b.Refused() != 2 || f.asked.Load() != 3 {
		t.Errorf("spent %v, %d refused, %d asked", b.Spent(), b.Refused(), f.asked.Load())
	}
}

// TestBudgetIsHard makes many concurrent requests to two providers.
func TestBudgetIsHard(t *testing.T) {
	t.Parallel()
	b := provider.NewBudget(1)
	var wg sync.WaitGroup
	var answered atomic.Int32
	slow := func(cost float64) proviso.Provider {
		return b.Provider(&fake{answer: func(context.Context, int32, proviso.Ask) (proviso.Output, error) {
			time.Sleep(time.Millisecond)
			return proviso.Output{Value: "x", Cost: &cost}, nil
		}})
	}
	providers := []proviso.Provider{slow(0.01), slow(0.1)}
	for i := range 300 {
		wg.Go(func() {
			if _, err := providers[i%2].Answer(t.Context(), proviso.Ask{}); err == nil {
				answered.Add(1)
			} else if codeOf(err) != proviso.Limit {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if s := b.Spent(); s > 1+1e-9 || s < 0.9 || int(answered.Load())+b.Refused() != 300 {
		t.Errorf("spent %v, %d answered, %d refused", s, answered.Load(), b.Refused())
	}
}

func TestBudgetWaits(t *testing.T) {
	t.Parallel()
	b := provider.NewBudget(10)
	p := b.Provider(&fake{answer: func(ctx context.Context, n int32, _ proviso.Ask) (proviso.Output, error) {
		<-ctx.Done()
		return proviso.Output{}, ctx.Err()
	}})
	first, cancel := context.WithCancel(t.Context())
	go p.Answer(first, proviso.Ask{})
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := p.Answer(ctx, proviso.Ask{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waits for the first price gets %v", err)
	}
	cancel()
	unpriced := b.Provider(&fake{answer: func(context.Context, int32, proviso.Ask) (proviso.Output, error) {
		return proviso.Output{Value: "x"}, nil
	}})
	for range 3 {
		answer(t, unpriced, proviso.Ask{})
	}
	if b.Unpriced() != 3 || b.Spent() != 0 {
		t.Errorf("%d unpriced, %v spent", b.Unpriced(), b.Spent())
	}
}
