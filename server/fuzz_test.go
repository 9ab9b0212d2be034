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

// FuzzRequests: every request gets one response, which is JSON or part of the app, is not a
// defect, and contains no path of the server.
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
