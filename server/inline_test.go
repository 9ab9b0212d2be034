package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// inSuite returns a suite with a further member, and files.
func inSuite(member, files string) string {
	return `{"name": "s", "suite": {"prompts": ["p"], "tests": [{}], ` + member + `}` + files + `}`
}

// TestInlineSecrets: a suite that contains a secret is rejected and not stored.
// The response gives the position of the secret without repeating it.
func TestInlineSecrets(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, http.DefaultClient)})
	const secret = "hunter2-hunter2"
	yaml := value.Stringify("prompts: [p]\nproviders:\n  - id: openai:gpt-5\n    config:\n      apiKey: " + secret + "\ntests: [{}]\n")
	for name, tt := range map[string]struct {
		path, body, pointer string
		line                int
	}{
		"provider":         {"/v1/suites", inSuite(`"providers": [{"id": "echo", "config": {"apiKey": "`+secret+`"}}]`, ""), "/suite/providers/0/config/apiKey", 0},
		"provider by name": {"/v1/suites", inSuite(`"targets": [{"openai:gpt-5": {"config": {"password": "`+secret+`"}}}]`, ""), "/suite/targets/0/openai:gpt-5/config/password", 0},
		"header":           {"/v1/suites", inSuite(`"providers": [{"id": "echo", "config": {"headers": {"Authorization": "Bearer `+secret+`"}}}]`, ""), "/suite/providers/0/config/headers/Authorization", 0},
		"address":          {"/v1/suites", inSuite(`"providers": ["webhook:https://me:`+secret+`@example.com"]`, ""), "/suite/providers/0", 0},
		"environment":      {"/v1/suites", inSuite(`"providers": ["echo"], "env": {"OPENAI_API_KEY": "`+secret+`"}`, ""), "/suite/env/OPENAI_API_KEY", 0},
		"grader": {"/v1/suites", `{"name": "s", "suite": {"prompts": ["p"], "providers": ["echo"], "tests": [{"options": {"provider": {"id": "openai:gpt-5", "config": {"apiKey": "` + secret + `"}}}}]}}`,
			"/suite/tests/0/options/provider/config/apiKey", 0},
		"webhook": {"/v1/suites", `{"name": "s", "suite": {"prompts": ["p"], "providers": ["echo"], "tests": [{"assert": [{"type": "webhook", "value": "https://example.com/?key=` + secret + `"}]}]}}`,
			"/suite/tests/0/assert/0/value", 0},
		"text":           {"/v1/suites", `{"name": "s", "suite": ` + yaml + `}`, "/suite", 5},
		"under its name": {"/v1/suites/s", `{"suite": ` + yaml + `}`, "/suite", 5},
		"file": {"/v1/suites", inSuite(`"providers": ["file://p/echo.yaml"]`, `, "files": {"p/echo.yaml": "id: echo\nconfig:\n  apiKey: `+secret+`\n"}`),
			"/files/p~1echo.yaml", 3},
		"cases in a file": {"/v1/suites", `{"name": "s", "suite": {"prompts": ["p"], "providers": ["echo"], "tests": "file://t.yaml"},
			"files": {"t.yaml": "- assert:\n  - type: contains\n    value: p\n    provider:\n      id: openai:gpt-5\n      config:\n        apiKey: ` + secret + `\n"}}`,
			"/files/t.yaml", 7},
		"set": {"/v1/assertion-sets/s", `{"assertions": [{"id": "a", "check": {"type": "webhook", "value": "https://me:` + secret + `@example.com"}}]}`,
			"/assertions/0/check/value", 0},
	} {
		t.Run(name, func(t *testing.T) {
			method := "POST"
			if !strings.HasSuffix(tt.path, "suites") {
				method = "PUT"
			}
			got := f.ask(method, tt.path, tt.body)
			p := got.problem(t)
			if got.status != 422 || strings.Count(got.body, "this is a secret") != 2 || p.Errors[0].Pointer != tt.pointer || p.Errors[0].Line != tt.line || p.Errors[0].Code != proviso.Refused {
				t.Errorf("%s, want a mistake at %s, line %d", got.body, tt.pointer, tt.line)
			}
			if !strings.Contains(p.Detail, "{{ env.NAME }}") || !strings.Contains(p.Detail, "--allow-env") || strings.Contains(got.body, secret) {
				t.Errorf("%s", got.body)
			}
		})
	}
	for _, path := range []string{"/v1/suites", "/v1/assertion-sets"} {
		if got := f.ask("GET", path, ""); got.body != `{"items":[]}`+"\n" {
			t.Errorf("kept: %s", got.body)
		}
	}
}

