package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/proxy"
	"github.com/proviso-eval/proviso/value"
)

// collector is a server that accepts events as POST /v1/events does, and misbehaves on request.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	events []ingest.Event
	seen   map[string]bool
	bodies []string
	keys   map[string]bool
	answer func(w http.ResponseWriter, n int) bool // returns true if it has answered
	calls  int
	wrong  []string
}

// asked returns the number of requests so far.
func (c *collector) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

func newCollector(t testing.TB) *collector {
	c := &collector{seen: map[string]bool{}, keys: map[string]bool{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Server.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.answer != nil && c.answer(w, c.calls) {
		return
	}
	v, err2 := value.ParseJSON(string(data))
	o, ok := v.(*value.Object)
	if err != nil || err2 != nil || !ok || r.URL.Path != "/v1/events" || r.Method != http.MethodPost {
		c.wrong = append(c.wrong, r.Method+" "+r.URL.Path+" "+string(data))
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	c.keys[r.Header.Get("Authorization")] = true
	c.bodies = append(c.bodies, string(data))
	took, again := 0, 0
	rejected := []any{}
	for i, v := range o.At("events").([]any) {
		e, wrong := ingest.ReadEvent(v.(*value.Object), time.Now())
		switch {
		case len(wrong) > 0:
			c.wrong = append(c.wrong, wrong[0].Pointer+" "+wrong[0].Message)
			rejected = append(rejected, value.ObjectOf("index", float64(i), "code", wrong[0].Code, "message", wrong[0].Message))
		case c.seen[e.ID]:
			again++
		default:
			c.seen[e.ID] = true
			c.events = append(c.events, e)
			took++
		}
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, value.Stringify(value.ObjectOf("accepted", took, "duplicate", again, "rejected", rejected)))
}

// wait returns the events once there are n.
func (c *collector) wait(t testing.TB, n int) []ingest.Event {
	t.Helper()
	for range 1500 {
		c.mu.Lock()
		got, wrong := len(c.events), c.wrong
		c.mu.Unlock()
		if len(wrong) > 0 {
			t.Fatalf("the server refuses %q", wrong)
		}
		if got >= n {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.events) != n {
		t.Fatalf("%d events, want %d", len(c.events), n)
	}
	return c.events
}

// served is a running proxy.
type served struct {
	*proxy.Proxy
	url  string
	log  *bytes.Buffer // read it only after stop
	stop func() error
}

const testKey = "pvk_0123456789abcdef"

// start runs a proxy with a configuration until the test ends.
func start(t testing.TB, config string, change ...func(*proxy.Options, *proxy.Serving)) *served {
	t.Helper()
	env := proviso.EnvMap{"PROVISO_KEY": testKey, "SALT": "salt"}
	c, wrong := proxy.ReadConfig("proxy.yaml", []byte(config), env)
	if wrong.Err() != nil {
		t.Fatal(wrong)
	}
	log := &bytes.Buffer{}
	o := proxy.Options{Config: c, Env: env, Log: slog.New(slog.NewJSONHandler(log, nil)), Every: 10 * time.Millisecond}
	s := proxy.Serving{Stop: 5 * time.Second, Flush: 5 * time.Second}
	for _, f := range change {
		f(&o, &s)
	}
	p, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l, s) }()
	var once sync.Once
	out := &served{Proxy: p, url: "http://" + l.Addr().String(), log: log}
	var result error
	out.stop = func() error {
		once.Do(func() { cancel(); result = <-ended })
		return result
	}
	t.Cleanup(func() { _ = out.stop() })
	return out
}

// configFor is a configuration with all settings, for an upstream and a collector.
func configFor(upstream, to string) string {
	return `
upstreams: {openai: ` + upstream + `, anthropic: ` + upstream + `}
record: {to: ` + to + `, key_env: PROVISO_KEY}
identify:
  agent: header:X-Proviso-Agent
  conversation: header:X-Proviso-Conversation
  user: header:X-Proviso-User
  segment: {lang: header:X-Lang}
`
}

// ask posts a body and returns the status and the body of the reply.
func ask(t testing.TB, url, body string, headers ...string) (int, string) {
	t.Helper()
	resp, err := post(t, url, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%v after %q", err, data)
	}
	return resp.StatusCode, string(data)
}

func post(t testing.TB, url, body string, headers ...string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		req.Header.Set(name, v)
	}
	return http.DefaultClient.Do(req)
}

// shown is an event as JSON, for messages and comparisons.
func shown(e ingest.Event) string { return value.Stringify(e.Object()) }

// metric reads one metric of a proxy.
func metric(t testing.TB, p *served, name string) string {
	t.Helper()
	resp, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// errorCode is the code in an error of the proxy.
func errorCode(body string) string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal([]byte(body), &e)
	return e.Error.Code
}
