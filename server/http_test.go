package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// TestRequests: every invalid request gets one clear response.
func TestRequests(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, BodyLimit: 2000, Hosts: []string{"localhost", "eval.example"}})
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for _, tt := range []struct {
		name    string
		method  string
		path    string
		body    string
		headers []string
		status  int
		code    string
		detail  string
	}{
		{"no such path", "GET", "/v2/evaluate", "", nil, 404, "not_found", "there is nothing at /v2/evaluate"},
		{"no page", "GET", "/index.html", "", nil, 404, "not_found", "/openapi.json"},
		{"a path that is not tidy", "GET", "//v1/runs", "", nil, 404, "not_found", ""},
		{"dots", "GET", "/v1/../v1/runs", "", nil, 404, "not_found", ""},
		{"wrong method", "GET", "/v1/evaluate", "", nil, 405, "method", "POST is"},
		{"wrong method of several", "DELETE", "/v1/suites/x", "", nil, 405, "method", "GET, PUT is"},
		{"strange method", "BREW", "/v1/runs", "", nil, 405, "method", "GET, POST is"},
		{"no content type", "POST", "/v1/evaluate", evaluation, []string{"Content-Type: "}, 415, "media_type", "application/json"},
		{"a form", "POST", "/v1/evaluate", evaluation, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "media_type", ""},
		{"text", "POST", "/v1/evaluate", evaluation, []string{"Content-Type: text/plain"}, 415, "media_type", ""},
		{"latin-1", "POST", "/v1/evaluate", evaluation, []string{"Content-Type: application/json; charset=iso-8859-1"}, 415, "media_type", ""},
		{"compressed", "POST", "/v1/evaluate", evaluation, []string{"Content-Encoding: gzip"}, 415, "media_type", "gzip"},
		{"too large", "POST", "/v1/evaluate", `{"agent_input": "` + strings.Repeat("x", 3000) + `"}`, nil, 413, "too_large", "2000 bytes"},
		{"empty", "POST", "/v1/evaluate", "", []string{"Content-Type: application/json"}, 422, "", ""},
		{"no JSON", "POST", "/v1/suites", `{"suite": }`, nil, 400, "malformed", "not JSON"},
		{"two values", "POST", "/v1/suites", `{} {}`, nil, 400, "malformed", ""},
		{"a comment", "POST", "/v1/suites", `{} // no`, nil, 400, "malformed", "comments"},
		{"not UTF-8", "POST", "/v1/suites", "{\"suite\": \"\xff\"}", nil, 422, "invalid", "byte 0xff at offset 11"},
		{"not UTF-8 either", "POST", "/v1/evaluate", "{\"agent_input\": \"\xff\"}", nil, 422, "invalid", ""},
		{"a list", "POST", "/v1/suites", `[]`, nil, 422, "invalid", "an object"},
		{"unknown field", "POST", "/v1/suites", `{"suit": {}}`, nil, 422, "invalid", `did you mean "suite"?`},
		{"wrong kind", "POST", "/v1/suites", `{"suite": {}, "name": 7}`, nil, 422, "invalid", "/name has to be text, not a number"},
		{"wrong kind of a file", "POST", "/v1/suites", `{"suite": {}, "files": {"a/b": 1}}`, nil, 422, "invalid", "/files/a~1b has to be text"},
		{"foreign host", "GET", "/healthz", "", []string{"Host: attacker.example"}, 421, "misdirected", "attacker.example"},
		{"foreign origin", "POST", "/v1/evaluate", evaluation, []string{"Origin: https://attacker.example"}, 403, "forbidden", "origin"},
		{"no origin at all", "GET", "/v1/runs", "", []string{"Origin: null"}, 403, "forbidden", "origin"},
		{"another port", "GET", "/v1/runs", "", []string{"Origin: http://127.0.0.1:1"}, 403, "forbidden", "origin"},
		{"another site", "GET", "/v1/runs", "", []string{"Sec-Fetch-Site: cross-site"}, 403, "forbidden", "site"},
		{"no such run", "GET", "/v1/runs/run_x", "", nil, 404, "not_found", "run_x"},
		{"no such suite", "POST", "/v1/suites/nope/runs", "", nil, 422, "unsupported", ""},
		{"no such set", "GET", "/v1/assertion-sets/nope", "", nil, 404, "not_found", "nope"},
		{"unknown parameter", "GET", "/v1/runs?stats=done", "", nil, 422, "invalid", `did you mean "status"?`},
		{"unknown parameter of a run to start", "POST", "/v1/suites/none/runs?stats=done", "", nil, 422, "invalid", `unknown parameter "stats"`},
		{"a parameter twice", "GET", "/v1/runs?limit=1&limit=2", "", nil, 422, "invalid", "2 times"},
		{"wrong limit", "GET", "/v1/runs?limit=0", "", nil, 422, "invalid", "1 to 1000"},
		{"wrong status", "GET", "/v1/runs?status=finished", "", nil, 422, "invalid", "finished"},
		{"wrong time", "GET", "/v1/runs?since=yesterday", "", nil, 422, "invalid", "2026-01-31"},
		{"wrong cursor", "GET", "/v1/runs?after=zzz", "", nil, 422, "invalid", "cursor"},
		{"wrong idempotency key", "POST", "/v1/evaluate", evaluation, []string{"Idempotency-Key: " + strings.Repeat("k", 300)}, 422, "limit", "idempotency key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := f.ask(tt.method, tt.path, tt.body, tt.headers...)
			if got.status != tt.status && !(tt.name == "empty" && got.status == 400) {
				t.Errorf("status %d, want %d: %s", got.status, tt.status, got.body)
			}
			p := got.problem(t)
			if tt.code != "" && p.Code != tt.code || !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("got %s %q, want %s %q", p.Code, p.Detail, tt.code, tt.detail)
			}
			if tt.status == 405 && got.header.Get("Allow") == "" {
				t.Error("no Allow header")
			}
		})
	}
	if got := f.ask("POST", "/v1/suites", deep); got.status != 413 {
		t.Errorf("deep: %d", got.status)
	}
	if got := f.ask("GET", "/v1/runs", "", "Host: EVAL.example:80", "Origin: http://eval.example:80", "Sec-Fetch-Site: same-origin"); got.status != 200 {
		t.Errorf("own origin: %d %s", got.status, got.body)
	}
}

