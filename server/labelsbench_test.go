package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/value"
)

// benchRow returns a row with an output of about 2 KB and five judged assertions.
func benchRow(index int) []byte {
	var verdicts []string
	for i := range 5 {
		status := "pass"
		if (index+i)%7 == 0 {
			status = "fail"
		}
		verdicts = append(verdicts, fmt.Sprintf(`{"status":%q,"score":1,"judge":"judge-1","reason":"It says so in its first sentence.","assertion":{"id":"a%d","type":"judge","instruction":"The answer is complete","criteria":["It says how long","It says where"]},"criteria":[{"criterion":"It says how long","status":"pass"},{"criterion":"It says where","status":%q}]}`, status, i, status))
	}
	return fmt.Appendf(nil, `{"index":%d,"caseId":"case %d","promptIdx":0,"vars":{"topic":"lamps"},"response":{"output":%q},"verdict":"pass","gradingResult":{"componentResults":[%s]}}`,
		index, index, strings.Repeat("It takes up to 5 days until the bank has it. ", 45), strings.Join(verdicts, ","))
}

// BenchmarkLabel measures one step of a person in a queue of 20,000 rows with five assertions
// each, of which 10,000 items are labelled: the lease of an item, and its label.
func BenchmarkLabel(b *testing.B) {
	for _, people := range []int{1, 2} {
		b.Run(fmt.Sprintf("people=%d", people), func(b *testing.B) { benchmarkLabel(b, people) })
	}
}

func benchmarkLabel(b *testing.B, people int) {
	const rows, labels = 20_000, 10_000
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	p := db.In(store.DefaultProject)
	h := runfile.Header{Suite: "gone", Started: time.Now(), Meta: value.NewObject(0)}
	line := h.Line()
	run, _, err := p.ImportRun(b.Context(), store.ImportedRun{ID: "run_bench", Suite: "gone", Rows: rows, Options: []byte("{}"), Started: h.Started,
		RunFile: store.RunFile{Header: line[:len(line)-1], Trailer: []byte(`{"trailer":{}}`)}}, func(yield func(store.Result, error) bool) {
		for i := range rows {
			data := benchRow(i)
			row, _, _ := store.ReadRow(i, data)
			row.JSON = data
			if !yield(row, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	s, err := server.New(server.Options{Store: db, Jobs: db, Judge: evaluator(passing), Open: true, Rate: 1e9})
	if err != nil {
		b.Fatal(err)
	}
	ask := func(method, path, body string) (status int, answer []byte) {
		r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		data, _ := io.ReadAll(w.Result().Body)
		return w.Code, data
	}
	began := time.Now()
	if status, answer := ask(http.MethodPut, "/v1/label-queues/q", fmt.Sprintf(`{"run": %q, "people": %d}`, run.ID, people)); status != 201 {
		b.Fatalf("%d %s", status, answer)
	}
	made := time.Since(began)
	l, err := p.LeaseLabel(b.Context(), store.LeaseRequest{Queue: "q", By: "other", For: time.Minute})
	if err != nil || l == nil {
		b.Fatal(l, err)
	}
	// The person labelled the first items, and another person every second of them.
	for i := range labels {
		for _, by := range []string{"local", "other"}[:1+i%2] {
			n := store.NewLabel{Label: label.Label{By: by, Verdict: []label.Verdict{label.Pass, label.Fail}[i%3%2], Judge: "judge-1", Judged: "pass",
				Subject: label.Subject{Run: run.ID, Index: i / 5 % rows, Assertion: fmt.Sprint("a", i%5)}}}
			if _, err := p.AddLabel(b.Context(), n); err != nil {
				b.Fatal(err)
			}
		}
	}
	var leases, writes []time.Duration
	for b.Loop() {
		began := time.Now()
		status, answer := ask(http.MethodPost, "/v1/label-queues/q/lease", `{"seconds": 60}`)
		leases = append(leases, time.Since(began))
		var lease server.Lease
		if err := json.Unmarshal(answer, &lease); status != 200 || err != nil {
			b.Fatalf("%d %s %v", status, answer, err)
		}
		body := fmt.Sprintf(`{"run": %q, "index": %d, "assertion": %q, "label": "pass", "queue": "q", "lease": %q}`, run.ID, lease.Item.Index, lease.Item.Assertion, lease.Lease)
		began = time.Now()
		if status, answer := ask(http.MethodPost, "/v1/labels", body); status != 201 {
			b.Fatalf("%d %s", status, answer)
		}
		writes = append(writes, time.Since(began))
	}
	b.ReportMetric(float64(made.Milliseconds()), "ms/queue")
	for name, list := range map[string][]time.Duration{"lease": leases, "label": writes} {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)*95/100].Microseconds())/1000, "ms-p95/"+name)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, "ms-p50/"+name)
	}
}
