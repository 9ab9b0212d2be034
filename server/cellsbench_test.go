package server_test

import (
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// largeRows returns the rows of a run with 4 columns and 5 assertions, about 1,100 bytes each.
func largeRows(rows, seed int) iter.Seq2[store.Result, error] {
	verdict := func(n int) string {
		if (n*2654435761+seed)>>7%11 == 0 {
			return "fail"
		}
		return "pass"
	}
	return func(yield func(store.Result, error) bool) {
		for i := range rows {
			row := fmt.Appendf(nil, `{"index":%d,"id":"r/%d","caseId":"c%012x","testIdx":%d,"promptIdx":%d,"promptId":"p%d","provider":{"id":"openai:gpt","label":""},"prompt":{"raw":"Answer the question about item-%05d.","label":"prompt %d"},`+
				`"vars":{"question":"Where is my refund for item %d?"},"testCase":{"vars":{"question":"Where is my refund?"}},"response":{"output":"Your refund for item-%05d was sent 3 days ago. It takes up to 5 days."},"success":true,"verdict":%q,"score":1,"gradingResult":{"pass":true,"score":1,"componentResults":[`,
				i, i, i/4*7919, i/4, i%4, i%4, i/4, i%4, i/4, i/4, verdict(i))
			for n, a := range [...]string{`{"type":"contains","value":"refund"}`, `{"type":"not-contains","value":"as an AI"}`, `{"type":"regex","value":"\\b[0-9]+\\b","metric":"number"}`, `{"type":"javascript","id":"short"}`, `{"type":"llm-rubric","id":"tone"}`} {
				if n > 0 {
					row = append(row, ',')
				}
				row = fmt.Appendf(row, `{"pass":true,"score":1,"reason":"Assertion passed","status":%q,"assertion":%s}`, verdict(i*5+n), a)
			}
			status := proviso.Pass
			if verdict(i) == "fail" {
				status = proviso.Fail
			}
			row = append(row, `]},"latencyMs":812.5,"cost":0.0003,"metadata":{}}`...)
			if !yield(store.Result{Index: i, Status: status, JSON: row}, nil) {
				return
			}
		}
	}
}

// BenchmarkCells measures the requests of a page for a run of 100,000 cases in SQLite. Each
// matrix and each comparison is the first of its server, so that nothing is cached.
func BenchmarkCells(b *testing.B) {
	const rows = 400_000
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for i, n := range []int{rows, 100_000, 100_000} {
		r := store.ImportedRun{ID: fmt.Sprint("run_", i), Suite: "s", Rows: n, Started: time.Now(), RunFile: store.RunFile{
			Header: []byte(`{"proviso":"run","format":1,"id":"20260105-091500-k3x9","version":"","suite":"s","hash":"","started":"2026-01-05T09:15:00Z","meta":{"columns":[],"rows":1}}`), Trailer: []byte(`{"trailer":{}}`)}}
		if _, _, err := db.In(store.DefaultProject).ImportRun(b.Context(), r, largeRows(n, i)); err != nil {
			b.Fatal(err)
		}
	}
	ask := func(b *testing.B, s *server.Server, path string, header ...string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.Header.Set("Accept-Encoding", "gzip")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		if w.Code != http.StatusOK && w.Code != http.StatusNotModified {
			b.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w
	}
	open := func(b *testing.B) *server.Server {
		s, err := server.New(server.Options{Store: db, Jobs: db, Judge: evaluator(passing), Open: true, CPUBudget: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	for _, path := range []string{"/v1/runs/run_0/matrix", "/v1/compare?base=run_1&head=run_2", "/v1/runs/run_0/search?q=nowhere"} {
		b.Run("first "+path[:12]+path[len(path)-6:], func(b *testing.B) {
			b.ReportAllocs()
			size, peak := 0, watchHeap()
			for b.Loop() {
				size = ask(b, open(b), path).Body.Len()
			}
			b.ReportMetric(float64(size), "bytes")
			b.ReportMetric(peak(), "MB-peak")
		})
	}
	s := open(b)
	tag := ask(b, s, "/v1/runs/run_0/matrix").Header().Get("ETag")
	list := "0"
	for i := range 399 {
		list += "," + strconv.Itoa(i*997)
	}
	for name, path := range map[string]string{"matrix": "matrix", "400 previews": "previews?index=" + list, "detail": "results/77777/detail"} {
		b.Run("again "+name, func(b *testing.B) {
			for b.Loop() {
				ask(b, s, "/v1/runs/run_0/"+path)
			}
		})
	}
	b.Run("not modified", func(b *testing.B) {
		for b.Loop() {
			ask(b, s, "/v1/runs/run_0/matrix", "If-None-Match", tag)
		}
	})
}

// watchHeap starts to watch the heap. The returned function stops it and returns the largest
// heap size in megabytes.
func watchHeap() func() float64 {
	end, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		var m runtime.MemStats
		for {
			select {
			case <-end:
				peak <- most
				return
			case <-time.After(50 * time.Millisecond):
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			}
		}
	}()
	return func() float64 {
		close(end)
		return float64(<-peak) / 1e6
	}
}
