package server_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// slowStore blocks reading the charts of one project until it is allowed.
type slowStore struct {
	testStore
	project store.Project
	may     chan struct{}
}

func (s slowStore) In(p store.Project) store.ProjectStore {
	if p != s.project {
		return s.testStore.In(p)
	}
	return slowCharts{s.testStore.In(p), s.may}
}

type slowCharts struct {
	store.ProjectStore
	may chan struct{}
}

func (s slowCharts) Charts(ctx context.Context, watch string) (store.ChartState, error) {
	select {
	case <-s.may:
	case <-ctx.Done():
	}
	return s.ProjectStore.Charts(ctx, watch)
}

// TestSlowProject: a project whose charts take long does not delay other projects.
func TestSlowProject(t *testing.T) {
	t.Parallel()
	db := openStore(t, filepath.Join(t.TempDir(), "proviso.db"))
	if _, _, err := db.CreateKey(t.Context(), store.NewKey{Name: "a", Project: "a", Scopes: []store.Scope{store.Read}}); err != nil { // this creates the project
		t.Fatal(err)
	}
	for _, p := range []store.Project{"a", store.DefaultProject} {
		if _, _, err := db.In(p).PutWatch(t.Context(), store.NewWatch{Name: "tone", Content: []byte(plainWatch)}); err != nil {
			t.Fatal(err)
		}
	}
	slow := slowStore{db, "a", make(chan struct{})}
	start(t, server.Options{Store: slow, Jobs: db, WatchWorkers: 2, ChartEvery: 20 * time.Millisecond, Poll: 20 * time.Millisecond})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		state, err := db.In(store.DefaultProject).Charts(t.Context(), "tone")
		if err != nil {
			t.Fatal(err)
		}
		if len(state.State) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the charts of one project wait for those of another")
		}
	}
	close(slow.may)
}

// TestRemovedWatch: removing a watch while its events are evaluated is not an error.
func TestRemovedWatch(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	slow := evaluator(byOutput(&asked))
	f := watched(t, server.Options{Judge: slow, ChartEvery: 5 * time.Millisecond}, plainWatch)
	f.events(0, 200, func(int) string { return "Within 30 days." })
	f.wants("DELETE", "/v1/watches/tone", "", 204)
	time.Sleep(100 * time.Millisecond) // for work in progress
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if got := f.trouble(); got != "" {
		t.Errorf("the log says\n%s", got)
	}
}

// TestNearestWatch: an error for a missing watch suggests the nearest name.
func TestNearestWatch(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	f.wants("PUT", "/v1/assertion-sets/replies", sorrySet, 201)
	f.wants("PUT", "/v1/watches/tone", plainWatch, 201)
	for _, path := range []string{"/v1/watches/tne", "/v1/watches/tne/series", "/v1/watches/tne/thumbs", "/v1/watches/tne/differences", "/v1/watches/tne/verdicts", "/v1/alarms?watch=tne", "/v1/events?watch=tne"} {
		if got := f.wants("GET", path, "", 404); !strings.Contains(got.body, `did you mean \"tone\"?`) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	if got := f.wants("PUT", "/v1/label-queues/q", `{"filter": "watch=tne"}`, 422); !strings.Contains(got.body, `did you mean \"tone\"?`) {
		t.Error(got.body)
	}
}

// TestNamesInAddresses: an event with any id can be fetched by its address.
func TestNamesInAddresses(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, TrafficShare: 1})
	for _, name := range []string{"a/../b", "a/b", "../x", "a/", "a//b", "a%2Fb", "ä ö?#&", "a.", "..."} {
		body := value.ObjectOf("events", []any{value.ObjectOf("id", name, "agent", name, "conversation", name, "output", "x", "prompt", "Be kind.")})
		if got := f.wants("POST", "/v1/events", string(value.AppendJSON(nil, body)), 202).object(t); got.At("accepted") != 1.0 {
			t.Fatalf("%q: %s", name, value.AppendJSON(nil, got))
		}
		at := url.PathEscape(name)
		if got := f.wants("GET", "/v1/events/"+at, "", 200).object(t); got.Text("id") != name {
			t.Errorf("%q: %s", name, value.AppendJSON(nil, got))
		}
		if got := f.wants("GET", "/v1/conversations/"+at, "", 200).object(t); got.Text("conversation") != name {
			t.Errorf("%q: %s", name, value.AppendJSON(nil, got))
		}
		f.wants("GET", "/v1/agents/"+at+"/prompts", "", 200)
	}
	f.wants("GET", "/v1/events/a/../b", "", 404) // unescaped, this is another address
}

// TestBusyIngest: events whose parsing takes too long may be retried; another request that
// exceeds its CPU budget is refused permanently.
func TestBusyIngest(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, CPUBudget: time.Nanosecond})
	req, err := http.NewRequestWithContext(t.Context(), "POST", f.url+"/v1/events", strings.NewReader(`{"events": [`+strings.Repeat(`{"id": "a", "agent": "x", "output": "y"},`, 900)+`{"id": "b", "agent": "x", "output": "y"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
}

// TestStateOfWatch: the list and the page of a watch show the same state.
func TestStateOfWatch(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	f := watched(t, server.Options{Judge: byOutput(&asked)}, strings.Replace(plainWatch, `, "objectives": {"tone": {"max_fail": 0.05}}`, "", 1))
	f.events(0, 20, func(int) string { return "Within 30 days." })
	f.eventually("/v1/watches/tone", "all are evaluated", func(o *value.Object) bool { return o.Object("spend").At("events") == 20.0 })
	list := f.eventually("/v1/watches", "the charts are up to date", func(o *value.Object) bool {
		return o.At("items").([]any)[0].(*value.Object).Text("last_verdict") != ""
	})
	if one, all := f.wants("GET", "/v1/watches/tone", "", 200).object(t).Text("state"), list.At("items").([]any)[0].(*value.Object).Text("state"); one != "learning" || all != "learning" {
		t.Errorf("the watch is %s, and %s in the list", one, all)
	}
}
