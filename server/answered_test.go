package server_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// TestAnswersInSpans: an agent's answer in a trace becomes one redacted event, and only if the
// key may send events.
func TestAnswersInSpans(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{TrafficShare: 1, Redactor: redactor(t)})
	data, err := os.ReadFile("../otlp/testdata/answers-latest.json")
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Replace(string(data), "Within 30 days.", "Within 30 days. 4929123412341234", 1)
	agent, _ := f.key(store.NewKey{Name: "agent", Scopes: []store.Scope{store.Ingest}})
	ci, _ := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	reader, _ := f.key(store.NewKey{Name: "reader", Scopes: []store.Scope{store.Read}})
	for _, secret := range []string{ci, agent, agent} {
		if got := f.ask("POST", "/v1/traces", body, bearer(secret)); got.status != 200 {
			t.Fatal(got.status, got.body)
		}
	}
	items, _ := f.ask("GET", "/v1/events?texts=full", "", bearer(reader)).object(t).At("items").([]any)
	if len(items) != 1 || textOf(items[0], "output") != "Within 30 days. [redacted]" || textOf(items[0], "agent") != "support" || !strings.HasPrefix(textOf(items[0], "user"), "hash:") {
		t.Errorf("%v", items)
	}
	if got := f.ask("POST", "/v1/feedback", `{"trace_id": "ab000000000000000000000000000001", "value": 1}`, bearer(agent)); got.status != 201 {
		t.Error(got.body)
	}
	if e := f.ask("GET", "/v1/events/"+textOf(items[0], "id"), "", bearer(reader)).object(t); e.At("up") != 1.0 {
		t.Error(e)
	}
}

// TestAnswersWhoseTopIsMissing: answers that wait for a parent span are stored when the server
// stops.
func TestAnswersWhoseTopIsMissing(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, TrafficShare: 1})
	const span = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"ab000000000000000000000000000002","spanId":"cd00000000000002","parentSpanId":"cd00000000000001","name":"invoke_agent a",
		"startTimeUnixNano":"1767323045000000000","endTimeUnixNano":"1767323045400000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"output.value","value":{"stringValue":"x"}}]}]}]}]}`
	if got := f.ask("POST", "/v1/traces", span); got.status != 200 {
		t.Fatal(got.body)
	}
	list := func() int {
		l, err := f.store.In(store.DefaultProject).ListEvents(context.Background(), store.EventFilter{}, store.Page{})
		if err != nil {
			t.Fatal(err)
		}
		return len(l.Items)
	}
	if n := list(); n != 0 {
		t.Fatalf("%d events at once", n)
	}
	f.stop()
	if n := list(); n != 1 {
		t.Errorf("%d events at the end", n)
	}
}
