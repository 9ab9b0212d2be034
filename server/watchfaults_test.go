package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// changing is a judge that can turn into another judge.
type changing struct {
	strict atomic.Bool
	asked  atomic.Int64
}

func (c *changing) Evaluate(_ context.Context, r *judge.Request) (*judge.Response, error) {
	c.asked.Add(1)
	resp := &judge.Response{Status: "pass", Total: len(r.Assertions)}
	for _, a := range r.Assertions {
		one := judge.Result{ID: a.ID, Status: "pass", Pass: true, Judge: c.Identity()}
		if c.strict.Load() {
			one.Status, one.Pass = "fail", false
		}
		resp.Results = append(resp.Results, one)
	}
	return resp, nil
}

func (c *changing) Identity() string {
	if c.strict.Load() {
		return "judge:strict"
	}
	return "judge:mild"
}

// TestAnchors: anchors are judged first when the watch starts, and again when the judge
// changes. A change of their verdicts opens an alarm of kind judge.
func TestAnchors(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 20 {
		items = append(items, fmt.Sprintf(`{"input": "Hi", "output": "answer %d"}`, i))
	}
	j := &changing{}
	f := watched(t, server.Options{Judge: j}, strings.Replace(plainWatch, `"objectives"`, `"anchors": {"every": "168h", "items": [`+strings.Join(items, ",")+`]}, "objectives"`, 1))
	in := f.store.In(store.DefaultProject)
	rounds := func(n int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			list, err := in.Anchors(t.Context(), "tone", 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d rounds, want %d\n%s", len(list), n, f.trouble())
			}
		}
	}
	rounds(1)
	time.Sleep(200 * time.Millisecond)
	if n := j.asked.Load(); n != 20 {
		t.Errorf("%d calls for 20 anchors", n)
	}
	j.strict.Store(true)
	rounds(2)
	list := f.eventually("/v1/alarms?kind=judge", "there is an alarm", func(o *value.Object) bool { return len(o.At("items").([]any)) > 0 })
	if a := list.At("items").([]any)[0].(*value.Object); a.Text("judge") != "judge:strict" {
		t.Errorf("%s", value.AppendJSON(nil, a))
	}
	if w := f.wants("GET", "/v1/watches/tone", "", 200).object(t); strings.Contains(string(value.AppendJSON(nil, w.Object("watch"))), "answer 1") || w.At("anchors") != 20.0 {
		t.Errorf("%s", value.AppendJSON(nil, w))
	}
}

// TestBackfill: a new assertion gets a baseline from stored traffic.
func TestBackfill(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	f := watched(t, server.Options{Judge: byOutput(&asked)}, plainWatch)
	f.events(0, 50, func(int) string { return "Within 30 days." })
	f.eventually("/v1/watches/tone", "all are evaluated", func(o *value.Object) bool { return o.Object("spend").At("events").(float64) >= 50 })
	f.wants("PUT", "/v1/assertion-sets/replies", strings.Replace(sorrySet, `{"id": "short"`, `{"id": "new", "criteria": ["The output is new"]}, {"id": "short"`, 1), 201)
	f.eventually("/v1/watches/tone/verdicts?assertion=new&limit=1000", "stored events are evaluated", func(o *value.Object) bool { return len(o.At("items").([]any)) == 50 })
	v := f.wants("GET", "/v1/watches/tone/verdicts?assertion=new&limit=1", "", 200).object(t).At("items").([]any)[0].(*value.Object)
	if v.At("backfill") != true {
		t.Errorf("%s", value.AppendJSON(nil, v))
	}
}

// TestWatchWithoutKey: a watch whose key is revoked is silent and reports why; its events wait.
func TestWatchWithoutKey(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	f := start(t, server.Options{Judge: byOutput(&asked), WatchWorkers: 2, Poll: 20 * time.Millisecond, ChartEvery: 50 * time.Millisecond})
	secret, key := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate, store.Ingest, store.Read}})
	for path, body := range map[string]string{"/v1/assertion-sets/replies": sorrySet} {
		if got := f.ask("PUT", path, body, bearer(secret)); got.status != 201 {
			t.Fatal(got)
		}
	}
	if got := f.ask("PUT", "/v1/watches/tone", plainWatch, bearer(secret)); got.status != 201 {
		t.Fatal(got)
	}
	other, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Ingest, store.Read}})
	if _, err := f.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if got := f.ask("POST", "/v1/events", `{"events": [{"id": "e1", "agent": "support", "output": "Within 30 days."}]}`, bearer(other)); got.status != 202 {
		t.Fatal(got)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		w := f.ask("GET", "/v1/watches/tone", "", bearer(other)).object(t)
		causes, _ := w.At("causes").([]any)
		if w.Text("state") == "silent" && len(causes) == 1 && causes[0] == "key" && w.Object("queue").At("pending") == 1.0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s\n%s", value.AppendJSON(nil, w), f.trouble())
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d calls with a revoked key", n)
	}
	list := f.ask("GET", "/v1/alarms?kind=silent", "", bearer(other)).object(t).At("items").([]any)
	if len(list) != 1 || !strings.Contains(list[0].(*value.Object).Text("reason"), "revoked") {
		t.Errorf("%s", value.AppendJSON(nil, list))
	}
}

