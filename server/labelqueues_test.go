package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// TestLabelQueue: two people label a run, each with separate progress, and their agreement is
// measured.
func TestLabelQueue(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	admin, _ := f.key(store.NewKey{Name: "root", Scopes: []store.Scope{store.Admin}})
	ana, anaKey := f.key(store.NewKey{Name: "Ana", Scopes: []store.Scope{store.Labelling}})
	ben, benKey := f.key(store.NewKey{Name: "Ben", Scopes: []store.Scope{store.Labelling, store.Read}})
	run := f.labelRun(6, "key_other")
	made := f.ask("PUT", "/v1/label-queues/q", fmt.Sprintf(`{"run": %q, "random": 2, "people": 2}`, run), bearer(admin))
	if got := made.object(t); made.status != 201 || got.At("items") != 12.0 || got.At("blind") != true || got.At("people") != 2.0 {
		t.Fatalf("%d %s", made.status, made.body)
	}
	strata := ""
	for n := 0; ; n++ {
		who := []string{ana, ben}[n%2]
		got := f.ask("POST", "/v1/label-queues/q/lease", `{"seconds": 60}`, bearer(who))
		if got.status == 204 {
			break
		}
		o := got.object(t)
		item := o.Object("item")
		if got.status != 200 || o.Text("lease") == "" || item.Text("output") != "30 days \U0001f4a1 free" || item.Text("instruction") != "asks" || item.Has("judge") || item.Text("input") != "topic: lamps" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if who == ana {
			strata += o.Text("stratum")[:1]
		}
		said := "pass" // Ana fails every second row, Ben fails those that the judge fails
		if index := int(item.At("index").(float64)); who == ana && index%2 == 1 || who == ben && index%3 == 2 {
			said = "fail"
		}
		label := fmt.Sprintf(`{"run": %q, "index": %v, "assertion": %q, "label": %q, "queue": "q", "lease": %q}`, run, item.At("index"), item.Text("assertion"), said, o.Text("lease"))
		if got := f.ask("POST", "/v1/labels", label, bearer(who)); got.status != 201 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if strata != "rriiiiiiiiii" {
		t.Errorf("strata %s", strata)
	}
	q := f.ask("GET", "/v1/label-queues/q", "", bearer(ana)).object(t)
	a := q.Object("agreement")
	between := a.Object("between_people")
	if q.At("done") != 12.0 || a.Object("with_judge").At("n") != 24.0 || a.Object("with_judge").At("agree") != 18.0 || between.At("n") != 12.0 || between.At("agree") != 6.0 ||
		between.At("kappa") != 0.0 || between.At("low") == nil || !strings.Contains(value.Stringify(between.At("pairs")), fmt.Sprintf(`"people":["%s","%s"]`, min(anaKey.ID, benKey.ID), max(anaKey.ID, benKey.ID))) {
		t.Error(value.Stringify(q))
	}
	if list := f.ask("GET", "/v1/label-queues", "", bearer(ana)).body; strings.Contains(list, "agreement") || !strings.Contains(list, `"name":"q"`) {
		t.Errorf("%s", list)
	}
	own := f.ask("GET", "/v1/labels?by=me&queue=q&limit=1", "", bearer(ana)).object(t)
	last := own.At("items").([]any)[0].(*value.Object)
	id := last.Text("id")
	if got := f.ask("DELETE", "/v1/labels/"+id, "", bearer(ana)); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	back := f.ask("POST", "/v1/label-queues/q/lease", "", bearer(ana)).object(t)
	if back.At("left") != 1.0 || back.At("mine") != 11.0 || back.Object("item").Text("assertion") != last.Text("assertion") {
		t.Error("after an undo:", value.Stringify(back))
	}
	if got := f.ask("DELETE", "/v1/label-queues/q/lease/"+back.Text("lease"), "", bearer(ben)); got.status != 404 {
		t.Errorf("the lease of somebody else: %d", got.status)
	}
	if got := f.ask("DELETE", "/v1/label-queues/q/lease/"+back.Text("lease"), "", bearer(ana)); got.status != 204 {
		t.Errorf("given back: %d %s", got.status, got.body)
	}
}

// TestWrongLabelQueues: an invalid queue gets one clear response.
func TestWrongLabelQueues(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Runner: p.with(suites(t, nil))})
	reader, _ := f.key(store.NewKey{Name: "reader", Scopes: []store.Scope{store.Labelling, store.Read}})
	ana, _ := f.key(store.NewKey{Name: "Ana", Scopes: []store.Scope{store.Labelling}})
	maker, _ := f.key(store.NewKey{Name: "maker", Scopes: []store.Scope{store.Evaluate}})
	run, open := f.labelRun(3, "key_other"), f.run(slowSuite(1, 1), bearer(maker))
	for _, tt := range []struct {
		secret, name, body string
		status             int
		want               string
	}{
		{reader, "q", `{"run": "RUN", "assertions": ["cits"]}`, 422, `no row of the run has a verdict on the assertion \"cits\"`},
		{reader, "q", `{"run": "RUN", "size": -1}`, 422, "size has to be"}, {reader, "q", `{"run": "RUN", "random": 1.5}`, 422, "random has to be"},
		{reader, "q", `{"run": "RUN", "people": 101}`, 422, "people has to be"}, {reader, "q", `{"run": "run_none"}`, 404, "run_none"}, {reader, "q", `{}`, 422, "send exactly one of run, events and filter"},
		{reader, ".q", `{"run": "RUN"}`, 422, "a name has"}, {reader, "q", `{"run": "OPEN"}`, 409, "is not finished"}, {ana, "q", `{"run": "RUN"}`, 404, "there is no run"},
		{reader, "q", `{"run": "RUN", "assertions": ["", "contains days"], "random": 0.5, "blind": false}`, 201, `"items":6`},
		{ana, "q", `{"run": "RUN"}`, 403, "another key made this queue"}, {reader, "q", `{"run": "RUN", "size": 2}`, 200, `"items":2`},
	} {
		body := strings.NewReplacer("RUN", run, "OPEN", open).Replace(tt.body)
		if got := f.ask("PUT", "/v1/label-queues/"+tt.name, body, bearer(tt.secret)); got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %d %s", tt.body, got.status, got.body)
		}
	}
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/label-queues/q/lease", `{"seconds": 0}`, 422, "from 1 to 86400"}, {"POST", "/v1/label-queues/q/lease", `{"second": 1}`, 422, "did you mean"},
		{"POST", "/v1/label-queues/none/lease", "", 404, "none"}, {"POST", "/v1/label-queues/q/lease", `{"lease": "lease_x"}`, 404, "has ended"},
		{"DELETE", "/v1/label-queues/q", "", 403, "another key"}, {"GET", "/v1/label-queues/none", "", 404, "none"}, {"DELETE", "/v1/label-queues/q/lease/x", "", 404, "lease"},
	} {
		if got := f.ask(tt.method, tt.path, tt.body, bearer(ana)); got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, got.status, got.body)
		}
	}
	p.let <- struct{}{} // or the server waits for the row in progress before it stops
}

