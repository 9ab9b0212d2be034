package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
)

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// get requests a URL and reads the whole answer.
func get(t *testing.T, tr *transport.Transport, address string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.Client().Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var known *proviso.Error
	if !errors.As(err, &known) || known.Code != code {
		t.Errorf("error %v, want the code %s", err, code)
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	if got, err := get(t, transport.New(transport.Options{}), srv.URL); got != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size    int
		chunked bool
		ok      bool
	}{{100, false, true}, {101, false, false}, {100, true, true}, {101, true, false}, {5000, true, false}} {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if tt.chunked {
				w.(http.Flusher).Flush()
			}
			w.Write(bytes.Repeat([]byte("x"), tt.size))
		})
		got, err := get(t, transport.New(transport.Options{MaxBody: 100}), srv.URL)
		if tt.ok && (err != nil || len(got) != tt.size) {
			t.Errorf("%d bytes: %d read, %v", tt.size, len(got), err)
		}
		if !tt.ok {
			wantCode(t, err, proviso.Limit)
		}
		if len(got) > 100 {
			t.Errorf("%d bytes were read past a limit of 100", len(got))
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	tr := transport.New(transport.Options{Hosts: func(host string) bool { return host == "example.com" }})
	_, err := get(t, tr, srv.URL)
	wantCode(t, err, proviso.Refused)
	tr = transport.New(transport.Options{Hosts: func(host string) bool { return host == "127.0.0.1" }})
	if got, err := get(t, tr, srv.URL); got != "hello" || err != nil {
		t.Errorf("an allowed host: %q, %v", got, err)
	}
	_, err = get(t, tr, "ftp://127.0.0.1/x")
	wantCode(t, err, proviso.Invalid)
}

func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a private address was asked") })
	port := srv.URL[strings.LastIndexByte(srv.URL, ':'):]
	tr := transport.New(transport.Options{RefusePrivate: true, DialTimeout: time.Second})
	for _, address := range []string{
		srv.URL, "http://localhost" + port, "http://[::1]" + port, "http://0.0.0.0" + port, "http://[::ffff:127.0.0.1]" + port,
		"http://169.254.169.254/", "http://10.0.0.1/", "http://192.168.1.1/", "http://100.64.0.1/", "http://[fd00:ec2::254]/",
		"http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[fe80::1]/", "http://255.255.255.255/", "http://LOCALHOST.:1/",
	} {
		_, err := get(t, tr, address)
		wantCode(t, err, proviso.Refused)
	}
}

// TestPrivate: the forecast from a host's text agrees with the result of a request.
func TestPrivate(t *testing.T) {
	tr := transport.New(transport.Options{RefusePrivate: true, Hosts: func(host string) bool { return transport.Private(host) }, DialTimeout: time.Second})
	for host, want := range map[string]bool{
		"127.0.0.1": true, "10.1.2.3": true, "100.64.0.1": true, "169.254.169.254": true, "198.18.0.1": true, "::1": true, "::ffff:10.0.0.1": true, "64:ff9b::a00:1": true, "[fd00::1]": true,
		"localhost": true, "a.localhost": true, "gpu": true, "gpu.internal": true, "printer.local": true, "nas.home.arpa": true, "gpu.internal.": true,
		"8.8.8.8": false, "2606:4700::1111": false, "api.openai.com": false, "internal.example.com": false, "local.example": false,
	} {
		if got := transport.Private(host); got != want {
			t.Errorf("%s: %t", host, got)
		}
		address := strings.Trim(host, "[]")
		if a, err := netip.ParseAddr(address); err == nil && want { // the same rule decides
			resp, err := tr.Client().Get("http://" + net.JoinHostPort(a.String(), "9"))
			if err == nil {
				resp.Body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "not an address on the public internet") {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
}

// TestAllowPrivate checks that the private address itself must be allowed: a name that resolves to
// another private address is refused.
func TestAllowPrivate(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	port := srv.URL[strings.LastIndexByte(srv.URL, ':'):]
	loopback := func(a netip.Addr) bool { return a.IsLoopback() }
	tr := transport.New(transport.Options{RefusePrivate: true, AllowPrivate: loopback})
	for _, address := range []string{srv.URL, "http://localhost" + port, "http://[::ffff:127.0.0.1]" + port} {
		if got, err := get(t, tr, address); got != "hello" || err != nil {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	_, err := get(t, tr, "http://169.254.169.254/")
	wantCode(t, err, proviso.Refused)
	tr = transport.New(transport.Options{RefusePrivate: true, AllowPrivate: func(a netip.Addr) bool { return a == netip.MustParseAddr("10.0.0.1") }})
	_, err = get(t, tr, "http://localhost"+port)
	wantCode(t, err, proviso.Refused)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "other") })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/end", http.StatusFound)
		default:
			io.WriteString(w, "end")
		}
	})
	anywhere := func(string) bool { return true }
	confined, free := transport.New(transport.Options{Hosts: anywhere}), transport.New(transport.Options{})
	if got, err := get(t, confined, first.URL+"/here"); got != "end" || err != nil {
		t.Errorf("a redirect on one host: %q, %v", got, err)
	}
	_, err := get(t, confined, first.URL+"/away")
	wantCode(t, err, proviso.Refused)
	plain := strings.TrimPrefix(first.URL, "http://")
	downgrade := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+plain, nil)
	downgrade.Response = &http.Response{Request: &http.Request{URL: &url.URL{Scheme: "https", Host: plain}}}
	_, err = confined.RoundTrip(downgrade)
	wantCode(t, err, proviso.Refused)
	if got, err := get(t, free, first.URL+"/away"); got != "other" || err != nil {
		t.Errorf("a free redirect: %q, %v", got, err)
	}
}

