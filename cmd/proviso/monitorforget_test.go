package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestMonitorForget sends events to a real server with redaction rules and a content key, and
// removes a user's events by the name that agents send.
func TestMonitorForget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	if err := os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte("- {field: user, hash_env: SALT}\n- {pattern: '\\d{16}'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "server.env"), []byte("SALT=pepper\nCONTENT_KEY="+strings.Repeat("k", 40)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := startServe(t, dir, model.URL, "--redact-events", "rules.yaml", "--env-file", "server.env", "--content-key-env", "CONTENT_KEY").url
	resp, err := http.Post(server+"/v1/events", "application/json", strings.NewReader(`{"events": [{"id": "a", "agent": "support", "user": "eve", "output": "card 4929123412341234"}, {"id": "b", "agent": "support", "user": "ben", "output": "x"}]}`))
	if err != nil || resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%v %v", resp, err)
	}
	resp.Body.Close()
	forget := func(code int, args ...string) string {
		t.Helper()
		cmd := provisoCommand(t, dir, model.URL, append([]string{"monitor", "forget"}, args...)...)
		var out bytes.Buffer
		cmd.Env = append(cmd.Env, "PROVISO_SERVER="+server)
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("%v: exit code %d, want %d: %s", args, got, code, out.String())
		}
		return out.String()
	}
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{2, nil, "the user is missing"},
		{0, []string{"--user", "eve"}, "removed 1 event and 0 thumbs, and the reasons of 0 verdicts\n"},
		{0, []string{"--user", "eve"}, "nothing was found of the user eve, so nothing was removed\n"},
	} {
		if got := forget(c.code, c.args...); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s", c.args, got)
		}
	}
	for id, want := range map[string]int{"a": http.StatusNotFound, "b": http.StatusOK} {
		resp, err := http.Get(server + "/v1/events/" + id)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d", id, resp.StatusCode)
		}
	}
}