// TestHeaders checks the headers of every response, and that none allows other origins.
func TestHeaders(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	for _, path := range []string{"/healthz", "/nope", "/openapi.json", "/metrics", "/v1/runs"} {
		got := f.ask("GET", path, "", "X-Request-Id: my-id.1")
		for name, want := range map[string]string{
			"X-Request-Id": "my-id.1", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Access-Control-Allow-Origin": "", "Server": "",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
			}
		}
	}
	for _, id := range []string{"a b", "a\tb", strings.Repeat("x", 65), "<script>", "ä"} {
		if got := f.ask("GET", "/healthz", "", "X-Request-Id: "+id).header.Get("X-Request-Id"); got == id || len(got) < 20 {
			t.Errorf("the id %q became %q", id, got)
		}
	}
	if got := f.ask("OPTIONS", "/v1/evaluate", "", "Origin: https://a.example", "Access-Control-Request-Method: POST"); got.status != 403 {
		t.Errorf("preflight: %d", got.status)
	}
}

// TestFirstKeyClosesTheDoor creates the first key as another process would, while clients
// without a key get responses. Every later request without a key is rejected.
func TestFirstKeyClosesTheDoor(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "proviso.db")
		db := openStore(t, path)
		f := start(t, server.Options{Open: true, Store: db, Jobs: db})
		other := openStore(t, path)
		for range 3 {
			if got := f.ask("GET", "/v1/runs", ""); got.status != 200 {
				t.Fatalf("open: %d %s", got.status, got.body)
			}
		}
		if _, _, err := other.CreateKey(t.Context(), store.NewKey{Name: "first", Scopes: []store.Scope{store.Read}}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if got := f.ask("GET", "/v1/runs", ""); got.status != 401 {
				t.Fatalf("request %d after the first key: %d %s", i+1, got.status, got.body)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	if got := f.ask("GET", "/v1/runs", ""); got.status != 200 {
		t.Fatalf("open: %d %s", got.status, got.body)
	}
	read, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	evaluate, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	revoked, old := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	must(t, old, nil)
	if _, err := f.store.RevokeKey(t.Context(), old.ID); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, method, path, body, authorization string
		status                                  int
	}{
		{"closed once there is a key", "GET", "/v1/runs", "", "", 401},
		{"health needs none", "GET", "/healthz", "", "", 200},
		{"readiness needs none", "GET", "/readyz", "", "", 200},
		{"the document does", "GET", "/openapi.json", "", "", 401},
		{"metrics do", "GET", "/metrics", "", "", 401},
		{"events do", "GET", "/v1/runs/run_x/events", "", "", 401},
		{"evaluation does", "POST", "/v1/evaluate", evaluation, "", 401},
		{"a wrong scheme", "GET", "/v1/runs", "", "Basic " + read, 401},
		{"no key", "GET", "/v1/runs", "", "Bearer", 401},
		{"not a key", "GET", "/v1/runs", "", "Bearer secret", 401},
		{"an unknown key", "GET", "/v1/runs", "", "Bearer " + store.NewSecret(), 401},
		{"a revoked key", "GET", "/v1/runs", "", "Bearer " + revoked, 401},
		{"a reader", "GET", "/v1/runs", "", "Bearer " + read, 200},
		{"a reader sees the document", "GET", "/openapi.json", "", "bearer " + read, 200},
		{"a reader does not evaluate", "POST", "/v1/evaluate", evaluation, "Bearer " + read, 403},
		{"who evaluates", "POST", "/v1/evaluate", evaluation, "Bearer " + evaluate, 200},
		{"and sees what is his", "GET", "/v1/evaluations", "", "Bearer " + evaluate, 200},
	} {
		got := f.ask(tt.method, tt.path, tt.body, "Authorization: "+tt.authorization)
		if got.status != tt.status {
			t.Errorf("%s: %d, want %d: %s", tt.name, got.status, tt.status, got.body)
		}
		if challenge := got.header.Get("WWW-Authenticate"); (challenge != "") != (got.status == 401) {
			t.Errorf("%s: status %d with the challenge %q", tt.name, got.status, challenge)
		}
	}
	if strings.Contains(f.log.String(), read) || strings.Contains(f.log.String(), evaluate) {
		t.Error("the log holds a key")
	}
}