// TestManySecrets: secrets beyond those that a response lists are counted.
func TestManySecrets(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, http.DefaultClient)})
	providers := strings.TrimSuffix(strings.Repeat(`{"id": "echo", "config": {"apiKey": "hunter2-hunter2"}},`, 250), ",")
	var asserts []string
	for i := range 250 {
		asserts = append(asserts, fmt.Sprintf(`{"id": "a%d", "check": {"type": "webhook", "value": "https://me:hunter2@example.com"}}`, i))
	}
	for path, body := range map[string]string{
		"/v1/suites":           inSuite(`"providers": [`+providers+`]`, ""),
		"/v1/assertion-sets/s": `{"assertions": [` + strings.Join(asserts, ",") + `]}`,
	} {
		method := "POST"
		if strings.HasSuffix(path, "/s") {
			method = "PUT"
		}
		got := f.ask(method, path, body)
		if p := got.problem(t); got.status != 422 || len(p.Errors) != 100 || !strings.HasPrefix(p.Detail, "250 mistakes, of which 100 are listed") {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
	}
}

// TestNoSecrets: text that only looks like a secret is accepted.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	s := suites(t, http.DefaultClient)
	s.Engine.Engines.Env, s.Engine.Policy.Env = proviso.EnvMap{"TEAM_KEY": "x"}, []string{"TEAM_KEY"}
	f := start(t, server.Options{Open: true, Runner: s})
	for name, body := range map[string]string{
		"reference": inSuite(`"providers": [{"id": "echo", "config": {"apiKey": "{{ env.TEAM_KEY }}"}}]`, ""),
		"variables": `{"name": "s", "suite": {"prompts": ["p"], "providers": ["echo"], "tests": [{"vars": {"password": "hunter2", "headers": "x"},
			"assert": [{"type": "contains", "value": "https://me:pw@example.com"}]}]}}`,
		"schema": inSuite(`"providers": [{"id": "echo", "config": {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object",
			"properties": {"headers": {"type": "object"}, "password": {"type": "string"}}}}}]}}]`, ""),
		"tokens": inSuite(`"providers": [{"id": "echo", "config": {"max_tokens": 5, "headers": {"Accept": "text/plain"}}}]`, ""),
		"data":   inSuite(`"providers": ["echo"]`, `, "files": {"data.json": "{\"password\": \"hunter2\", \"user\": {\"token\": \"x\"}}"}`),
	} {
		if got := f.ask("POST", "/v1/suites", body); got.status != 200 && got.status != 201 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// TestAllowedSecret: a prompt may contain a variable that the operator allows,
// and the stored rows do not contain its value.
func TestAllowedSecret(t *testing.T) {
	t.Parallel()
	s := suites(t, http.DefaultClient)
	s.Engine.Engines.Env, s.Engine.Policy.Env = proviso.EnvMap{"TEAM_API_KEY": "hunter2-hunter2"}, []string{"TEAM_API_KEY"}
	f := start(t, server.Options{Open: true, Runner: s})
	id := f.run(`{"name": "s", "suite": {"prompts": ["my key is {{ env.TEAM_API_KEY }}"], "providers": ["echo"], "tests": [{"assert": [{"type": "contains", "value": "hunter2-"}]}]}}`)
	f.follow(id)
	got := f.ask("GET", "/v1/runs/"+id+"/results/0", "")
	if strings.Contains(got.body, "hunter2-hunter2") || !strings.Contains(got.body, "my key is "+proviso.Redaction) || at(got.object(t), "success") != true {
		t.Errorf("%s", got.body)
	}
}

// TestKeptSecrets: a suite that an earlier version stored with its secrets is not shown.
func TestKeptSecrets(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Runner: suites(t, http.DefaultClient)})
	key, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	_, _, err := f.store.In(store.DefaultProject).PutDocument(t.Context(), store.NewDocument{Kind: store.SuiteKind, Name: "s", MediaType: "application/json",
		Content: []byte(`{"suite": {"prompts": ["p"], "providers": [{"id": "echo", "config": {"apiKey": "hunter2-hunter2"}}]}, "files": {"a": "b"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	got := f.ask("GET", "/v1/suites/s", "", bearer(key))
	o := got.object(t)
	if got.status != 200 || strings.Contains(got.body, "hunter2") || o.Has("suite") || o.Has("files") || !strings.Contains(got.body, `"warnings":[{"pointer":"/suite/providers/0/config/apiKey"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestIncludes: a prompt in a client's suite cannot read files of the server, not even those
// sent with the suite.
func TestIncludes(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, http.DefaultClient)})
	got := f.ask("POST", "/v1/suites", `{"name": "s", "suite": {"prompts": ["{% include \"a.md\" %}"], "providers": ["echo"], "tests": [{}]}, "files": {"a.md": "A"}}`)
	if p := got.problem(t); got.status != 422 || len(p.Errors) != 1 || !strings.Contains(p.Errors[0].Message, "the prompts of an untrusted suite include no files") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