// TestForeignLabelQueues: a key that sees only its own data sees only its own queues.
func TestForeignLabelQueues(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	admin, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	maker, key := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	for name, made := range map[string]string{"theirs": f.labelRun(3, "key_other"), "own": f.labelRun(3, key.ID)} {
		secret := admin
		if name == "own" {
			secret = maker
		}
		if got := f.ask("PUT", "/v1/label-queues/"+name, fmt.Sprintf(`{"run": %q}`, made), bearer(secret)); got.status != 201 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for _, scope := range []store.Scope{store.Evaluate, store.Edit, store.Read, store.Labelling} {
		secret, _ := f.key(store.NewKey{Scopes: []store.Scope{scope}})
		sees := scope == store.Read || scope == store.Labelling
		if got := f.ask("GET", "/v1/label-queues", "", bearer(secret)); got.status != 200 || strings.Contains(got.body, "theirs") != sees {
			t.Errorf("%s: %d %s", scope, got.status, got.body)
		}
		if got := f.ask("GET", "/v1/label-queues/theirs", "", bearer(secret)); (got.status == 200) != sees || strings.Contains(got.body, "agreement") != sees {
			t.Errorf("%s: %d %s", scope, got.status, got.body)
		}
	}
	if got := f.ask("GET", "/v1/label-queues", "", bearer(maker)); strings.Contains(got.body, "theirs") || !strings.Contains(got.body, `"own"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := f.ask("GET", "/v1/label-queues/own", "", bearer(maker)); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
