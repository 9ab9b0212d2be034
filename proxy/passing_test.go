package proxy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/proxy"
)

// rawUpstream answers each connection with the same bytes, after it has read the head of a request
// and as much of its body as Content-Length says. Then it closes the connection.
func rawUpstream(t testing.TB, reply string) string {
	t.Helper()
	if at := strings.LastIndex(reply, "HTTP/1.1 "); at >= 0 { // no client reuses the connection
		end := at + strings.Index(reply[at:], "\r\n")
		reply = reply[:end] + "\r\nConnection: close" + reply[end:]
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(conn, reply)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// heard is a reply as a client receives it.
type heard struct {
	Status  int
	Header  http.Header
	Body    string
	Trailer http.Header
	Interim []int
	End     string // "" if the reply was complete
}

// hear sends a request over TCP and reads the reply to its end.
func hear(t testing.TB, url, method, path, body string) heard {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: example.com\r\nContent-Type: application/json\r\nContent-Length: %d\r\nTE: trailers\r\n\r\n%s", method, path, len(body), body)
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(conn)
	var h heard
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			h.End = "no reply"
			return h
		}
		if resp.StatusCode < 200 {
			h.Interim = append(h.Interim, resp.StatusCode)
			continue
		}
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			h.End = "cut"
		}
		h.Status, h.Header, h.Body, h.Trailer = resp.StatusCode, resp.Header, string(data), resp.Trailer
		for _, name := range []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Trailer"} {
			h.Header.Del(name)
		}
		return h
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func withLength(head, body string) string {
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

// chunked splits a body into chunks of random sizes.
func chunked(r *rand.Rand, body string) string {
	var b strings.Builder
	for len(body) > 0 {
		n := 1 + r.IntN(min(len(body), 3000))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String()
}

func randomBytes(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// TestReplies: a client receives from the proxy what it would receive from the upstream.
func TestReplies(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	answer := `{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
	sse := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\r\n\r\n: comment\n\ndata: [DONE]\n\n"
	for name, reply := range map[string]string{
		"whole":               withLength(ok, answer),
		"two cookies":         withLength(ok+"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Odd:  spaces  \r\nx-request-id: r\r\n", answer),
		"no type, no date":    withLength("HTTP/1.1 200 OK\r\n", "<html>"),
		"date of its own":     withLength(ok+"Date: Mon, 01 Jan 2001 00:00:00 GMT\r\nServer: x\r\n", answer),
		"rate limited":        withLength("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 17\r\nRetry-After-Ms: 17000\r\nX-RateLimit-Remaining-Tokens: 0\r\n", `{"error":{"message":"slow down"}}`),
		"page":                withLength("HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n", "<html>nginx</html>"),
		"odd status":          withLength("HTTP/1.1 529 Overloaded\r\n", `{"type":"error"}`),
		"no content":          "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
		"not modified":        "HTTP/1.1 304 Not Modified\r\nEtag: \"x\"\r\n\r\n",
		"redirect":            withLength("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://elsewhere.example/v1\r\n", ""),
		"empty":               withLength(ok, ""),
		"until it closes":     "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + answer,
		"chunks":              ok + "Transfer-Encoding: chunked\r\n\r\n" + chunked(r, answer) + "0\r\n\r\n",
		"trailers":            ok + "Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(r, answer) + "0\r\nX-Sum: 7\r\n\r\n",
		"trailers unsaid":     ok + "Transfer-Encoding: chunked\r\n\r\n" + chunked(r, answer) + "0\r\nX-Late: 8\r\n\r\n",
		"gzip":                withLength(ok+"Content-Encoding: gzip\r\n", gzipped(answer)),
		"gzip, broken":        withLength(ok+"Content-Encoding: gzip\r\n", gzipped(answer)[:30]+"xxxx"),
		"coding unknown":      withLength(ok+"Content-Encoding: rot13\r\n", "uv"),
		"early hints":         "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + withLength(ok, answer),
		"stream":              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(r, sse) + "0\r\n\r\n",
		"stream, gzip":        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(r, gzipped(sse)) + "0\r\n\r\n",
		"stream of noise":     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(r, randomBytes(r, 200_000)) + "0\r\n\r\n",
		"stream of bombs":     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(r, "data: "+strings.Repeat("[", 500_000)+"\n\ndata: ["+strings.Repeat("1,", 300_000)+"1]\n\n") + "0\r\n\r\n",
		"noise as JSON":       withLength(ok, randomBytes(r, 300_000)),
		"large":               ok + "Transfer-Encoding: chunked\r\n\r\n" + chunked(r, `{"x":"`+strings.Repeat("y", 5_000_000)+`"}`) + "0\r\n\r\n",
		"cut off":             ok + "Content-Length: 1000\r\n\r\n" + answer,
		"cut off in chunks":   ok + "Transfer-Encoding: chunked\r\n\r\n" + chunked(r, answer),
		"stream, cut off":     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(r, sse[:40]),
		"digest as trailer 2": ok + "Trailer: A, B\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 1\r\nB: 2\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := rawUpstream(t, reply)
			c := newCollector(t)
			p := start(t, configFor(upstream, c.URL))
			for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions", "/v1/embeddings"} {
				want := hear(t, upstream, http.MethodPost, path, `{"model":"m"}`)
				got := hear(t, p.url, http.MethodPost, "/openai"+path, `{"model":"m"}`)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s: %s", path, d[:min(len(d), 2000)])
				}
			}
			for _, e := range c.wait(t, 4) {
				if broken := strings.Contains(name, "cut off"); (e.Error == "the upstream ended its reply early") != broken {
					t.Errorf("error %q", e.Error)
				}
			}
		})
	}
}

// TestRequests: the upstream receives what the client sends, without hop-by-hop headers and without
// identifying headers.
func TestRequests(t *testing.T) {
	t.Parallel()
	type got struct {
		Method, URI, Body string
		Header            http.Header
		Trailer           http.Header
		Length            int64
	}
	seen := make(chan got, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		seen <- got{r.Method, r.RequestURI, string(data), r.Header, r.Trailer, r.ContentLength}
	}))
	defer upstream.Close()
	p := start(t, configFor(upstream.URL+"/base", newCollector(t).URL))
	send := func(raw string) got {
		t.Helper()
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, raw); err != nil {
			t.Fatal(err)
		}
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			t.Fatal(err)
		}
		return <-seen
	}
	g := send("POST /openai/v1/chat/completions?a=1;b&c=%zz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nX-Forwarded-For: 1.2.3.4\r\nForwarded: for=x\r\n" +
		"X-Proviso-Agent: a\r\nx-proviso-user: u\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: 5\r\n\r\n")
	want := got{http.MethodPost, "/base/v1/chat/completions?a=1;b&c=%zz", "abc",
		http.Header{"Authorization": {"Bearer k"}, "X-Forwarded-For": {"1.2.3.4"}, "Forwarded": {"for=x"}}, http.Header{"X-T": {"5"}}, -1}
	if d := cmp.Diff(want, g); d != "" {
		t.Error(d)
	}
	g = send("GET /openai/v1/models/a%2Fb%20c//d? HTTP/1.1\r\nHost: x\r\nUser-Agent: me\r\nAccept-Encoding: br;q=1.0\r\nConnection: close\r\n\r\n")
	want = got{http.MethodGet, "/base/v1/models/a%2Fb%20c//d?", "", http.Header{"User-Agent": {"me"}, "Accept-Encoding": {"br;q=1.0"}}, nil, 0}
	if d := cmp.Diff(want, g); d != "" {
		t.Error(d)
	}
}

// TestPaths: a path that names no upstream is refused, and no path leaves that of its upstream.
func TestPaths(t *testing.T) {
	t.Parallel()
	upstream := rawUpstream(t, withLength("HTTP/1.1 200 OK\r\n", "upstream"))
	p := start(t, configFor(upstream, newCollector(t).URL))
	for path, want := range map[string]int{
		"/openai/v1/x": 200, "/openai": 200, "/openai/": 200, "/": 404, "/other/v1": 404, "/openai/../healthz": 400, "/openai/%2e%2e/admin": 400, "/openai/a/..%2fb": 400,
		"/healthz/x": 404, "//openai/v1": 404, `/openai/..%5cadmin`: 400, "/openai/a..b": 200,
	} {
		if got := hear(t, p.url, http.MethodPost, path, "{}"); got.Status != want {
			t.Errorf("%s: %d %s, want %d", path, got.Status, got.Body, want)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if got := hear(t, p.url, http.MethodGet, path, ""); got.Status != 200 {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
}

// TestFlush: each part of a stream reaches the client before the next one is sent.
func TestFlush(t *testing.T) {
	t.Parallel()
	next := make(chan string)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for part := range next {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer upstream.Close()
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL))
	go func() { next <- "d" }()
	resp, err := post(t, p.url+"/openai/v1/chat/completions", "{}")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	buf := make([]byte, 100)
	if n, err := resp.Body.Read(buf); string(buf[:n]) != "d" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	for _, part := range []string{"ata: {\"cho", "ices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}", "\n", "\n", ": ping\n\n"} {
		next <- part
		if _, err := io.ReadFull(resp.Body, buf[:len(part)]); err != nil || string(buf[:len(part)]) != part {
			t.Fatalf("%q, %v, want %q", buf[:len(part)], err, part)
		}
	}
	close(next)
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Error(rest, err)
	}
	if e := c.wait(t, 1)[0]; e.Output != "x" || e.Error != "" {
		t.Error(shown(e))
	}
}

// TestClientLeaves: the upstream learns it at once, and the event reports it.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"partial\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer upstream.Close()
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL))
	resp, err := post(t, p.url+"/openai/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = resp.Body.Read(make([]byte, 10))
	resp.Body.Close()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Fatal("the upstream goes on")
	}
	if e := c.wait(t, 1)[0]; e.Output != "partial" || e.Input != "Hi" || e.Error != "the client left before the end of the reply" {
		t.Error(shown(e))
	}
}

// TestSilence: the proxy abandons an upstream that hangs. Before the reply, it answers itself; in
// the middle of a stream, it cuts the stream off.
func TestSilence(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "/completions") {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"partial\"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	defer upstream.Close()
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL), func(o *proxy.Options, _ *proxy.Serving) { o.Silence = 300 * time.Millisecond })
	status, body := ask(t, p.url+"/anthropic/v1/messages", "{}")
	if status != 504 || errorCode(body) != "upstream_silent" {
		t.Error(status, body)
	}
	if e := c.wait(t, 1)[0]; e.Error != "the upstream sent nothing for 300ms" || e.Metadata.At("status") != 504.0 {
		t.Error(shown(e))
	}
	got := hear(t, p.url, http.MethodPost, "/openai/v1/chat/completions", "{}")
	if got.Status != 200 || got.End != "cut" || !strings.Contains(got.Body, "partial") {
		t.Error(got)
	}
	if e := c.wait(t, 2)[1]; e.Output != "partial" || e.Error != "the upstream sent nothing for 300ms in the middle of its reply" {
		t.Error(shown(e))
	}
}

// TestUnreachable: nothing listens, or the upstream hangs up. Neither the client nor the log learns
// an address or a path, and the event has the request.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, upstream := range []string{"http://" + l.Addr().String(), rawUpstream(t, "")} {
		c := newCollector(t)
		p := start(t, configFor(upstream, c.URL))
		sent := `{"model":"m","user":"eve","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi` + strings.Repeat(" there", 20_000) + `"}]}`
		status, body := ask(t, p.url+"/openai/v1/chat/completions?key=abcdefghijk", sent, "X-Proviso-Agent: a")
		if status != 502 || errorCode(body) != "upstream_unreachable" || !strings.Contains(body, "the upstream openai cannot be reached: ") {
			t.Error(status, body)
		}
		e := c.wait(t, 1)[0]
		if !strings.HasPrefix(e.Error, "the upstream openai cannot be reached: ") || e.Agent != "a" || e.Model != "m" || e.User != "eve" || e.Prompt != "Be kind." || !strings.HasSuffix(e.Input, " there there") {
			t.Error(shown(e))
		}
		_ = p.stop()
		for _, secret := range []string{"abcdefghijk", "127.0.0.1", "completions"} {
			if strings.Contains(body+e.Error+p.log.String(), secret) {
				t.Errorf("%s is told: %s %s %s", secret, body, e.Error, p.log)
			}
		}
	}
}

// TestContinue: a client that waits for 100 Continue gets it from the upstream, or the upstream's
// refusal without sending the body.
func TestContinue(t *testing.T) {
	t.Parallel()
	var read atomic.Bool
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Refuse") != "" {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		data, _ := io.ReadAll(r.Body)
		read.Store(true)
		_, _ = w.Write(data)
	}))
	defer upstream.Close()
	p := start(t, configFor(upstream.URL, newCollector(t).URL))
	for _, refuse := range []bool{false, true} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		head := "POST /openai/v1/files HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n"
		if refuse {
			head += "X-Refuse: 1\r\n"
		}
		if read.Load() {
			t.Error("the body came before it was asked for")
		}
		_, _ = io.WriteString(conn, head+"\r\n")
		in := textproto.NewReader(bufio.NewReader(conn))
		line, err := in.ReadLine()
		if err != nil {
			t.Fatal(err)
		}
		if refuse {
			if !strings.HasPrefix(line, "HTTP/1.1 413") {
				t.Error(line)
			}
			continue
		}
		if !strings.HasPrefix(line, "HTTP/1.1 100") {
			t.Fatal(line)
		}
		_, _ = in.ReadMIMEHeader()
		_, _ = io.WriteString(conn, "hello")
		resp, err := http.ReadResponse(in.R, nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		if data, err := io.ReadAll(resp.Body); string(data) != "hello" || err != nil {
			t.Error(data, err)
		}
		read.Store(false)
	}
}

// TestUpload: a large request is passed on while it arrives, in bounded memory, and its event
// reports that it was cut.
func TestUpload(t *testing.T) {
	t.Parallel()
	const size = 96 << 20
	began := make(chan struct{})
	sum := make(chan [32]byte, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		_, _ = io.CopyN(h, r.Body, 100)
		close(began)
		_, _ = io.Copy(h, r.Body)
		sum <- [32]byte(h.Sum(nil))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"A cat."},"finish_reason":"stop"}]}`)
	}))
	defer upstream.Close()
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL))
	in, out := io.Pipe()
	h := sha256.New()
	go func() {
		w := io.MultiWriter(out, h)
		_, _ = io.WriteString(w, `{"model":"m","messages":[{"role":"system","content":"Describe."},{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,`)
		<-began // before the rest exists
		chunk := bytes.Repeat([]byte("A"), 1<<20)
		for range size >> 20 {
			_, _ = w.Write(chunk)
		}
		_, _ = io.WriteString(w, `"}}]}]}`)
		out.Close()
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	req, err := http.NewRequest(http.MethodPost, p.url+"/openai/v1/chat/completions", in)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if want := [32]byte(h.Sum(nil)); <-sum != want {
		t.Error("the upstream got something else")
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 48<<20 {
		t.Errorf("%d MiB for an upload of %d", grown>>20, size>>20)
	}
	e := c.wait(t, 1)[0]
	if e.Input != "What is it?\n[image_url]" || e.Output != "A cat." || e.Prompt != "Describe." || fmt.Sprint(e.Metadata.At("cut")) != "[request]" {
		t.Error(shown(e))
	}
}

// TestHTTP2: requests to an upstream with HTTP/2 are passed as well, including streams.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	body := randomBytes(rand.New(rand.NewPCG(3, 4)), 300_000)
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Error(r.Proto)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Trailer", "X-Sum")
		for i := 0; i < len(body); i += 10_000 {
			_, _ = io.WriteString(w, body[i:i+10_000])
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("X-Sum", "9")
	}))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	defer upstream.Close()
	network := upstream.Client().Transport.(*http.Transport).Clone()
	network.DisableCompression = true
	p := start(t, configFor(upstream.URL, newCollector(t).URL), func(o *proxy.Options, _ *proxy.Serving) { o.Upstream = network })
	got := hear(t, p.url, http.MethodPost, "/openai/v1/chat/completions", "{}")
	if got.Body != body || got.Trailer.Get("X-Sum") != "9" || got.End != "" {
		t.Errorf("%d bytes, %v, %s", len(got.Body), got.Trailer, got.End)
	}
}

