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
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/server"
)

// resident returns the memory of this process in bytes, including the engines, which Go does
// not count. Without /proc it returns Go's own count.
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

// TestEvaluateSharesEngines sends SQL and patterns that need the JavaScript
// engine, and three thousand requests that need neither: engines, memory and
// goroutines do not grow with the number of requests. It is not parallel.
func TestEvaluateSharesEngines(t *testing.T) {
	db := openStore(t, filepath.Join(t.TempDir(), "proviso.db"))
	var opened, closed atomic.Int64
	e, err := engine.Open(t.Context(), nil, engine.Options{Observers: engine.Observers{Opened: func(string) func() {
		opened.Add(1)
		return func() { closed.Add(1) }
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Store: db, Jobs: db, Judge: e, Open: true, CPUBudget: time.Minute}) // the race detector makes SQL slow
	if err != nil {
		t.Fatal(err)
	}
	requests := 3_000
	if race {
		requests = 500
	}
	n := 0
	ask := func(times int, checks string) {
		for range times {
			n++
			body := fmt.Sprintf(`{"agent_input": "q", "agent_output": "SELECT a%d FROM t", "assertions": [`+checks+`]}`, n, n)
			req := httptest.NewRequest(http.MethodPost, "/v1/evaluate", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), `{"score":1,"passed":2,`) {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	}
	for _, c := range []struct {
		name, checks string
		times        int
		bytes        int64 // limit of memory held afterwards
	}{
		// One engine per request would take 2.5 MiB each.
		{"with engines", `{"id": "sql", "check": {"type": "is-sql"}}, {"id": "pattern", "check": {"type": "regex", "value": "(?<=SELECT )a%d(?! TABLE)"}}`, 60, 30 << 20},
		{"without", `{"id": "text", "check": {"type": "contains", "value": "a%d"}}, {"id": "pattern", "check": {"type": "regex", "value": "^SELECT"}}`, requests, 12 << 20},
	} {
		ask(5, c.checks)
		engines, before, goroutines, started := opened.Load(), resident(t), runtime.NumGoroutine(), time.Now()
		ask(c.times, c.checks)
		grown, more := resident(t)-before, runtime.NumGoroutine()-goroutines
		t.Logf("%d requests %s in %v: %+d bytes, %+d goroutines", c.times, c.name, time.Since(started).Round(time.Millisecond), grown, more)
		if grown > c.bytes {
			t.Errorf("%d requests %s took %d bytes that are still held", c.times, c.name, grown)
		}
		if more > 15 {
			t.Errorf("%d goroutines more after %d requests %s", more, c.times, c.name)
		}
		if opened.Load() != engines {
			t.Errorf("%d engines more after %d requests %s", opened.Load()-engines, c.times, c.name)
		}
	}
	if err := e.Close(); err != nil || opened.Load() != closed.Load() {
		t.Errorf("%d engines were opened, %d closed: %v", opened.Load(), closed.Load(), err)
	}
}

// TestSwitchesOfTheOperator: switches in the server's environment apply to its suites, as on
// the command line.
func TestSwitchesOfTheOperator(t *testing.T) {
	t.Parallel()
	s := suites(t, nil)
	s.Engine.Engines.Env = proviso.EnvMap{"PROMPTFOO_DISABLE_TEMPLATING": "true"}
	f := start(t, server.Options{Open: true, Runner: s})
	id := f.run(`{"name": "s", "suite": {"prompts": ["Hello {{ name }}"], "providers": ["echo"], "tests": [{"vars": {"name": "Ann"}, "assert": [{"type": "equals", "value": "Hello Ann"}]}]}}`)
	f.follow(id)
	if got := f.ask("GET", "/v1/runs/"+id+"/results/0", ""); !strings.Contains(got.body, `"output":"Hello {{ name }}"`) {
		t.Errorf("%s", got.body)
	}
}
