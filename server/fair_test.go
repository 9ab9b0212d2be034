package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
)

// TestComparisonsAreFair: a key with several running comparisons does not delay another key,
// and is refused if it sends too many.
func TestComparisonsAreFair(t *testing.T) {
	t.Parallel()
	hold, entered := make(chan struct{}), make(chan struct{}, 100)
	var slowRuns sync.Map
	f := start(t, server.Options{JudgeErrors: func(_ string, runs ...*gate.Run) map[string]stats.Confusion {
		if _, ok := slowRuns.Load(runs[1].Name); ok {
			entered <- struct{}{}
			<-hold
		}
		return nil
	}})
	scopes := []store.Scope{store.Read, store.Edit}
	greedy, patient := must1(f.key(store.NewKey{Scopes: scopes})), must1(f.key(store.NewKey{Scopes: scopes}))
	base := f.pushed(compareText("20260105-091500-base", "s", ``, 0), bearer(greedy))
	quick := f.pushed(compareText("20260105-091500-fast", "s", ``, 2), bearer(greedy))
	slow := []string{f.pushed(compareText("20260105-091500-aaaa", "slow", ``, 1), bearer(greedy)), f.pushed(compareText("20260105-091500-bbbb", "slow", ``, 2), bearer(greedy))}
	for _, id := range slow {
		slowRuns.Store(id, true)
	}
	statuses := make(chan answer, 100)
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			statuses <- f.ask("GET", "/v1/compare?base="+base+"&head="+slow[i%2], "", bearer(greedy))
		})
	}
	<-entered
	for range 10 { // 20 wait or work; these are refused
		if got := <-statuses; got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" || got.problem(t).Code != "busy" {
			t.Errorf("too many: %d %s", got.status, got.body)
		}
	}
	if got := f.ask("GET", "/v1/compare?base="+base+"&head="+quick, "", bearer(patient)); got.status != http.StatusOK {
		t.Errorf("of another key: %d %s", got.status, got.body)
	}
	if n := len(entered); n != 0 {
		t.Errorf("%d more comparisons of the key are in progress", n)
	}
	close(hold)
	all.Wait()
	for range 20 {
		if got := <-statuses; got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// stuck is a store that never finishes reading a row.
type stuck struct {
	store.Store
	now, most *atomic.Int64
}

type stuckProject struct {
	store.ProjectStore
	stuck
}

func (s stuck) In(p store.Project) store.ProjectStore { return stuckProject{s.Store.In(p), s} }

func (p stuckProject) Result(ctx context.Context, _ string, _ int) (store.Result, error) {
	n := p.now.Add(1)
	defer p.now.Add(-1)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
	<-ctx.Done()
	return store.Result{}, context.Cause(ctx)
}

// TestRowsAreReadInTurns: reading a row counts as computing, so that few rows are in memory at
// a time, however many clients send requests.
func TestRowsAreReadInTurns(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	id := f.push(runText(2)).object(t).Text("id")
	slow := stuck{f.store, new(atomic.Int64), new(atomic.Int64)}
	s, err := server.New(server.Options{Store: slow, Jobs: f.store, Judge: evaluator(passing), Open: true, CPUBudget: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"results/0/detail", "previews?index=0"} {
		slow.most.Store(0)
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/runs/"+id+"/"+path, nil))
				if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "--cpu-budget") {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
			})
		}
		all.Wait()
		if most := slow.most.Load(); most > int64(3*runtime.GOMAXPROCS(0)) {
			t.Errorf("%s: %d rows at a time", path, most)
		}
	}
}

// meeting is a client that receives nothing until another client is about to receive, too.
type meeting struct {
	*httptest.ResponseRecorder
	here, there chan *byte
	same        bool
}

func (m *meeting) Write(p []byte) (int, error) {
	m.there <- &p[0]
	m.same = <-m.here == &p[0]
	return m.ResponseRecorder.Write(p)
}

// TestSlowClientsShareAMatrix: clients that receive the same state of a running run share its
// memory.
func TestSlowClientsShareAMatrix(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Open: true, Runner: p.with(suites(t, nil))})
	id := f.run(slowSuite(2, 1))
	<-p.asked
	p.let <- struct{}{}
	<-p.asked
	one, two := make(chan *byte, 1), make(chan *byte, 1)
	clients := []*meeting{{httptest.NewRecorder(), one, two, false}, {httptest.NewRecorder(), two, one, false}}
	var all sync.WaitGroup
	for _, client := range clients {
		all.Go(func() {
			req := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/runs/"+id+"/matrix", nil)
			req.Header.Set("Accept-Encoding", "gzip")
			f.ServeHTTP(client, req)
		})
	}
	all.Wait()
	for _, client := range clients {
		if client.Code != http.StatusOK || client.Header().Get("Content-Encoding") != "gzip" || !client.same {
			t.Errorf("%d %v, shared: %t", client.Code, client.Header(), client.same)
		}
	}
	p.let <- struct{}{}
	f.follow(id)
}

// counted is a store that counts how often rows are listed.
type counted struct {
	store.Store
	lists *atomic.Int64
}

type countedProject struct {
	store.ProjectStore
	lists *atomic.Int64
}

func (s counted) In(p store.Project) store.ProjectStore {
	return countedProject{s.Store.In(p), s.lists}
}

func (p countedProject) ListResults(ctx context.Context, run string, f store.ResultFilter, page store.Page) (store.List[store.Result], error) {
	p.lists.Add(1)
	return p.ProjectStore.ListResults(ctx, run, f, page)
}

// TestResultsAreReadOnce: the results of a run are computed once, however many clients request
// them.
func TestResultsAreReadOnce(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	id := f.push(runText(2)).object(t).Text("id")
	rows := counted{f.store, new(atomic.Int64)}
	s, err := server.New(server.Options{Store: rows, Jobs: f.store, Judge: evaluator(passing), Open: true})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/runs/"+id, nil))
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"results"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
	if n := rows.lists.Load(); n != 1 {
		t.Errorf("rows were listed %d times", n)
	}
}
