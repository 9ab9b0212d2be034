package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/proxy"
)

const chatBody = `{"model":"gpt-4.1","messages":[{"role":"user","content":"Hi"}]}`

// TestRecorderRetries: events that the server cannot accept now are sent again and arrive once. An
// event that it rejects is left out, without the others.
func TestRecorderRetries(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, n int) bool{
		"overload": func(w http.ResponseWriter, n int) bool {
			if n > 2 {
				return false
			}
			w.Header().Set("Retry-After", "0.01")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		},
		"rate":    func(w http.ResponseWriter, n int) bool { return n <= 1 && fail(w, http.StatusTooManyRequests) },
		"key":     func(w http.ResponseWriter, n int) bool { return n <= 1 && fail(w, http.StatusUnauthorized) },
		"no room": func(w http.ResponseWriter, n int) bool { return n <= 1 && fail(w, http.StatusInsufficientStorage) },
		"moved": func(w http.ResponseWriter, n int) bool {
			w.Header().Set("Location", "/elsewhere")
			return n <= 1 && fail(w, http.StatusTemporaryRedirect)
		},
		"hangs up": func(_ http.ResponseWriter, n int) bool {
			if n <= 1 {
				panic(http.ErrAbortHandler)
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := fakemodel.New(fakemodel.Options{})
			defer model.Close()
			c := newCollector(t)
			c.answer = answer
			p := start(t, configFor(model.URL, c.URL))
			for range 20 {
				if status, _ := ask(t, p.url+"/openai/v1/chat/completions", chatBody); status != 200 {
					t.Fatal(status)
				}
			}
			c.wait(t, 20)
			if err := p.stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func fail(w http.ResponseWriter, status int) bool {
	w.WriteHeader(status)
	return true
}

// TestLargeBatches: a server that accepts less than a batch gets it in parts, and only an event
// that it rejects alone is lost.
func TestLargeBatches(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	c := newCollector(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if strings.Contains(string(data), "poison") || len(data) > 2000 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(data)))
		c.ServeHTTP(w, r)
	}))
	defer refusing.Close()
	p := start(t, configFor(model.URL, refusing.URL), func(o *proxy.Options, _ *proxy.Serving) { o.Every = 300 * time.Millisecond })
	for i := range 21 {
		body := chatBody
		if i == 7 {
			body = strings.Replace(chatBody, "Hi", "poison", 1)
		}
		ask(t, p.url+"/openai/v1/chat/completions", body)
	}
	c.wait(t, 20)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(p.log.String(), `"rejected":1`) {
		t.Error(p.log)
	}
}

// TestDeadServer: without a server, traffic passes as before. Events that do not fit into the
// buffer are dropped and counted, memory stays within the limit, and the final message reports the
// loss.
func TestDeadServer(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Reply: func(fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: strings.Repeat("x", 20_000)} }, Forget: true})
	defer model.Close()
	config := strings.Replace(configFor(model.URL, "http://127.0.0.1:9"), "key_env: PROVISO_KEY", "buffer: 1MiB", 1)
	p := start(t, config, func(_ *proxy.Options, s *proxy.Serving) { s.Flush = 100 * time.Millisecond })
	for range 100 {
		if status, body := ask(t, p.url+"/openai/v1/chat/completions", chatBody); status != 200 || len(body) < 20_000 {
			t.Fatal(status, body)
		}
	}
	if got := metric(t, p, `proviso_proxy_events_total{result="dropped_full"}`); got == "0" || got == "" {
		t.Errorf("dropped: %s", got)
	}
	var used float64
	if _, err := fmt.Sscan(metric(t, p, "proviso_proxy_buffer_used_bytes"), &used); err != nil || used > 1<<20 || used < 1<<19 {
		t.Errorf("the buffer holds %g bytes: %v", used, err)
	}
	err := p.stop()
	if err == nil || !strings.Contains(err.Error(), "of the events: http://127.0.0.1:9/v1/events: nothing listens there") {
		t.Error(err)
	}
}

// TestRefusedKey: events wait for a key that works. At the end, the error reports that the key was
// refused, not that the server was slow.
func TestRefusedKey(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	for config, want := range map[string]string{
		"key_env: PROVISO_KEY": "dropped 1 of the events: the server refuses the key of record.key_env (401 Unauthorized)",
		"sample: 1":            "dropped 1 of the events: the server wants a key, and record.key_env names none (401 Unauthorized)",
	} {
		c := newCollector(t)
		c.answer = func(w http.ResponseWriter, _ int) bool {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		p := start(t, strings.Replace(configFor(model.URL, c.URL), "key_env: PROVISO_KEY", config, 1), func(_ *proxy.Options, s *proxy.Serving) { s.Flush = 50 * time.Millisecond })
		ask(t, p.url+"/openai/v1/chat/completions", chatBody)
		for c.asked() == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := p.stop(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestServerKilled: the server dies and returns at the same address. No request is affected, and
// every event arrives exactly once.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Streams: true})
	defer model.Close()
	c := newCollector(t)
	var dead atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dead.Load() {
			_, _ = io.CopyN(io.Discard, r.Body, 10)
			panic(http.ErrAbortHandler)
		}
		c.ServeHTTP(w, r)
		if len(c.bodies)%3 == 1 { // killed after it has stored, before it answers
			panic(http.ErrAbortHandler)
		}
	}))
	defer front.Close()
	p := start(t, configFor(model.URL, front.URL))
	const n = 200
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range n / 8 {
				if status, _ := ask(t, p.url+"/openai/v1/chat/completions", strings.Replace(chatBody, "{", `{"stream":true,`, 1)); status != 200 {
					t.Error(status)
				}
				dead.Store(i%2 == 0)
			}
		})
	}
	all.Wait()
	dead.Store(false)
	c.wait(t, n)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// TestSample: conversations are recorded as a whole, about as many as the share says, and the same