// TestUpgrade: a connection that changes its protocol is passed in both directions.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
		_, _ = io.Copy(conn, in)
		conn.Close()
	}()
	p := start(t, configFor("http://"+l.Addr().String(), newCollector(t).URL))
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /openai/v1/realtime HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatal(resp, err)
	}
	_, _ = io.WriteString(conn, "ping\n")
	if line, err := in.ReadString('\n'); line != "ping\n" {
		t.Error(line, err)
	}
}

// TestStop: open streams finish, new requests are refused, and recorded events are sent. A stream
// that takes too long is cut off and reported.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, long := range []bool{false, true} {
		next := make(chan string)
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				select {
				case part, ok := <-next:
					if !ok {
						return
					}
					_, _ = io.WriteString(w, part)
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					return
				}
			}
		}))
		c := newCollector(t)
		p := start(t, configFor(upstream.URL, c.URL), func(_ *proxy.Options, s *proxy.Serving) {
			if long {
				s.Stop = 200 * time.Millisecond
			}
		})
		go func() { next <- "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" }()
		resp, err := post(t, p.url+"/openai/v1/chat/completions", "{}")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadFull(resp.Body, make([]byte, 5))
		ended := make(chan error, 1)
		go func() { ended <- p.stop() }()
		if long {
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "were cut off after 200ms") {
				t.Error(err)
			}
			if e := c.wait(t, 1)[0]; e.Output != "a" || e.Error == "" {
				t.Error(shown(e))
			}
		} else {
			time.Sleep(50 * time.Millisecond)
			next <- "data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n"
			close(next)
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Error(err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if e := c.wait(t, 1)[0]; e.Output != "ab" || e.Error != "" {
				t.Error(shown(e))
			}
		}
		resp.Body.Close()
		upstream.Close()
		if _, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://")); err == nil {
			t.Error("it still listens")
		}
		var closed *net.OpError
		if _, err := http.Get(p.url + "/healthz"); !errors.As(err, &closed) {
			t.Error(err)
		}
	}
}