// revokingStore revokes a key as soon as events are leased.
type revokingStore struct {
	testStore
	key string
}

func (s revokingStore) In(p store.Project) store.ProjectStore {
	return revokingEvents{s.testStore.In(p), s}
}

type revokingEvents struct {
	store.ProjectStore
	of revokingStore
}

func (s revokingEvents) LeaseEvents(ctx context.Context, l store.LeaseEvents) ([]store.EventLease, error) {
	leases, err := s.ProjectStore.LeaseEvents(ctx, l)
	if err == nil && len(leases) > 0 {
		_, err = s.of.RevokeKey(ctx, s.of.key)
	}
	return leases, err
}

// TestWatchKeyRevokedMeanwhile: a key that is revoked after a worker read it pays for nothing
// that is leased after that.
func TestWatchKeyRevokedMeanwhile(t *testing.T) {
	t.Parallel()
	db := openStore(t, filepath.Join(t.TempDir(), "proviso.db"))
	key, secret, err := db.CreateKey(t.Context(), store.NewKey{Name: "a", Project: store.DefaultProject, Scopes: []store.Scope{store.Evaluate, store.Ingest, store.Read}})
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := db.CreateKey(t.Context(), store.NewKey{Name: "b", Project: store.DefaultProject, Scopes: []store.Scope{store.Ingest, store.Read}})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	f := start(t, server.Options{Store: revokingStore{db, key.ID}, Jobs: db, Judge: byOutput(&asked), WatchWorkers: 2, Poll: 20 * time.Millisecond, ChartEvery: 50 * time.Millisecond})
	for _, x := range [][3]string{{"PUT", "/v1/assertion-sets/replies", sorrySet}, {"PUT", "/v1/watches/tone", plainWatch},
		{"POST", "/v1/events", `{"events": [{"id": "e1", "agent": "support", "output": "Within 30 days."}]}`}} {
		if got := f.ask(x[0], x[1], x[2], bearer(secret)); got.status >= 300 {
			t.Fatal(got)
		}
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		w := f.ask("GET", "/v1/watches/tone", "", bearer(other)).object(t)
		causes, _ := w.At("causes").([]any)
		if len(causes) == 1 && causes[0] == "key" && w.Object("queue").At("pending") == 1.0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s", value.AppendJSON(nil, w))
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d calls with a revoked key", n)
	}
}

// priced is a provider whose answers cost money; the judge below calls it.
type priced struct{ proviso.Provider }

func (priced) ID() string { return "priced" }

func (priced) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	cost := 0.25
	return proviso.Output{Value: "yes", Cost: &cost}, nil
}

// TestWatchBudget: when the daily budget is spent, events wait, and the watch is silent for
// that reason.
func TestWatchBudget(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	model := server.Metered(priced{})
	j := evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		if _, err := model.Answer(ctx, proviso.Ask{}); err != nil {
			return nil, err
		}
		return byOutput(&asked)(ctx, r)
	})
	f := watched(t, server.Options{Judge: j}, strings.Replace(plainWatch, `"segment"`, `"budget_usd_per_day": 1.1, "segment"`, 1))
	f.events(0, 20, func(int) string { return "Within 30 days." })
	w := f.eventually("/v1/watches/tone", "the budget is used up", func(o *value.Object) bool {
		causes, _ := o.At("causes").([]any)
		spend := o.Object("spend") // amounts reserved for events in progress count, too
		return o.Text("state") == "silent" && len(causes) == 1 && causes[0] == "budget" && spend.At("reserved") == 0.0 && spend.At("spent") == 1.0
	})
	if spend := w.Object("spend"); spend.At("spent") != 1.0 || spend.At("reserved") != 0.0 || w.Object("queue").At("pending") != 16.0 || asked.Load() != 4 {
		t.Errorf("%d calls, %s", asked.Load(), value.AppendJSON(nil, w))
	}
}

// TestVerdictsAreSentOn: verdicts of watches are forwarded to a collector.
func TestVerdictsAreSentOn(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	e, err := otlp.NewExporter(otlp.LogsPath, otlp.ExporterOptions{Endpoint: c.URL, Client: c.Client()})
	if err != nil {
		t.Fatal(err)
	}
	f := watched(t, server.Options{Judge: byOutput(new(atomic.Int64)), Verdicts: otlp.NewResults(e, otlp.Origin{})}, plainWatch)
	f.events(0, 3, func(int) string { return "I am sorry." })
	f.eventually("/v1/watches/tone", "all are evaluated", func(o *value.Object) bool { return o.Object("spend").At("events") == 3.0 })
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if items, lost, err := e.Close(); items < 6 || lost != 0 || err != nil {
		t.Errorf("%d of %d were lost: %v", lost, items, err)
	}
	if text := c.text(); !strings.Contains(text, "gen_ai.evaluation.result") || !strings.Contains(text, "It says <sorry>.") || !strings.Contains(text, "support") {
		t.Errorf("%q", text)
	}
}

// collector stores the requests that it receives.
type collector struct {
	*httptest.Server
	mu  sync.Mutex
	got []byte
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got = append(c.got, data...)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.got)
}
