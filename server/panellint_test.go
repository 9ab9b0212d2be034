package server_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
)

// TestPanelLints: a page with a panel token can check the wording of assertions. Pages without
// a token, or of another origin, cannot.
func TestPanelLints(t *testing.T) {
	t.Parallel()
	const origin = "https://app.example"
	f := start(t, server.Options{Open: true, PanelOrigins: []string{origin}})
	id := f.ask("POST", "/v1/evaluations", `{"agent_input": "q", "agent_output": "a", "assertions": [{"id": "a", "check": {"type": "contains", "value": "a"}}]}`).object(t).Text("id")
	token := f.ask("POST", "/v1/panel-tokens", `{"evaluation": "`+id+`", "origin": "`+origin+`"}`).object(t).Text("token")
	const body = `{"assertions": [{"id": "vague", "criteria": ["The tone is appropriate."]}]}`
	got := f.ask("POST", "/v1/lint", body, "Origin: "+origin, "Authorization: Bearer "+token)
	if got.status != 200 || !strings.Contains(got.body, `"/assertions/0/criteria/0"`) || got.header.Get("Access-Control-Allow-Origin") != origin {
		t.Errorf("with a token: %d, %q, %s", got.status, got.header, got.body)
	}
	for name, headers := range map[string][]string{
		"no token":       {"Origin: " + origin},
		"another origin": {"Origin: https://evil.example", "Authorization: Bearer " + token},
	} {
		if got := f.ask("POST", "/v1/lint", body, headers...); got.status != 401 && got.status != 403 {
			t.Errorf("%s: %d, %s", name, got.status, got.body)
		}
	}
}
