package server_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// TestQueueIsTold: /readyz and the metrics report how many runs wait and since when, even on a
// server that executes none. /readyz does not reveal whose runs they are.
func TestQueueIsTold(t *testing.T) {
	t.Parallel()
	db := openStore(t, filepath.Join(t.TempDir(), "proviso.db"))
	f := start(t, server.Options{Open: true, Store: db, Now: func() time.Time { return time.Now().Add(time.Hour) }})
	if got := f.ask("GET", "/readyz", ""); strings.TrimSpace(got.body) != `{"status":"ok","database":"ok","runs":{"queued":0,"waiting":0,"oldest_s":0,"running":0,"overdue":0,"still_s":0},"workers":{"count":0,"jobs":0,"unfit":0}}` {
		t.Errorf("without runs: %d %s", got.status, got.body)
	}
	for _, p := range []store.Project{store.DefaultProject, "secret-team", store.DefaultProject} {
		if _, err := db.In(p).CreateRun(t.Context(), store.NewRun{Suite: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	got := f.ask("GET", "/readyz", "")
	var ready server.Readiness
	if err := json.Unmarshal([]byte(got.body), &ready); err != nil {
		t.Fatal(err)
	}
	if r := ready.Runs; r.Queued != 3 || r.Age < 3600 || r.Age > 4000 || strings.Contains(got.body, "secret-team") {
		t.Errorf("three runs wait: %s", got.body)
	}
	text := f.ask("GET", "/metrics", "").body
	for _, want := range []string{`proviso_run_queue{project="default"} 2`, `proviso_run_queue_age_seconds{project="default"} 36`, `proviso_runs_running{project="default"} 0`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s:\n%s", want, text)
		}
	}
	runs, err := db.In(store.DefaultProject).ListRuns(t.Context(), store.RunFilter{}, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs.Items {
		if _, err := db.In(store.DefaultProject).CancelRun(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
	}
	if text := f.ask("GET", "/metrics", "").body; !strings.Contains(text, `proviso_run_queue{project="default"} 0`) {
		t.Error("a queue that became empty is not 0")
	}
}
