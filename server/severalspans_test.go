package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// agentSpans returns a request with spans of a trace: an agent with an answer, below parent,
// and a model call below the agent. agent and model select which of the two are in the request.
func agentSpans(trace, parent string, agent, model bool) string {
	span := func(id, parent, attributes string) string {
		return fmt.Sprintf(`{"traceId":"%s","spanId":"%s","parentSpanId":"%s","name":"s","startTimeUnixNano":"1767323045000000000","endTimeUnixNano":"1767323045400000000","attributes":[%s,
			{"key":"output.value","value":{"stringValue":"sent"}},{"key":"gen_ai.completion","value":{"stringValue":"sent"}}]}`, trace, id, parent, attributes)
	}
	var list []string
	if agent {
		list = append(list, span("cd00000000000001", parent, `{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}}`))
	}
	if model {
		list = append(list, span("cd00000000000002", "cd00000000000001", `{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}`))
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(list, ",") + `]}]}]}`
}

// TestSeveralSpans: an evaluation finds the spans of its key, whichever server received them,
// including those that arrive while it waits.
func TestSeveralSpans(t *testing.T) {
	t.Parallel()
	o := server.Options{Judge: traceJudge(t), Traces: server.TraceLimits{OneTrace: 3, Wait: 300 * time.Millisecond}}
	a, b := several(t, o, o)
	secret := func(p store.Project) string {
		s, _ := a.key(store.NewKey{Project: p, Scopes: []store.Scope{store.Evaluate}})
		return bearer(s)
	}
	mine, stranger, foreign := secret("a"), secret("a"), secret("b")
	send := func(f *fixture, trace int, tools ...string) answer {
		return f.ask("POST", "/v1/traces", spansOf(traceNamed(trace), "", tools...), mine)
	}
	decided := func(f *fixture, trace int, who string) any {
		return at(f.ask("POST", "/v1/evaluate", about(traceNamed(trace)), who).object(t), "status")
	}
	send(a, 1, "mail")
	for name, got := range map[string][2]any{
		"on the server that got them": {decided(a, 1, mine), "pass"}, "on another": {decided(b, 1, mine), "pass"}, "by its traceparent": {at(b.ask("POST", "/v1/evaluate", about("00-"+strings.ToUpper(traceNamed(1))+"-00000000000000aa-01"), mine).object(t), "status"), "pass"},
		"of another key": {decided(b, 1, stranger), "error"}, "of another project": {decided(b, 1, foreign), "error"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %v, want %v", name, got[0], got[1])
		}
	}
	late := make(chan any, 1)
	go func() { late <- decided(b, 2, mine) }()
	time.Sleep(20 * time.Millisecond)
	send(a, 2, "mail")
	if got := <-late; got != "pass" {
		t.Errorf("spans that come later: %v", got)
	}
	send(a, 3, "mail", "x", "y")
	if got := b.ask("POST", "/v1/evaluate", about(traceNamed(3)), mine); at(got.object(t), "status") != "error" || !strings.Contains(got.body, "no room for 4 of its spans") && !strings.Contains(got.body, "no span of the trace") {
		t.Errorf("%s", got.body)
	}
}

// work executes runs and watches on a store, like `proviso worker`, until the end of the test.
func work(t *testing.T, o server.Options) {
	t.Helper()
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Work(ctx, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestSeveralTracedRun: a worker decides a run by the spans that an agent sends to the servers,
// half to each. Afterwards the spans are gone, and they are not production traffic.
func TestSeveralTracedRun(t *testing.T) {
	t.Parallel()
	stores := storesOf(t, 3)
	runner := suites(t, nil)
	runner.Engine.Policy.Hosts = []string{"127.0.0.1"}
	a, b := start(t, server.Options{Store: stores[0], Runner: runner, TrafficShare: 1}), start(t, server.Options{Store: stores[1], TrafficShare: 1})
	secret, key := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate, store.Ingest, store.Read}})
	var traces []string
	var refused atomic.Int32
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.Header.Get("Traceparent"), "-")
		traces = append(traces, parts[1])
		for f, body := range map[*fixture]string{a: agentSpans(parts[1], parts[2], true, false), b: agentSpans(parts[1], parts[2], false, true)} {
			if f.ask("POST", "/v1/traces", body, bearer(secret)).status != 200 {
				refused.Add(1)
			}
		}
		fmt.Fprint(w, `{"output":"sent"}`)
	}))
	defer behind.Close()
	work(t, server.Options{Store: stores[2], Jobs: stores[2], Runner: runner, Judge: evaluator(passing)})
	id := a.run(`{"name": "n", "suite": {"prompts": ["Mail Ann"], "providers": ["webhook:`+behind.URL+`"], "tracing": {"enabled": true},
		"tests": [{"assert": [{"type": "trace-span-count", "value": {"pattern": "*", "min": 2, "max": 2}}]}]}}`, bearer(secret))
	b.follow(id, bearer(secret))
	if run := b.ask("GET", "/v1/runs/"+id, "", bearer(secret)).object(t); at(run, "results.passed_cases") != 1.0 || refused.Load() > 0 {
		t.Errorf("%v refused: %s", refused.Load(), b.ask("GET", "/v1/runs/"+id+"/results", "", bearer(secret)).body)
	}
	if len(traces) != 1 {
		t.Fatalf("%d traces", len(traces))
	}
	until(t, "the trace is dropped", func() bool {
		kept := must2(stores[0].In("default").Trace(t.Context(), key.ID, traces[0], 0))(t)
		return len(kept.Parts) == 0 && !kept.Awaited
	})
	if events := must2(stores[0].In("default").ListEvents(t.Context(), store.EventFilter{}, store.Page{}))(t); len(events.Items) != 0 {
		t.Errorf("spans of a run became %d events", len(events.Items))
	}
}

// TestSeveralAnswers: spans of one trace that reached two servers become one event.
func TestSeveralAnswers(t *testing.T) {
	t.Parallel()
	a, b := several(t, server.Options{TrafficShare: 1}, server.Options{TrafficShare: 1})
	secret, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate, store.Ingest}})
	events := func() int {
		return len(must2(b.store.In("default").ListEvents(t.Context(), store.EventFilter{}, store.Page{}))(t).Items)
	}
	trace := "ab00000000000000000000000000000c"
	a.ask("POST", "/v1/traces", agentSpans(trace, "", false, true), bearer(secret))
	if n := events(); n != 0 {
		t.Errorf("%d events before it is known what is above", n)
	}
	b.ask("POST", "/v1/traces", agentSpans(trace, "", true, false), bearer(secret))
	if n := events(); n != 1 {
		t.Errorf("%d events of an agent", n)
	}
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	if n := events(); n != 1 {
		t.Errorf("%d events after the server stopped that got the span below", n)
	}
}
