package server_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// TestPushForeignNumbers: a pushed run with numbers or times that a response cannot hold is
// either refused, or every page can still show it and the other runs.
func TestPushForeignNumbers(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Edit, store.Read}})
	judged := strings.NewReplacer(`"cost":0.5`, `"cost":1e308,"latencyMs":1e308`, `"reason":"because"`, `"reason":"because","judge":"j","cost":1e308`)
	text := judged.Replace(runText(3))
	if got := f.push(strings.Replace(text, "2026-01-05T09:15:00Z", "9999-12-31T23:59:59-23:00", 1), bearer(secret)); got.status != 422 || !strings.Contains(got.body, "line 1: run file started in the year 10000, expected one from 1 to 9000") {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, x := range []string{text, strings.Replace(text, `"cost":1,"elapsedMs":5`, `"cost":1e308,"elapsedMs":1e300`, 1), strings.Replace(text, "2026-01-05T09:15:00Z", "0001-01-01T00:00:00Z", 1)} {
		got := f.push(x, bearer(secret))
		if got.status != 201 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		id := got.object(t).Text("id")
		for _, path := range []string{"/v1/runs/" + id, "/v1/runs/" + id + "/matrix", "/v1/runs/" + id + "/previews?index=0", "/v1/runs/" + id + "/results/0/detail", "/v1/runs/" + id + "/results"} {
			if got := f.ask("GET", path, "", bearer(secret)); got.status != 200 {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
	}
	for _, path := range []string{"/v1/runs", "/v1/judges", "/v1/prompts", "/v1/assertions"} {
		if got := f.ask("GET", path, "", bearer(secret)); got.status != 200 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