// TestRedirectsKeepNothing redirects requests with keys in their headers and query to other
// origins, in one hop and in several.
func TestRedirectsKeepNothing(t *testing.T) {
	t.Parallel()
	secrets := []string{"Authorization", "Api-Key", "Cookie", "Ocp-Apim-Subscription-Key", "X-Anything", "X-Api-Key", "X-Goog-Api-Key"}
	var home, away *httptest.Server
	var mu sync.Mutex
	seen := map[string]http.Header{} // of the last request for a path
	handler := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.Host+r.URL.Path] = r.Header.Clone()
		mu.Unlock()
		to := map[string]string{
			"/one":    away.URL + "/end",
			"/two":    away.URL + "/hop",
			"/hop":    "/end",
			"/return": away.URL + "/back",
			"/back":   home.URL + "/end",
			"/inside": "/end",
		}[r.URL.Path]
		if to == "" {
			io.WriteString(w, "end")
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	}
	home, away = serve(t, handler), serve(t, handler)
	tests := []struct {
		path string
		at   *httptest.Server // where the chain ends
		keep bool
	}{
		{"/one", away, false},    // the same host with another port
		{"/two", away, false},    // A → B → B
		{"/return", home, false}, // A → B → A: the last request is caused by B, not by the caller
		{"/inside", home, true},
	}
	for _, tt := range tests {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, home.URL+tt.path+"?api_key=sekret", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range secrets {
			req.Header.Set(name, "sekret")
		}
		req.Header.Set("Accept", "text/plain")
		ctx := transport.WithTraceparent(t.Context(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		resp, err := transport.New(transport.Options{}).Client().Do(req.WithContext(ctx))
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		resp.Body.Close()
		mu.Lock()
		got := seen[strings.TrimPrefix(tt.at.URL, "http://")+"/end"]
		mu.Unlock()
		for _, name := range append([]string{"Referer", "Traceparent"}, secrets...) {
			if has := got.Get(name) != ""; has != tt.keep {
				t.Errorf("%s: %s arrives as %q", tt.path, name, got.Get(name))
			}
		}
		if got.Get("Accept") != "text/plain" {
			t.Errorf("%s: Accept arrives as %q", tt.path, got.Get("Accept"))
		}
	}
}

// TestRedirectsOfBodies repeats a body only for the configured host.
func TestRedirectsOfBodies(t *testing.T) {
	t.Parallel()
	var got string
	end := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got = string(data)
	})
	named := strings.Replace(end.URL, "127.0.0.1", "localhost", 1)
	for _, tt := range []struct {
		to     string
		status int
		want   string
		code   string
	}{
		{end.URL, http.StatusTemporaryRedirect, "prompt", ""},
		{named, http.StatusTemporaryRedirect, "", proviso.Refused},
		{named, http.StatusPermanentRedirect, "", proviso.Refused},
		{named, http.StatusFound, "", ""}, // becomes a GET
	} {
		got = ""
		srv := serve(t, http.RedirectHandler(tt.to, tt.status).ServeHTTP)
		resp, err := transport.New(transport.Options{}).Client().Post(srv.URL, "text/plain", strings.NewReader("prompt"))
		if tt.code != "" {
			wantCode(t, err, tt.code)
		} else if err != nil {
			t.Errorf("%d to %s: %v", tt.status, tt.to, err)
		}
		if resp != nil {
			resp.Body.Close()
		}
		if got != tt.want {
			t.Errorf("%d to %s: the body arrives as %q", tt.status, tt.to, got)
		}
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "via proxy to "+r.URL.Host) })
	env := proviso.EnvMap{"http_proxy": proxy.URL, "NO_PROXY": "direct.invalid"}
	tr := transport.New(transport.Options{Env: env, RefusePrivate: true}) // the proxy itself may be private
	if got, err := get(t, tr, "http://model.invalid/"); got != "via proxy to model.invalid" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	_, err := get(t, tr, "http://10.1.2.3/")
	wantCode(t, err, proviso.Refused)

	_, err = get(t, transport.New(transport.Options{Env: proviso.EnvMap{"HTTP_PROXY": "http://user:secret@[::1"}}), "http://model.invalid/")
	wantCode(t, err, proviso.Invalid)
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the password of the proxy is in the error: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := get(t, transport.New(transport.Options{HeaderTimeout: 20 * time.Millisecond}), srv.URL)
	wantCode(t, err, proviso.Timeout)

	gone := httptest.NewServer(nil)
	gone.Close()
	address := strings.Replace(gone.URL, "http://", "http://user:secret@", 1) + "/path?key=secret#secret"
	_, err = get(t, transport.New(transport.Options{}), address)
	wantCode(t, err, proviso.Unavailable)
	if err = transport.Redact(err); strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "/path") {
		t.Errorf("redacted error: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
	if _, err := transport.New(transport.Options{}).RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request: %v", err)
	}
}

