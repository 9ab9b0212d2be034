package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// evaluator is a judge with responses from a test.
type evaluator func(context.Context, *judge.Request) (*judge.Response, error)

func (f evaluator) Evaluate(ctx context.Context, r *judge.Request) (*judge.Response, error) {
	return f(ctx, r)
}
func (evaluator) Identity() string { return "a judge of the test" }

// passing is a judge that passes every assertion.
func passing(_ context.Context, r *judge.Request) (*judge.Response, error) {
	n, one := len(r.Assertions), 1.0
	resp := &judge.Response{Score: &one, Passed: n, Total: n, Status: "pass", Threshold: 1, PassedThreshold: true}
	for _, a := range r.Assertions {
		resp.Results = append(resp.Results, judge.Result{ID: a.ID, Pass: true, Reasoning: "It is <so>.", Status: "pass"})
	}
	return resp, nil
}

// fixture is a server under test.
type fixture struct {
	*server.Server
	t     *testing.T
	store testStore
	url   string
	log   *safeBuffer
	stop  func() error // ends Serve and waits
	fails bool         // whether stop may report interrupted work
}

// safeBuffer is a bytes.Buffer for several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// start serves on a free port of this machine. Missing options get defaults.
func start(t *testing.T, o server.Options) *fixture {
	t.Helper()
	f := &fixture{t: t, log: &safeBuffer{}}
	if o.Store == nil {
		f.store = openStore(t, filepath.Join(t.TempDir(), "proviso.db"))
		o.Store, o.Jobs = f.store, f.store
	} else {
		f.store, _ = o.Store.(testStore)
	}
	if o.Judge == nil {
		o.Judge = evaluator(passing)
	}
	if o.CPUBudget == 0 {
		o.CPUBudget = time.Minute // the race detector makes templates and SQL slow
	}
	o.Log = slog.New(slog.NewJSONHandler(f.log, nil))
	o.Version = "test"
	var err error
	if f.Server, err = server.New(o); err != nil {
		t.Fatal(err)
	}
	l := httptest.NewUnstartedServer(nil).Listener
	f.url = "http://" + l.Addr().String()
	if o.TLS != nil {
		f.url = "https://" + l.Addr().String()
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx, l) }()
	f.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := f.stop(); err != nil && !f.fails {
			t.Error(err)
		}
	})
	if o.TLS == nil {
		f.await("/readyz")
	}
	return f
}

// await waits until an address responds with 200.
func (f *fixture) await(path string) {
	f.t.Helper()
	for range 4000 {
		if resp, err := http.Get(f.url + path); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	f.t.Fatalf("%s did not become ready", path)
}

// key makes an API key.
func (f *fixture) key(n store.NewKey) (secret string, key store.Key) {
	f.t.Helper()
	if n.Name == "" {
		n.Name = "test"
	}
	key, secret, err := f.store.CreateKey(f.t.Context(), n)
	if err != nil {
		f.t.Fatal(err)
	}
	return secret, key
}

// answer is a response of the server.
type answer struct {
	status int
	header http.Header
	body   string
}

// problem decodes the response as a problem.
func (a answer) problem(t *testing.T) server.Problem {
	t.Helper()
	var p server.Problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" || p.Status != a.status {
		t.Errorf("status %d with a problem of %d and content type %s", a.status, p.Status, got)
	}
	if p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") || p.Title == "" || !strings.HasPrefix(p.Type, "urn:proviso:problem:") {
		t.Errorf("incomplete problem: %s", a.body)
	}
	return p
}

// object decodes the response as an object.
func (a answer) object(t *testing.T) *value.Object {
	t.Helper()
	v, err := value.ParseJSON(a.body)
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		t.Fatalf("no object: %v: %d %s", err, a.status, a.body)
	}
	return o
}

// ask sends a request. Headers are "Name: value"; a body without a content type is JSON.
func (f *fixture) ask(method, path, body string, headers ...string) answer {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

func bearer(secret string) string { return "Authorization: Bearer " + secret }

// suites returns a runner of suites with the providers that need no network.
func suites(t *testing.T, client *http.Client) *server.Suites {
	return &server.Suites{Dir: t.TempDir(), Engine: engine.Options{Version: "test", Engines: engine.Engines{Client: client}}}
}

const evaluation = `{"agent_input": "Hi", "agent_output": "Hello <you>", "assertions": [{"id": "greets", "criteria": ["It greets"]}]}`

func TestEvaluate(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	got := f.ask("POST", "/v1/evaluate", evaluation)
	want := `{"score":1,"passed":1,"failed":0,"total":1,"results":[{"id":"greets","pass":true,"reasoning":"It is <so>.","status":"pass"}],"status":"pass","threshold":1,"passed_threshold":true}` + "\n"
	if got.status != 200 || got.body != want || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %s %s", got.status, got.header.Get("Content-Type"), got.body)
	}
	kept := f.ask("GET", got.header.Get("Location"), "").object(t)
	if kept.At("status") != "pass" || kept.At("judge") != "a judge of the test" || kept.Has("request") {
		t.Errorf("kept %s", value.Stringify(kept))
	}
	if list := f.ask("GET", "/v1/evaluations?limit=1", "").object(t); len(list.At("items").([]any)) != 1 {
		t.Errorf("listed %s", value.Stringify(list))
	}
}