// ones each time.
func TestSample(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Forget: true})
	defer model.Close()
	c := newCollector(t)
	p := start(t, strings.Replace(configFor(model.URL, c.URL), "key_env: PROVISO_KEY", "key_env: PROVISO_KEY, sample: 0.25", 1))
	for i := range 400 {
		ask(t, p.url+"/openai/v1/chat/completions", chatBody, fmt.Sprintf("X-Proviso-Conversation: c%d", i%200))
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	per := map[string]int{}
	for _, e := range c.events {
		per[e.Conversation]++
	}
	if len(per) < 30 || len(per) > 75 {
		t.Errorf("%d of 200 conversations", len(per))
	}
	for name, n := range per {
		if n != 2 {
			t.Errorf("%s: %d of 2", name, n)
		}
	}
}

// TestErrors: an upstream error becomes an event with the error, and the reply is unchanged.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reply fakemodel.Reply
		path  string
		want  string
	}{
		{fakemodel.RateLimited("3"), "/openai/v1/chat/completions", "HTTP 429: rate_limit_exceeded: Rate limit reached for requests"},
		{fakemodel.HTML(502), "/openai/v1/responses", "HTTP 502"},
		{fakemodel.Reply{}.Failing(529, "overloaded_error", "Overloaded"), "/anthropic/v1/messages", "HTTP 529: overloaded_error: Overloaded"},
		{fakemodel.Reply{Text: "one two three four", Cut: true}, "/openai/v1/chat/completions", "the upstream ended its reply early"},
		{fakemodel.Reply{Reset: true}, "/openai/v1/chat/completions", "closed the connection without an answer"},
		{fakemodel.Reply{Raw: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"}, "/anthropic/v1/messages", "overloaded_error: Overloaded"},
		{fakemodel.Reply{Raw: "data: {\"error\":{\"message\":\"broke\",\"code\":\"server_error\"}}\n\n"}, "/openai/v1/chat/completions", "server_error: broke"},
		{fakemodel.Reply{Raw: "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"broke\"},\"output\":[]}}\n\n"}, "/openai/v1/responses", "server_error: broke"},
		{fakemodel.Reply{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"}, "/openai/v1/chat/completions", "the stream ended without its last event"},
	} {
		model := fakemodel.New(fakemodel.Options{Streams: true, Reply: func(fakemodel.Request) fakemodel.Reply { return c.reply }})
		server := newCollector(t)
		p := start(t, configFor(model.URL, server.URL))
		body := strings.Replace(chatBody, "{", `{"stream":true,"input":"Hi",`, 1)
		want := hear(t, model.URL, http.MethodPost, c.path[strings.Index(c.path, "/v1"):], body)
		got := hear(t, p.url, http.MethodPost, c.path, body)
		if !c.reply.Reset && (want.Status != got.Status || want.Body != got.Body || want.End != got.End || want.Header.Get("Retry-After") != got.Header.Get("Retry-After")) {
			t.Errorf("%s: %+v, want %+v", c.want, got, want)
		}
		e := server.wait(t, 1)[0]
		if !strings.Contains(e.Error, c.want) || c.reply.Reset == false && e.Input != "Hi" || c.reply.Cut && !strings.HasPrefix(e.Output, "one") {
			t.Errorf("%s", shown(e))
		}
		_ = p.stop()
		model.Close()
	}
}

// TestNothingRecorded: without record in the configuration, and for replies that are not a model's
// answers, nothing is sent.
func TestNothingRecorded(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	c := newCollector(t)
	p := start(t, configFor(model.URL, c.URL))
	ask(t, p.url+"/openai/v1/embeddings", `{"model":"m","input":"x"}`)
	ask(t, p.url+"/openai/v1/moderations", `{"model":"m","input":"x"}`)
	resp, err := http.Get(p.url + "/openai/v1/chat/completions")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	p = start(t, "upstreams: {openai: "+model.URL+"}")
	if status, _ := ask(t, p.url+"/openai/v1/chat/completions", chatBody); status != 200 {
		t.Error(status)
	}
	if err := p.stop(); err != nil || c.calls > 0 {
		t.Error(err, c.calls)
	}
}