// TestWrap checks that the policy applies before the wrapped network, and the limit
// after it.
func TestWrap(t *testing.T) {
	t.Parallel()
	asked := 0
	tr := transport.New(transport.Options{
		MaxBody: 3,
		Hosts:   func(host string) bool { return host == "model.invalid" },
		Wrap: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				asked++
				return &http.Response{StatusCode: 200, Request: req, ContentLength: -1, Body: io.NopCloser(strings.NewReader("recorded"))}, nil
			})
		},
	})
	_, err := get(t, tr, "http://other.invalid")
	wantCode(t, err, proviso.Refused)
	got, err := get(t, tr, "http://model.invalid")
	wantCode(t, err, proviso.Limit)
	if asked != 1 || got != "rec" {
		t.Errorf("asked %d times, got %q", asked, got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestURL(t *testing.T) {
	t.Parallel()
	u, err := url.Parse("https://user:secret@host:8080/a%20b?key=secret#f")
	if err != nil {
		t.Fatal(err)
	}
	if got := transport.URL(u); got != "https://host:8080/a%20b" {
		t.Errorf("got %s", got)
	}
}

// TestWording: a network error is one line.
func TestWording(t *testing.T) {
	t.Parallel()
	closed := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, tt := range map[string]struct {
		url  string
		env  proviso.EnvMap
		want string
	}{
		"closed":        {closed.URL, nil, "the connection was closed without an answer"},
		"refused":       {gone.URL, nil, "nothing listens there (connection refused)"},
		"not TLS":       {strings.Replace(plain.URL, "http://", "https://", 1), nil, "it does not speak TLS; is its address one of http, not https?"},
		"proxy refused": {"http://api.example/v1", proviso.EnvMap{"HTTP_PROXY": gone.URL}, "the proxy of the environment: nothing listens there (connection refused)"},
	} {
		tr := transport.New(transport.Options{Env: tt.env})
		_, err := post(t.Context(), tr, tt.url, "q")
		err = transport.Redact(err)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Unavailable || e.Error() != tt.url+": "+tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
