package attacks_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// theirs is a text that occurs in everything that the other project has.
const theirs = "zebra7431"

// theirThings creates one thing of each kind in a project, and returns their names by
// path parameter.
func theirThings(t *testing.T, x *shared, key string) map[string]string {
	t.Helper()
	made := func(method, path, body string, headers ...string) string {
		t.Helper()
		status, answer, _ := x.ask(key, method, path, strings.ReplaceAll(body, "THEIRS", theirs), headers...)
		var thing struct {
			ID   string `json:"id"`
			Next struct{ Lease string }
		}
		if status/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		_ = json.Unmarshal([]byte(answer), &thing) // not every answer has an id
		return thing.ID
	}
	made("POST", "/v1/suites", `{"name": "THEIRS", "suite": {"prompts": ["THEIRS"], "providers": ["echo"], "tests": [{"vars": {"a": "THEIRS"}}], "defaultTest": {"assert": [{"type": "contains", "value": "THEIRS"}]}}}`)
	run := made("POST", "/v1/suites/"+theirs+"/runs", "")
	made("POST", "/v1/assertion-sets", `{"name": "THEIRS", "assertions": [{"id": "THEIRS", "check": {"type": "contains", "value": "THEIRS"}}]}`)
	made("PUT", "/v1/datasets/"+theirs, `{"cases": [{"vars": {"a": "THEIRS"}}]}`)
	evaluation := made("POST", "/v1/evaluations", `{"agent_input": "THEIRS", "agent_output": "THEIRS", "assertions": [{"id": "THEIRS", "check": {"type": "contains", "value": "THEIRS"}}]}`)
	made("POST", "/v1/events", `{"events": [{"id": "THEIRS", "agent": "THEIRS", "conversation": "THEIRS", "prompt": "THEIRS", "input": "THEIRS", "output": "THEIRS", "user": "THEIRS"}]}`)
	made("POST", "/v1/feedback", `{"event": "THEIRS", "user": "THEIRS", "value": 1, "comment": "THEIRS"}`)
	made("PUT", "/v1/watches/"+theirs, `{"match": {"agent": "THEIRS"}, "assertions": "set:THEIRS"}`)
	label := made("POST", "/v1/labels", `{"event": "THEIRS", "assertion": "THEIRS", "label": "pass", "note": "THEIRS"}`)
	made("PUT", "/v1/label-queues/"+theirs, `{"events": ["THEIRS"]}`)
	for _, path := range []string{"/v1/runs/" + run, "/v1/evaluations/" + evaluation} {
		for limit := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if _, answer, _ := x.ask(key, "GET", path, ""); strings.Contains(answer, `"status":"done"`) || strings.Contains(answer, `"status":"pass"`) {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("%s does not end", path)
			}
		}
	}
	return map[string]string{"suite": theirs, "set": theirs, "dataset": theirs, "watch": theirs, "queue": theirs, "agent": theirs, "conversation": theirs, "event": theirs,
		"run": run, "evaluation": evaluation, "label": label, "index": "0", "alarm": theirs, "trial": theirs, "lease": theirs}
}

// TestEveryRoute: on each route of the API, a key of another project with every scope but
// admin gets the same status for the names of the project's things as for names that do
// not exist. It gets none of their text, and changes nothing.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	x := share(t)
	scopes := []store.Scope{store.Read, store.Evaluate, store.Ingest, store.Labelling, store.Edit}
	them, us := x.member("them", scopes...), x.member("us", scopes...)
	names := theirThings(t, x, them)
	_, document, _ := x.ask(us, "GET", "/openapi.json", "")
	var api struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(document), &api); err != nil {
		t.Fatal(err)
	}
	before := x.all(them, api.Paths, names)
	tried := 0
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[path])) {
			method = strings.ToUpper(method)
			if path == "/v1/session" || path == "/openapi.json" || path == "/docs" {
				continue // the route is about the key itself, or the same for everybody
			}
			body := ""
			if method == http.MethodPost || method == http.MethodPut {
				body = `{}`
			}
			status, answer, _ := x.ask(us, method, filled(path, names)+"?limit=50", body)
			nobody := maps.Clone(names)
			for k := range nobody {
				if k != "index" {
					nobody[k] = "xylophone55"
				}
			}
			same, _, _ := x.ask(us, method, filled(path, nobody)+"?limit=50", body)
			if status != same {
				t.Errorf("%s %s: %d with their names, %d with those of nobody", method, path, status, same)
			}
			if method == http.MethodGet && status == http.StatusOK && strings.Contains(answer, theirs) {
				t.Errorf("%s %s shows what is theirs: %.300s", method, path, answer)
			}
			tried++
		}
	}
	if tried < 80 {
		t.Errorf("%d routes were tried", tried)
	}
	for path, answer := range x.all(them, api.Paths, names) {
		if answer != before[path] {
			t.Errorf("%s was\n%.300s\nand is\n%.300s", path, before[path], answer)
		}
	}
}

// all reads every GET route whose answer does not depend on the time.
func (x *shared) all(key string, paths map[string]map[string]json.RawMessage, names map[string]string) map[string]string {
	answers := map[string]string{}
	for path, methods := range paths {
		if methods["get"] == nil || !strings.HasPrefix(path, "/v1/") || strings.HasSuffix(path, "/events") && strings.Contains(path, "{") || path == "/v1/adoption" ||
			strings.Contains(path, "/watches") || strings.Contains(path, "/series") || strings.Contains(path, "/judges") {
			continue
		}
		if status, answer, _ := x.ask(key, http.MethodGet, filled(path, names), ""); status == http.StatusOK {
			answers[path] = answer
		}
	}
	return answers
}

// filled returns a path with its parameters replaced.
func filled(path string, names map[string]string) string {
	for k, v := range names {
		path = strings.ReplaceAll(path, "{"+k+"}", v)
	}
	return path
}
