package server_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// TestWatchThroughput measures how many events per second are evaluated against deterministic
// assertions, including verdicts, rollups and charts. It logs the figure, and fails only far
// below it. PROVISO_EVENTS sets the number of events.
func TestWatchThroughput(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	events := 2000
	if text := os.Getenv("PROVISO_EVENTS"); text != "" {
		if _, err := fmt.Sscan(text, &events); err != nil {
			t.Fatal(err)
		}
	}
	e, err := engine.Open(t.Context(), nil, engine.Options{Judge: engine.Judge{Off: true}, Engines: engine.Engines{Env: proviso.EnvMap{}, Wrap: server.Metered}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f := start(t, server.Options{Judge: e, Open: true, WatchWorkers: 8, ChartEvery: time.Second})
	f.wants("PUT", "/v1/assertion-sets/replies", `{"assertions": [{"id": "short", "check": {"type": "word-count", "value": {"max": 40}}}, {"id": "polite", "check": {"type": "not-icontains", "value": "sorry"}},
		{"id": "ticket", "check": {"type": "regex", "value": "#\\d{4}"}}, {"id": "json", "check": {"type": "not-is-json"}}]}`, 201)
	f.wants("PUT", "/v1/watches/tone", `{"match": {"agent": "support"}, "assertions": "set:replies"}`, 201)
	var list []store.NewEvent
	for i := range events {
		list = append(list, store.NewEvent{KeepContent: true, Jobs: []store.EventJob{{Watch: "tone", Probability: 0.1}}, Event: ingest.Event{ID: fmt.Sprint("e", i), Agent: "support", Time: time.Now(), Input: "Where is my order?", Output: fmt.Sprintf("It arrives tomorrow, answer %d. #1042", i)}})
	}
	if _, err := f.store.In(store.DefaultProject).AddEvents(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for {
		h, err := f.store.In(store.DefaultProject).WatchHealth(t.Context(), "tone", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if h.Pending == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	rate := float64(events) / time.Since(began).Seconds()
	t.Logf("%.0f events a second, each against 4 assertions", rate)
	if rate < 20 {
		t.Errorf("only %.0f events a second", rate)
	}
}
