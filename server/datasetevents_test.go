package server_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// TestCasesOfTraffic: events become cases, by their ids or by a filter, once each.
func TestCasesOfTraffic(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{TrafficShare: 1, Runner: suites(t, nil)})
	secret, _ := f.key(store.NewKey{Name: "all", Scopes: []store.Scope{store.Read, store.Edit, store.Ingest}})
	editor, _ := f.key(store.NewKey{Name: "edit", Scopes: []store.Scope{store.Edit}})
	me := bearer(secret)
	f.dataset("faq", `{"id": "one", "vars": {"input": "x"}}`, me)
	if got := f.ask("POST", "/v1/events", `{"events": [
		{"id": "a", "agent": "support", "input": "How long?", "output": "30 days.", "context": "c", "segment": {"lang": "de"}, "version": "v1"},
		{"id": "b", "agent": "support", "input": "Where?", "output": "Here.", "segment": {"lang": "en"}},
		{"id": "c", "agent": "other", "input": "Who?", "error": "overloaded"}]}`, me); got.status != 202 {
		t.Fatal(got.body)
	}
	for _, c := range []struct {
		body, secret, want string
		status             int
	}{
		{`{"events": ["a"]}`, secret, `"added":["event-a"]`, 201},
		{`{"filter": "agent=support"}`, secret, `"added":["event-b"],"known":1`, 201},
		{`{"filter": "agent=support&segment=lang:de"}`, secret, `"known":1`, 200},
		{`{"events": ["none"]}`, secret, `there is no event`, 422},
		{`{"filter": "agnet=x"}`, secret, `unknown parameter`, 422},
		{`{"filter": "agent=nobody"}`, secret, `no events of this filter`, 404},
		{`{"filter": "since=yesterday"}`, secret, `the filter: since has to be a time`, 422},
		{`{"events": ["a"], "filter": "agent=x"}`, secret, `one of cases`, 422},
		{`{"events": ["a"]}`, editor, `scope read`, 403},
	} {
		if got := f.ask("POST", "/v1/datasets/faq/cases", c.body, bearer(c.secret)); got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
	}
	got := f.ask("GET", "/v1/datasets/faq/file", "", me)
	const want = `{"id":"event-a","vars":{"input":"How long?","context":"c","output":"30 days."},"metadata":{"event":"a","agent":"support","version":"v1","segment":{"lang":"de"}}}`
	if !strings.Contains(got.body, want) {
		t.Error(got.body)
	}
}
