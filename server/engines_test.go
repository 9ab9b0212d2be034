package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
)

// resident is the memory of this process in bytes, the engines' included, which
// Go does not count; what Go counts where there is no /proc.
func resident(t *testing.T) int64 {
	t.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestEvaluateSharesEngines asks for SQL and for patterns that need the JavaScript
// engine, again and again: neither memory nor goroutines grow with the number of
// requests. It is alone while it runs.
func TestEvaluateSharesEngines(t *testing.T) {
	db := openStore(t, filepath.Join(t.TempDir(), "proviso.db"))
	j, err := judge.New(judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, err := server.New(server.Options{Store: db, Jobs: db, Judge: j, Open: true, CPUBudget: time.Minute}) // the race detector makes SQL slow
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ask := func(times int) {
		for range times {
			n++
			body := fmt.Sprintf(`{"agent_input": "q", "agent_output": "SELECT a%d FROM t", "assertions": [
				{"id": "sql", "check": {"type": "is-sql"}}, {"id": "pattern", "check": {"type": "regex", "value": "(?<=SELECT )a%d(?! TABLE)"}}]}`, n, n)
			req := httptest.NewRequest(http.MethodPost, "/v1/evaluate", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `{"score":1,"passed":2,`) {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	}
	ask(5)
	before, goroutines := resident(t), runtime.NumGoroutine()
	const requests = 60
	ask(requests)
	grown := resident(t) - before
	t.Logf("%d requests: %+d bytes, %+d goroutines", requests, grown, runtime.NumGoroutine()-goroutines)
	if grown > requests<<19 { // an engine of each request takes five times as much
		t.Errorf("%d requests took %d bytes that are still held", requests, grown)
	}
	if more := runtime.NumGoroutine() - goroutines; more > requests/4 {
		t.Errorf("%d goroutines more", more)
	}
}