// TestOwn: a key with evaluate but without read sees no data of other keys.
func TestOwn(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	alice, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	bob, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	reader, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	at := f.ask("POST", "/v1/evaluate", evaluation, bearer(alice)).header.Get("Location")
	for secret, want := range map[string]int{alice: 200, bob: 404, reader: 200} {
		if got := f.ask("GET", at, "", bearer(secret)); got.status != want {
			t.Errorf("%d, want %d: %s", got.status, want, got.body)
		}
		list := f.ask("GET", "/v1/evaluations", "", bearer(secret)).object(t).At("items").([]any)
		if (len(list) == 1) != (want == 200) {
			t.Errorf("%d evaluations are listed", len(list))
		}
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Rate: 0.5})
	one, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	two, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	if got := f.ask("GET", "/v1/runs", "", bearer(one)); got.status != 200 {
		t.Fatalf("first: %d", got.status)
	}
	got := f.ask("GET", "/v1/runs", "", bearer(one))
	if p := got.problem(t); got.status != 429 || p.Code != "rate" || got.header.Get("Retry-After") != "2" {
		t.Errorf("second: %d %s, Retry-After %q", got.status, p.Code, got.header.Get("Retry-After"))
	}
	if got := f.ask("GET", "/v1/runs", "", bearer(two)); got.status != 200 {
		t.Errorf("another key: %d", got.status)
	}
	if got := f.ask("GET", "/healthz", ""); got.status != 200 {
		t.Errorf("health: %d", got.status)
	}
}

// TestIdempotency: a repeated request is executed once.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 10)
	var fail, block bool
	release := make(chan struct{})
	f := start(t, server.Options{Open: true, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		asked <- struct{}{}
		if fail {
			return nil, proviso.Errorf(proviso.Unavailable, "the judge is away")
		}
		if block {
			<-release
		}
		return passing(ctx, r)
	})})
	first := f.ask("POST", "/v1/evaluate", evaluation, "Idempotency-Key: a")
	again := f.ask("POST", "/v1/evaluate", evaluation, "Idempotency-Key: a")
	if first.status != 200 || again.status != 200 || first.body != again.body || first.header.Get("Location") != again.header.Get("Location") ||
		first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" || len(asked) != 1 {
		t.Errorf("asked %d times\n%+v\n%+v", len(asked), first, again)
	}
	other := f.ask("POST", "/v1/evaluate", strings.Replace(evaluation, "Hi", "Ho", 1), "Idempotency-Key: a")
	if p := other.problem(t); other.status != 422 || !strings.Contains(p.Detail, "another request") {
		t.Errorf("another request: %d %s", other.status, other.body)
	}
	fail = true
	if got := f.ask("POST", "/v1/evaluate", evaluation, "Idempotency-Key: b"); got.status != 503 {
		t.Errorf("failing: %d %s", got.status, got.body)
	}
	fail = false
	if got := f.ask("POST", "/v1/evaluate", evaluation, "Idempotency-Key: b"); got.status != 200 {
		t.Errorf("after a failure: %d %s", got.status, got.body)
	}
	block = true
	for len(asked) > 0 {
		<-asked
	}
	done := make(chan answer, 1)
	go func() { done <- f.ask("POST", "/v1/evaluate", evaluation, "Idempotency-Key: c") }()
	<-asked
	busy := f.ask("POST", "/v1/evaluate", evaluation, "Idempotency-Key: c")
	if p := busy.problem(t); busy.status != 409 || p.Code != "conflict" || busy.header.Get("Retry-After") == "" {
		t.Errorf("while it is answered: %d %s", busy.status, busy.body)
	}
	close(release)
	if got := <-done; got.status != 200 {
		t.Errorf("blocked: %d %s", got.status, got.body)
	}
}

