package attacks_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// shared is a server used by two teams.
type shared struct {
	t   *testing.T
	db  *sqlite.DB
	url string
}

func share(t *testing.T) *shared {
	t.Helper()
	x := serve(t, server.Options{TrafficShare: 1})
	t.Cleanup(func() {
		if err := x.stop(); err != nil {
			t.Error(err)
		}
	})
	return &shared{t, x.db, x.url}
}

// member creates a key for a project and returns its secret.
func (x *shared) member(of store.Project, scopes ...store.Scope) string {
	x.t.Helper()
	_, secret, err := x.db.CreateKey(x.t.Context(), store.NewKey{Name: "team", Project: of, Scopes: scopes})
	if err != nil {
		x.t.Fatal(err)
	}
	return secret
}

// ask sends a request and returns the answer, and the code if the answer is a problem.
func (x *shared) ask(secret, method, path, body string, headers ...string) (status int, answer, code string) {
	x.t.Helper()
	req, err := http.NewRequestWithContext(x.t.Context(), method, x.url+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	var problem struct{ Code string }
	if resp.Header.Get("Content-Type") == "application/problem+json" {
		_ = json.Unmarshal(data, &problem) // a missing code fails the test
	}
	return resp.StatusCode, string(data), problem.Code
}

const (
	theirSuite = `{"name": "refunds", "suite": {"prompts": ["Their prompt"], "providers": ["echo"], "tests": [{}]}}`
	ourSuite   = `{"name": "refunds", "suite": {"prompts": ["Our prompt"], "providers": ["echo"], "tests": [{}]}}`
)

// TestOtherProject: a key with all scopes except admin, whose owner knows the names and
// ids of another team, gets the same responses as a stranger.
func TestOtherProject(t *testing.T) {
	t.Parallel()
	x := share(t)
	them, us := x.member("them", store.Read, store.Evaluate), x.member("us", store.Read, store.Evaluate)
	var run struct{ ID string }
	for _, step := range []string{"/v1/suites", "/v1/suites/refunds/runs"} {
		status, answer, _ := x.ask(them, "POST", step, map[bool]string{true: theirSuite}[step == "/v1/suites"], "Idempotency-Key", step)
		if status/100 != 2 || json.Unmarshal([]byte(answer), &run) != nil {
			t.Fatalf("%s: %d %s", step, status, answer)
		}
	}
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"read a suite", "GET", "/v1/suites/refunds", "", 404, "not_found"},
		{"run it, to read its prompts in the rows", "POST", "/v1/suites/refunds/runs", "", 404, "not_found"},
		{"read a run", "GET", "/v1/runs/" + run.ID, "", 404, "not_found"},
		{"read its rows", "GET", "/v1/runs/" + run.ID + "/results", "", 404, "not_found"},
		{"listen to it", "GET", "/v1/runs/" + run.ID + "/events", "", 404, "not_found"},
		{"stop it", "POST", "/v1/runs/" + run.ID + "/cancel", "", 404, "not_found"},
		{"say to be of their project", "GET", "/v1/suites/refunds?project=them", "", 403, "forbidden"},
		{"ask whether there is a project", "GET", "/v1/suites?project=nobody", "", 403, "forbidden"},
		{"take their place", "POST", "/v1/suites", ourSuite, 201, ""},
	} {
		status, answer, code := x.ask(us, tt.method, tt.path, tt.body, "Idempotency-Key", tt.path)
		if status != tt.status || code != tt.code || strings.Contains(answer, "Their prompt") {
			t.Errorf("%s: %d %s, want %d %s", tt.name, status, answer, tt.status, tt.code)
		}
	}
	if _, answer, _ := x.ask(them, "GET", "/v1/suites/refunds", ""); !strings.Contains(answer, "Their prompt") || !strings.Contains(answer, `"number":1`) {
		t.Errorf("their suite is %s", answer)
	}
	// Our request does not get the response to theirs, although key and body are equal.
	if _, answer, _ := x.ask(us, "POST", "/v1/suites", theirSuite, "Idempotency-Key", "again"); !strings.Contains(answer, `"number":2`) {
		t.Errorf("our second version is %s", answer)
	}
	if _, answer, _ := x.ask(us, "GET", "/metrics", ""); !strings.Contains(answer, `project="us"`) || strings.Contains(answer, `project="them"`) {
		t.Errorf("our metrics are\n%s", answer)
	}
	if status, answer, code := x.ask(x.member("us", store.Evaluate), "GET", "/metrics", ""); status != 403 || code != "forbidden" {
		t.Errorf("metrics for a key that evaluates: %d %s", status, answer)
	}
}

// TestKeyInSuite: a suite that contains a key is not stored, because others
// could read it.
func TestKeyInSuite(t *testing.T) {
	t.Parallel()
	x := share(t)
	owner, other := x.member("", store.Evaluate), x.member("", store.Evaluate)
	const suite = `{"suite": {"prompts": ["p"], "providers": [{"id": "openai:gpt-5", "config": {"apiKey": "sk-live-0123456789"}}], "tests": [{}]}}`
	status, answer, code := x.ask(owner, "PUT", "/v1/suites/x", suite)
	if status != 422 || code != "invalid" || !strings.Contains(answer, `"pointer":"/suite/providers/0/config/apiKey"`) || !strings.Contains(answer, "{{ env.NAME }}") {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer, _ := x.ask(other, "GET", "/v1/suites/x", ""); status != 404 || strings.Contains(answer, "sk-live") {
		t.Errorf("another key: %d %s", status, answer)
	}
}
