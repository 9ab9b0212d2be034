package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// redactor returns redaction rules.
func redactor(t *testing.T) *ingest.Redactor {
	t.Helper()
	r, err := ingest.NewRedactor([]ingest.Rule{{Pattern: `\d{16}`}, {Field: "user", HashEnv: "SALT"}, {Field: "metadata.iban"}}, proviso.EnvMap{"SALT": "s"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEventsAreTaken: each event is checked separately, and nothing that the rules redact is
// stored.
func TestEventsAreTaken(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, TrafficShare: 1, Redactor: redactor(t)})
	soon, far := time.Now().Add(30*time.Minute).UTC().Format(time.RFC3339), time.Now().Add(2*time.Hour).UTC().Format(time.RFC3339)
	late := time.Now().Add(-26 * time.Hour).UTC().Format(time.RFC3339)
	body := `{"events": [
		{"id": "a", "agent": "support", "output": "card 4929123412341234", "user": "eve", "metadata": {"iban": "DE1", "n": 1}, "conversation": "c/1"},
		{"id": "b", "agent": "support", "output": "x", "time": "` + soon + `"},
		{"id": "c", "agent": "support", "output": "x", "time": "` + far + `"},
		{"id": "d", "agent": "support", "output": "x", "time": "` + late + `"},
		{"id": "a", "agent": "support", "output": "again"},
		{"id": "e", "agent": "support", "output": "` + strings.Repeat("x", ingest.MaxText+1) + `"},
		{"id": "f", "agent": "support", "output": "` + "\xff" + `"},
		{"id": "g", "agent": "support", "output": "\ud800"},
		{"id": "h"}, 7, {"id": "j", "agent": "support", "output": "good", "metadata": {"n": 1, "n": 2}},
		{"id": "i", "agent": "support", "error": "overloaded"}]}`
	got := f.ask("POST", "/v1/events", body)
	const want = `{"accepted":4,"duplicate":1,"rejected":[` +
		`{"index":2,"pointer":"/events/2/time","code":"invalid","message":"time is 2h0m0s ahead of the clock of the server; at most 1h0m0s are allowed"},` +
		`{"index":5,"pointer":"/events/5/output","code":"limit","message":"output has 2097153 bytes, and at most 2097152 are allowed"},` +
		`{"index":6,"pointer":"/events/6/output","code":"invalid","message":"output is not UTF-8"},` +
		`{"index":7,"pointer":"/events/7/output","code":"invalid","message":"output is not UTF-8"},` +
		`{"index":8,"pointer":"/events/8","code":"invalid","message":"agent is missing; output and error are missing; an event needs one of them"},` +
		`{"index":9,"pointer":"/events/9","code":"invalid","message":"an event has to be an object, not a number"},` +
		`{"index":10,"pointer":"/events/10","code":"invalid","message":"an object has the key \"n\" more than once"}]}`
	if got.status != http.StatusAccepted || strings.TrimSpace(strings.ReplaceAll(got.body, "1h59m59s", "2h0m0s")) != want {
		t.Errorf("%d %s", got.status, got.body)
	}
	list := f.ask("GET", "/v1/events", "")
	if strings.Contains(list.body, "4929") || strings.Contains(list.body, "eve") || !strings.Contains(list.body, "card [redacted]") {
		t.Error(list.body)
	}
	one := f.ask("GET", "/v1/events/a", "").object(t)
	if m := one.Object("metadata"); m.Text("iban") != "[redacted]" || m.At("n") != 1.0 || one.At("kept") != true {
		t.Error(one)
	}
	for query, want := range map[string]string{
		"": "b i a d", "?q=CARD": "a", "?user=eve": "a", "?failed=yes": "i", "?conversation=c/1": "a", "?since=" + late + "&until=" + late: "", "?limit=1": "b",
	} {
		var ids []string
		items, _ := f.ask("GET", "/v1/events"+query, "").object(t).At("items").([]any)
		for _, item := range items {
			ids = append(ids, textOf(item, "id"))
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := f.ask("GET", "/v1/conversations/c%2F1", "").object(t); got.Text("conversation") != "c/1" {
		t.Error(got)
	}
}

// TestMistakesOfTraffic: each mistake gets one response.
func TestMistakesOfTraffic(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	for _, c := range []struct {
		method, path, body, want string
		status                   int
	}{
		{"POST", "/v1/events", `{"events": {}}`, "events has to be a list of events", 422},
		{"POST", "/v1/events", `{"event": []}`, `unknown field \"event\"; did you mean \"events\"?`, 422},
		{"POST", "/v1/events", `{"events": [], "events": []}`, `an object has the key \"events\" more than once`, 422},
		{"POST", "/v1/events", `[]`, "the body has to be an object with events, not a list", 422},
		{"POST", "/v1/events", `{"events": [`, "", 400},
		{"POST", "/v1/events", `{"events": [` + strings.Repeat("1,", 1000) + `1]}`, "there are 1001 events, and at most 1000", 422},
		{"POST", "/v1/events", `{"events": []}`, `{"accepted":0,"duplicate":0,"rejected":[]}`, 202},
		{"POST", "/v1/events?x=1", `{"events": []}`, "unknown parameter", 422},
		{"POST", "/v1/events", `{"events": [{"id": "a", "agent": "x", "output": "` + strings.Repeat("y", 10<<20) + `"}]}`, "the body has more than", 413},
		{"POST", "/v1/feedback", `{"event": "e", "vlaue": 1}`, `did you mean \"value\"?`, 422},
		{"POST", "/v1/feedback", `{"event": "e", "value": 2}`, "value has to be 1 or -1, not 2", 422},
		{"POST", "/v1/feedback", `7`, "the body has to be an object", 422},
		{"GET", "/v1/events?segment=de", "", "segment has to be a name and a value such as lang:de", 422},
		{"GET", "/v1/events?feedback=sideways", "", `feedback has to be up or down, not \"sideways\"`, 422},
		{"GET", "/v1/events?watch=nope", "", `there is no watch \"nope\"`, 404},
		{"GET", "/v1/events?after=xyz", "", "the cursor does not come from this list", 422},
		{"GET", "/v1/events/none", "", "there is no event", 404},
		{"GET", "/v1/conversations/none", "", "there is no conversation", 404},
		{"POST", "/v1/events", `{"events": [{"id": "..", "agent": ".", "conversation": "..", "output": "x"}]}`, `id cannot be \"..\", which means another place in an address; agent cannot be`, 202},
		{"POST", "/v1/alarms/none/ack", `{"noet": "mine"}`, `did you mean \"note\"?`, 422},
		{"POST", "/v1/alarms/none/ack", `{"note": "mine\u001b"}`, "the note holds control characters", 422},
		{"POST", "/v1/alarms/none/ack", `{"note": "mine"}`, "there is no alarm", 404},
		{"POST", "/v1/forget", `{"user": ""}`, "the user has no name", 422},
	} {
		if got := f.ask(c.method, c.path, c.body); got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s %s %.60s: %d %.300s", c.method, c.path, c.body, got.status, got.body)
		}
	}
}

// TestScopesOfTraffic: an agent's key can send, and reads nothing.
func TestScopesOfTraffic(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{TrafficShare: 1})
	agent, _ := f.key(store.NewKey{Name: "agent", Scopes: []store.Scope{store.Ingest}})
	reader, _ := f.key(store.NewKey{Name: "reader", Scopes: []store.Scope{store.Read}})
	other, _ := f.key(store.NewKey{Name: "other", Project: "other", Scopes: []store.Scope{store.Read}})
	evaluator, _ := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	if got := f.ask("POST", "/v1/events", `{"events": [{"id": "a", "agent": "x", "output": "y"}]}`, bearer(agent)); got.status != 202 {
		t.Fatal(got.status, got.body)
	}
	for _, c := range []struct {
		method, path, body, secret string
		status                     int
	}{
		{"GET", "/v1/events", "", agent, 403}, {"GET", "/v1/events/a", "", agent, 403}, {"GET", "/v1/events/a", "", evaluator, 403},
		{"GET", "/v1/events/a", "", reader, 200}, {"GET", "/v1/events/a", "", other, 404},
		{"POST", "/v1/events", `{"events": []}`, reader, 403}, {"POST", "/v1/feedback", `{"event": "a", "value": 1}`, agent, 201}, {"POST", "/v1/feedback", `{"event": "a", "value": 1}`, reader, 403},
		{"POST", "/v1/forget", `{"user": "u"}`, reader, 403},
	} {
		if got := f.ask(c.method, c.path, c.body, bearer(c.secret)); got.status != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
	}
}

// TestForgottenOverHTTP: the name of a user is hashed as in the events.
func TestForgottenOverHTTP(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, TrafficShare: 1, Redactor: redactor(t)})
	f.ask("POST", "/v1/events", `{"events": [{"id": "a", "agent": "x", "output": "y", "user": "eve"}, {"id": "b", "agent": "x", "output": "y", "user": "ben"}]}`)
	f.ask("POST", "/v1/feedback", `{"event": "b", "user": "eve", "value": 1}`)
	if got := f.ask("POST", "/v1/forget", `{"user": "eve"}`); strings.TrimSpace(got.body) != `{"events":1,"feedback":1,"verdicts":0}` {
		t.Error(got.body)
	}
	if got := f.ask("GET", "/v1/events/a", ""); got.status != 404 {
		t.Error(got.status)
	}
	r, err := ingest.NewRedactor([]ingest.Rule{{Field: "user"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	removing := start(t, server.Options{Open: true, Redactor: r})
	if got := removing.ask("POST", "/v1/forget", `{"user": "eve"}`); got.status != 422 || !strings.Contains(got.body, "hash_env") {
		t.Error(got.status, got.body)
	}
}

// TestShareOfTraffic: the texts of a share of the conversations are kept, all or none of each,
// and the texts of every failure.
func TestShareOfTraffic(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, TrafficShare: 0.25})
	for batch := range 4 {
		var events []string
		for i := range 200 {
			n := 200*batch + i
			events = append(events, fmt.Sprintf(`{"id": "e%d", "agent": "x", "output": "y", "conversation": "c%d"}`, n, n/2))
		}
		events = append(events, fmt.Sprintf(`{"id": "f%d", "agent": "x", "error": "z"}`, batch))
		if got := f.ask("POST", "/v1/events", `{"events": [`+strings.Join(events, ",")+`]}`); got.status != 202 {
			t.Fatal(got.body)
		}
	}
	kept, _ := f.ask("GET", "/v1/events?kept=yes&failed=no&limit=1000", "").object(t).At("items").([]any)
	failures, _ := f.ask("GET", "/v1/events?kept=yes&failed=yes", "").object(t).At("items").([]any)
	of := map[string]int{}
	for _, e := range kept {
		of[textOf(e, "conversation")]++
	}
	for name, n := range of {
		if n != 2 {
			t.Errorf("%d events of the conversation %s are kept", n, name)
		}
	}
	if len(of) < 70 || len(of) > 130 || len(failures) != 4 {
		t.Errorf("%d of 400 conversations, and %d of 4 failures", len(of), len(failures))
	}
}

// TestOverload: events that are not stored are refused, with a time to retry.
func TestOverload(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, TrafficShare: 1})
	var wait sync.WaitGroup
	var mu sync.Mutex
	accepted := 0
	for g := range 64 {
		wait.Go(func() {
			for i := range 3 {
				var events []string
				for k := range 100 {
					events = append(events, fmt.Sprintf(`{"id": "%d-%d-%d", "agent": "x", "output": "y"}`, g, i, k))
				}
				got := f.ask("POST", "/v1/events", `{"events": [`+strings.Join(events, ",")+`]}`)
				switch {
				case got.status == 202:
					mu.Lock()
					accepted += 100
					mu.Unlock()
				case got.status != 503 || got.header.Get("Retry-After") == "":
					t.Errorf("%d %s", got.status, got.body)
				}
			}
		})
	}
	wait.Wait()
	counts, err := f.store.In(store.DefaultProject).ListAgents(t.Context(), store.Page{})
	if err != nil || counts.Items[0].Events != accepted {
		t.Errorf("%d accepted, %+v stored, %v", accepted, counts.Items, err)
	}
}

// textOf returns a text in a JSON object.
func textOf(v any, key string) string {
	o, _ := v.(*value.Object)
	return o.Text(key)
}
