package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// FuzzRequests: every request gets exactly one response, which is JSON or part of the app,
// reports no defect, and contains no path of the server.
func FuzzRequests(f *testing.F) {
	for _, seed := range []struct{ path, body string }{
		{"/v1/evaluate", evaluation},
		{"/v1/evaluate", `{"agent_input": "", "agent_output": "", "assertions": [{"id": "a", "check": {"type": "regex", "value": "("}}]}`},
		{"/v1/assertion-sets", `{"name": "a", "assertions": [{"id": "a", "criteria": [{"template": "max-length", "params": {"tokens": 3}}]}]}`},
		{"/v1/assertion-sets/a/evaluate?version=x", `{"agent_input": "", "agent_output": ""}`},
		{"/v1/suites", greeting},
		{"/v1/suites", `{"name": "a", "suite": "prompts: [a]\nproviders: [echo]\n", "files": {"a/b.yaml": "x"}}`},
		{"/v1/suites/a/runs", `{"version": "v", "repeat": 2, "concurrency": 1}`},
		{"/v1/runs?limit=3&after=x&status=done&since=2026-01-01T00:00:00Z", ""},
		{"/v1/runs/%2e%2e/results/0", ""},
		{"/v1/runs/a/cancel", "{}"}, {"/", ""}, {"/docs", ""}, {"/assets/app.js", ""}, {"/v1/runs/a/search?q=%00", ""},
		{"//", "\x00"}, {"/v1/\xff", "[[[[[[["}, {"/v1/evaluate", `{"a": 1e999, "a": "\ud800"}`},
	} {
		f.Add(seed.path, seed.body)
	}
	db, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	dir := f.TempDir()
	runner := &server.Suites{Dir: dir, MaxRows: 100}
	s, err := server.New(server.Options{Store: db, Jobs: db, Judge: evaluator(passing), Runner: runner, Open: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, body string) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
			if !strings.HasPrefix(path, "/") || strings.Contains(path, "/events") || strings.HasPrefix(path, "/metrics") {
				return
			}
			req, err := http.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
			if err != nil {
				return
			}
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			started := time.Now()
			s.ServeHTTP(w, req)
			if took := time.Since(started); took > 10*time.Second {
				t.Errorf("%s %q %q took %v", method, path, body, took)
			}
			got := w.Body.String()
			isPage := method == http.MethodGet && strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && w.Header().Get("Content-Security-Policy") != ""
			isAsset := method == http.MethodGet && strings.HasPrefix(req.URL.Path, "/assets/") && w.Code == http.StatusOK
			if w.Code == 0 || w.Code >= 500 || !isPage && !isAsset && !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s %q %q: %d %s", method, path, body, w.Code, got)
			}
			if strings.Contains(got, filepath.Dir(dir)) {
				t.Errorf("%s %q %q names a place of the server: %s", method, path, body, got)
			}
		}
	})
}

// FuzzHeaders: for any request headers and any method there is exactly one response, which
// reports no defect and repeats no line break of the request.
func FuzzHeaders(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "Authorization", "Bearer pvk_x"}, {"GET", "Cookie", "proviso=a; proviso=\x00"}, {"POST", "Origin", "http://evil.example"}, {"DELETE", "Host", "[::1"}, {"OPTIONS", "Access-Control-Request-Method", "PUT"},
		{"HEAD", "Range", "bytes=0-18446744073709551615,-1"}, {"GET", "If-None-Match", `W/"x", *`}, {"POST", "Content-Type", "application/json; charset=\xff"}, {"POST", "Content-Type", "multipart/form-data; boundary="},
		{"POST", "Content-Encoding", "gzip"}, {"POST", "Idempotency-Key", "\u202e"}, {"POST", "Traceparent", "00-5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174-01"}, {"GET", "Accept", "text/html;q=NaN"}, {"GET", "Last-Event-Id", "-1"},
		{"GET", "X-Forwarded-For", "1.2.3.4, x"}, {"GET", "Accept-Encoding", "br;q=0,*"}, {"PATCH", "If-Modified-Since", "Thu, 26 Nov 2026 09:00:00 GMT"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	db, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	var handlers []http.Handler
	for _, open := range []bool{true, false} {
		s, err := server.New(server.Options{Store: db, Jobs: db, Judge: evaluator(passing), Open: open})
		if err != nil {
			f.Fatal(err)
		}
		handlers = append(handlers, s)
	}
	f.Fuzz(func(t *testing.T, method, name, v string) {
		for _, path := range []string{"/", "/v1/session", "/v1/evaluate", "/v1/runs", "/v1/runs/run_x/file", "/v1/traces", "/assets/app.js"} {
			for _, s := range handlers {
				req, err := http.NewRequest(method, "http://localhost"+path, strings.NewReader(evaluation))
				if err != nil {
					return
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header[http.CanonicalHeaderKey(name)] = []string{v}
				if strings.EqualFold(name, "host") {
					req.Host = v
				}
				w := httptest.NewRecorder()
				s.ServeHTTP(w, req)
				if w.Code == 0 || w.Code >= 500 {
					t.Errorf("%q %s with %q: %q gives %d %s", method, path, name, v, w.Code, w.Body)
				}
				for key, list := range w.Header() {
					if strings.ContainsAny(key+strings.Join(list, ""), "\r\n\x00") {
						t.Errorf("%q %s with %q: %q has the header %q: %q", method, path, name, v, key, list)
					}
				}
			}
		}
	})
}