// TestIdempotencyWithoutBody: a run that is started without a body is started once, however
// often its request is repeated, even concurrently.
func TestIdempotencyWithoutBody(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	kept := f.ask("POST", "/v1/suites", `{"name": "s", "suite": {"prompts": ["Hello"], "providers": ["echo"]}}`)
	path := kept.header.Get("Location") + "/runs"
	first := f.ask("POST", path, "", "Idempotency-Key: a")
	again := f.ask("POST", path, "", "Idempotency-Key: a")
	if first.status != 202 || again.status != 202 || first.body != again.body || again.header.Get("Idempotent-Replayed") != "true" || again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("%d %s\n%d %s", first.status, first.body, again.status, again.body)
	}
	if got := f.ask("POST", path, `{"repeat": 2}`, "Idempotency-Key: a"); got.status != 422 {
		t.Errorf("another request: %d %s", got.status, got.body)
	}
	var sent sync.WaitGroup
	for range 8 {
		sent.Go(func() {
			if got := f.ask("POST", path, "", "Idempotency-Key: b"); got.status != 202 && got.status != 409 {
				t.Errorf("at the same time: %d %s", got.status, got.body)
			}
		})
	}
	sent.Wait()
	if got := f.ask("POST", path, "", "Idempotency-Key: c"); got.status != 202 {
		t.Errorf("another key: %d %s", got.status, got.body)
	}
	if list := f.ask("GET", "/v1/runs", "").object(t).At("items").([]any); len(list) != 3 {
		t.Errorf("%d runs of three keys", len(list))
	}
}

// TestErrors: judge errors and defects get different responses.
func TestErrors(t *testing.T) {
	t.Parallel()
	var failure error
	panics := false
	f := start(t, server.Options{Open: true, EvaluateLimit: 50 * time.Millisecond, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		if panics {
			panic("a defect")
		}
		if errors.Is(failure, context.DeadlineExceeded) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, failure
	})})
	for _, tt := range []struct {
		name   string
		err    error
		status int
		code   string
	}{
		{"mistakes", judge.Mistakes{{Code: proviso.Invalid, Pointer: "/assertions/0/id", Message: "no id"}}, 422, "invalid"},
		{"refused", proviso.Errorf(proviso.Refused, "the key may not ask"), 403, "refused"},
		{"down", proviso.Errorf(proviso.Unavailable, "the judge is away"), 503, "unavailable"},
		{"slow", context.DeadlineExceeded, 504, "timeout"},
		{"nonsense", proviso.Errorf(proviso.Undecided, "no verdict"), 502, "undecided"},
		{"unknown", errors.New("secret detail of the system"), 500, "internal"},
	} {
		failure = tt.err
		got := f.ask("POST", "/v1/evaluate", evaluation)
		p := got.problem(t)
		if got.status != tt.status || p.Code != tt.code || strings.Contains(got.body, "secret") {
			t.Errorf("%s: %d %s", tt.name, got.status, got.body)
		}
		if tt.name == "mistakes" && (len(p.Errors) != 1 || p.Errors[0].Pointer != "/assertions/0/id" || p.Errors[0].Line != 1 || p.Errors[0].Column == 0) {
			t.Errorf("%+v", p.Errors)
		}
	}
	panics = true
	if got := f.ask("POST", "/v1/evaluate", evaluation); got.status != 500 || strings.Contains(got.body, "a defect") && !strings.Contains(got.body, "defect of proviso") {
		t.Errorf("panic: %d %s", got.status, got.body)
	}
	if log := f.log.String(); !strings.Contains(log, "secret detail") || !strings.Contains(log, `"panic":"a defect"`) {
		t.Errorf("the log does not tell: %s", log)
	}
}

