package attacks_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/proxy"
)

// proxyStreamFamilies returns replies as server-sent events.
func proxyStreamFamilies() []family {
	const text = `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a","index":0,"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	return []family{
		repeated("texts", "", text, "data: [DONE]\n\n"),
		repeated("calls", "", `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":#,"id":"c#","function":{"name":"f","arguments":"{"}}]}}]}`+"\n\n", ""),
		repeated("blocks", "data: {\"type\":\"message_start\",\"message\":{}}\n\n", `data: {"type":"content_block_start","index":#,"content_block":{"type":"text","text":""}}`+"\n\n", ""),
		repeated("items", "", `data: {"type":"response.output_item.added","output_index":#,"item":{"type":"message"}}`+"\n\n", ""),
		repeated("lines of one event", "", "data: a\n", "\n"),
		repeated("one long line", "data: ", "a", "\n\n"),
		repeated("comments", "", ": a\n", "\n"),
		repeated("empty events", "", "\n", ""),
		repeated("carriage returns", "data: 1", "\r", ""),
		repeated("fields", "", "a#: b\n", "\n"),
	}
}

// throughProxy sends a request and a reply through a proxy and waits for their event.
func throughProxy(t *testing.T) func(path, request, kind, reply string) {
	t.Helper()
	taken := make(chan struct{}, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"accepted":1,"duplicate":0,"rejected":[]}`)
		taken <- struct{}{}
	}))
	t.Cleanup(server.Close)
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan *http.Response, 1)
	p, err := proxy.New(proxy.Options{
		Config:   &proxy.Config{Upstreams: map[string]*url.URL{"a": {Scheme: "http", Host: "a.example"}}, Record: &proxy.Record{To: to, Sample: 1, Buffer: 1 << 30}, Versions: proxy.SystemPrompt},
		Upstream: upstream(said), Every: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.Serve(t.Context(), l, proxy.Serving{}) }()
	return func(path, request, kind, reply string) {
		said <- &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(reply))}
		p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/a/v1"+path, strings.NewReader(request)))
		select {
		case <-taken:
		case <-time.After(time.Minute):
			t.Errorf("there is no event of %s", path)
		}
	}
}

// upstream replies with the responses that it receives.
type upstream chan *http.Response

// RoundTrip reads the request and replies.
func (u upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	resp := <-u
	resp.Request = r
	return resp, nil
}

// proxyReaders returns the readers of untrusted input in the proxy.
func proxyReaders(t *testing.T) []textReader {
	pass := throughProxy(t)
	list := []textReader{
		{"configuration of a proxy", yamlFamilies(), func(s string) { proxy.ReadConfig("proxy.yaml", []byte(s), nil) }},
		{"request to a proxy", append(jsonFamilies(), repeated("messages", `{"messages":[`, `{"role":"user","content":[{"type":"text","text":"#"}]},`, `{"role":"user"}]}`)), func(s string) {
			pass("/chat/completions", s, "application/json", "{}")
		}},
		{"reply through a proxy", jsonFamilies(), func(s string) { pass("/messages", "{}", "application/json", s) }},
	}
	for _, path := range []string{"/chat/completions", "/completions", "/messages", "/responses"} {
		list = append(list, textReader{"stream of " + path[1:], proxyStreamFamilies(), func(s string) { pass(path, "{}", "text/event-stream", s) }})
	}
	return list
}
