package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// TestQueueOfTraffic: people label events that a filter selects, and the labels appear on the
// events.
func TestQueueOfTraffic(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{TrafficShare: 1})
	owner, _ := f.key(store.NewKey{Name: "owner", Scopes: []store.Scope{store.Read, store.Edit, store.Ingest, store.Labelling}})
	ana, _ := f.key(store.NewKey{Name: "ana", Scopes: []store.Scope{store.Labelling}})
	var events []string
	for i := range 20 {
		events = append(events, fmt.Sprintf(`{"id": "e%d", "agent": "support", "input": "question %d", "output": "answer %d", "segment": {"lang": "%s"}}`, i, i, i, [...]string{"de", "en"}[i%2]))
	}
	if got := f.ask("POST", "/v1/events", `{"events": [`+strings.Join(events, ",")+`]}`, bearer(owner)); got.status != 202 {
		t.Fatal(got.body)
	}
	for _, c := range []struct {
		body, secret, want string
		status             int
	}{
		{`{"filter": "segment=lang:de", "assertions": ["tone"], "random": 4}`, owner, `"run":""`, 201},
		{`{"filter": "segment=lang:de", "events": ["e1"]}`, owner, `exactly one of`, 422},
		{`{}`, owner, `exactly one of`, 422},
		{`{"run": "run_x", "filter": "agent=x"}`, owner, `exactly one of`, 422},
		{`{"events": ["none"]}`, owner, `there is no event`, 422},
		{`{"filter": "agent=support"}`, ana, `scope read`, 403},
	} {
		if got := f.ask("PUT", "/v1/label-queues/tone", c.body, bearer(c.secret)); got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
	}
	strata := map[string]int{}
	for i := range 10 {
		got := f.ask("POST", "/v1/label-queues/tone/lease", "", bearer(ana))
		if got.status != 200 {
			t.Fatal(got.status, got.body)
		}
		l := got.object(t)
		item := l.Object("item")
		if id := item.Text("event"); item.Text("output") != "answer "+id[1:] || item.Text("run") != "" || item.At("judge") != nil {
			t.Fatal(item)
		}
		strata[l.Text("stratum")]++
		said := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"event": %q, "assertion": "tone", "label": "fail", "queue": "tone", "lease": %q}`, item.Text("event"), l.Text("lease")), bearer(ana))
		if said.status != 201 {
			t.Fatal(i, said.status, said.body)
		}
	}
	if got := f.ask("POST", "/v1/label-queues/tone/lease", "", bearer(ana)); got.status != 204 || strata["random"] != 4 || strata["informative"] != 6 {
		t.Error(got.status, strata)
	}
	labels, _ := f.ask("GET", "/v1/labels?queue=tone", "", bearer(owner)).object(t).At("items").([]any)
	if len(labels) != 10 || textOf(labels[9], "stratum") != "random" || textOf(labels[9], "event") == "" {
		t.Error(labels)
	}
	if got := f.ask("GET", "/v1/label-queues/tone", "", bearer(owner)).object(t); got.At("done") != 10.0 || got.At("items") != 10.0 {
		t.Error(got)
	}
	// Events selected by their outcome are not a random sample.
	f.ask("POST", "/v1/feedback", `{"event": "e3", "value": -1}`, bearer(owner))
	f.ask("PUT", "/v1/label-queues/down", `{"filter": "feedback=down"}`, bearer(owner))
	if got := f.ask("POST", "/v1/label-queues/down/lease", "", bearer(owner)).object(t); got.Text("stratum") != "informative" || got.Object("item").Text("event") != "e3" {
		t.Error(got)
	}
}