// TestLog: one line for each request, without contents unless they are enabled.
func TestLog(t *testing.T) {
	t.Parallel()
	for _, contents := range []bool{false, true} {
		f := start(t, server.Options{Open: true, LogContents: contents})
		f.ask("POST", "/v1/evaluate", evaluation, "X-Request-Id: r1")
		if err := f.stop(); err != nil {
			t.Fatal(err)
		}
		var line map[string]any
		for text := range strings.Lines(f.log.String()) {
			if strings.Contains(text, `"r1"`) {
				must(t, 0, json.Unmarshal([]byte(text), &line))
			}
		}
		if line["route"] != "/v1/evaluate" || line["status"] != 200.0 || line["key"] != "local" || line["bytes_in"] != float64(len(evaluation)) {
			t.Errorf("logged %v", line)
		}
		if _, ok := line["request"]; ok != contents || strings.Contains(f.log.String(), "It is") != contents {
			t.Errorf("contents %v: logged %v", contents, line)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	f.ask("POST", "/v1/evaluate", evaluation)
	f.ask("GET", "/v1/runs/<script>", "")
	f.ask("POOF", "/nowhere", "")
	got := f.ask("GET", "/metrics", "").body
	for _, want := range []string{
		`proviso_http_requests_total{method="POST",project="default",route="/v1/evaluate",status="200"} 1`,
		`proviso_http_requests_total{method="GET",project="default",route="/v1/runs/{run}",status="404"} 1`,
		`proviso_http_requests_total{method="other",project="",route="none",status="404"} 1`,
		`proviso_http_server_seconds_count{project="default",route="/v1/evaluate"} 1`,
		`proviso_http_wait_seconds_count{project="default",route="/v1/evaluate"} 1`,
		`proviso_evaluations_total{project="default",status="pass"} 1`,
		`proviso_evaluated_assertions_total{project="default",status="pass"} 1`,
		"go_goroutines", `proviso_runs_executing{project="default"} 0`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "POOF") || strings.Contains(got, "nowhere") {
		t.Error("a label holds what a client wrote")
	}
}

// TestUnfinishedBody: a client that stops sending is disconnected.
func TestUnfinishedBody(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	conn := must2(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"agent")
	must(t, 0, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		data, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 400 || !strings.Contains(string(data), "malformed") {
			t.Errorf("%d %s", resp.StatusCode, data)
		}
	}
	if got := f.ask("GET", "/healthz", ""); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
}

func must2[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T { t.Helper(); return must(t, v, err) }
}

// TestTLS: responses over TLS tell browsers to always use TLS.
func TestTLS(t *testing.T) {
	t.Parallel()
	other := httptest.NewUnstartedServer(nil)
	other.StartTLS()
	defer other.Close()
	f := start(t, server.Options{Open: true, TLS: &tls.Config{Certificates: other.TLS.Certificates}})
	resp, err := other.Client().Get(f.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%d %s %s", resp.StatusCode, resp.Proto, resp.Header.Get("Strict-Transport-Security"))
	}
}

// TestDocument: the OpenAPI document has every route and every field.
func TestDocument(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	doc := f.ask("GET", "/openapi.json", "").object(t)
	if doc.At("openapi") != "3.1.0" {
		t.Errorf("version %v", doc.At("openapi"))
	}
	paths := doc.At("paths").(*value.Object)
	for _, want := range []string{"/v1/evaluate", "/v1/suites/{suite}/runs", "/v1/runs/{run}/events", "/healthz"} {
		if !paths.Has(want) {
			t.Errorf("no %s", want)
		}
	}
	schemas := doc.At("components").(*value.Object).At("schemas").(*value.Object)
	request := schemas.At("Request").(*value.Object)
	if request.At("additionalProperties") != false || value.Stringify(request.At("required")) != `["agent_input","agent_output","assertions"]` {
		t.Errorf("request: %s", value.Stringify(request))
	}
	response := schemas.At("Response").(*value.Object)
	for _, name := range []string{"score", "passed", "failed", "total", "results", "errors"} {
		if !response.At("properties").(*value.Object).Has(name) {
			t.Errorf("the response has no %s", name)
		}
	}
	if response.Has("additionalProperties") {
		t.Error("the response is closed to additions")
	}
	interval := at(schemas, "BatchResults.properties.pass_rate_interval")
	if got := value.Stringify(interval); got != `{"oneOf":[{"$ref":"#/components/schemas/Interval"},{"type":"null"}]}` {
		t.Errorf("an interval that may be missing: %s", got)
	}
	if text := value.Stringify(doc); strings.Contains(text, `["array","null"]`) {
		t.Error("a list may be null")
	}
}