// TestEarlyReply: an upstream replies while the request is still being sent, and both are
// completed.
func TestEarlyReply(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flow := http.NewResponseController(w)
		_ = flow.EnableFullDuplex()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"early\"}}]}\n\n")
		_ = flow.Flush()
		data, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\", %d bytes, %v\"},\"finish_reason\":\"stop\"}]}\n\n", len(data), err)
	}))
	defer upstream.Close()
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL))
	const half = `{"messages":[{"role":"user","content":"`
	rest := strings.Repeat("x", 1000) + `"}]}`
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(half)+len(rest), half)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadFull(resp.Body, make([]byte, 10))
		_, _ = io.WriteString(conn, rest)
		data, err := io.ReadAll(resp.Body)
		if want := fmt.Sprintf("%d bytes, <nil>", len(half)+len(rest)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%v, %s", err, data)
		}
		conn.Close()
	}
	for _, e := range c.wait(t, 20) {
		if e.Error != "" || len(e.Input) != 1000 || !strings.HasPrefix(e.Output, "early, ") {
			t.Error(shown(e))
		}
	}
}

// TestTLS: the proxy itself offers TLS and HTTP/2, and streams pass part by part.
func TestTLS(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	defer certified.Close()
	next := make(chan string, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for part := range next {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer upstream.Close()
	c := newCollector(t)
	p := start(t, configFor(upstream.URL, c.URL), func(_ *proxy.Options, s *proxy.Serving) {
		s.TLS = &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}
	})
	network := certified.Client().Transport.(*http.Transport).Clone()
	network.ForceAttemptHTTP2 = true
	defer network.CloseIdleConnections()
	next <- "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	resp, err := (&http.Client{Transport: network}).Post(strings.Replace(p.url, "http:", "https:", 1)+"/openai/v1/chat/completions", "application/json", strings.NewReader(chatBody))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.ReadFull(resp.Body, make([]byte, 20))
	next <- "data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n"
	close(next)
	if _, err := io.ReadAll(resp.Body); err != nil || resp.ProtoMajor != 2 {
		t.Error(resp.Proto, err)
	}
	if e := c.wait(t, 1)[0]; e.Output != "ab" || e.Input != "Hi" || e.Error != "" {
		t.Error(shown(e))
	}
}
