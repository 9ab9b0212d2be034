package attacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStoreOnFullDisk fills the disk of a server's database while a run is executing and
// clients store suites and evaluations. Each failed write is reported as such, the run
// waits, no confirmed write is lost, and the server continues once there is space.
func TestStoreOnFullDisk(t *testing.T) {
	t.Parallel() // mostly waiting
	full, dir := smallDisk(t, 32<<10), t.TempDir()
	s := serveBinary(t, dir, "--db", filepath.Join(full, "proviso.db"), "--rate", "0")
	suite := func(name, prompt string, rows int) string {
		tests := make([]any, rows)
		for i := range tests {
			tests[i] = map[string]any{"vars": map[string]any{"n": i}}
		}
		data, err := json.Marshal(map[string]any{"name": name, "suite": map[string]any{"prompts": []any{prompt}, "providers": []any{"echo"}, "tests": tests}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const rows = 3000
	if status, answer := s.post(t.Context(), "/v1/suites", suite("long", strings.Repeat("{{n}} ", 100), rows)); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	var run struct {
		ID       string
		Status   string
		Progress struct{ Finished, Passed int }
	}
	status, answer := s.post(t.Context(), "/v1/suites/long/runs", "")
	if err := json.Unmarshal([]byte(answer), &run); status != http.StatusAccepted || err != nil {
		t.Fatalf("%d %s", status, answer)
	}
	state := func() {
		if status, answer := s.get(t.Context(), "/v1/runs/"+run.ID); status != http.StatusOK || json.Unmarshal([]byte(answer), &run) != nil {
			t.Fatalf("%d %s", status, answer)
		}
	}
	for run.Progress.Finished < 100 && run.Status != "done" {
		state()
	}
	filler := filepath.Join(full, "filler")
	fillDisk(t, filler)

	// The database log has some free space that it reuses.
	kept := map[string]string{"long": ""}
	failed := 0
	for i := 0; failed < 5 && i < 20_000; i++ {
		name := fmt.Sprint("s", i)
		body := suite(name, strings.Repeat(name+" ", 200), 1)
		switch status, answer := s.post(t.Context(), "/v1/suites", body); {
		case status == http.StatusCreated:
			kept[name] = body
		case status != http.StatusInsufficientStorage || !strings.Contains(answer, `"code":"storage"`) || strings.Contains(answer, full):
			t.Fatalf("%d %s", status, answer)
		default:
			failed++
		}
	}
	const evaluation = `{"agent_input":"a","agent_output":"b","assertions":[{"id":"a","check":{"type":"contains","value":"b"}}]}`
	status = http.StatusOK // the log still has space
	for i := 0; status == http.StatusOK && i < 20_000; i++ {
		status, answer = s.post(t.Context(), "/v1/evaluate", evaluation)
	}
	if failed != 5 || status != http.StatusInsufficientStorage || strings.Contains(answer, full) {
		t.Errorf("an evaluation on a full disk: %d %s", status, answer)
	}
	fillDisk(t, filler+"2")
	if status, answer := s.get(t.Context(), "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(answer, "the disk of the database is full") {
		t.Errorf("a server that cannot store says that it is ready: %d %s", status, answer)
	}
	if status, answer := s.get(t.Context(), "/healthz"); status != http.StatusOK {
		t.Errorf("the process lives: %d %s", status, answer)
	}
	time.Sleep(8 * time.Second) // longer than some attempts
	state()
	t.Logf("%d of %d rows when the disk is full, the run is %s", run.Progress.Finished, rows, run.Status)
	if run.Status == "done" || run.Status == "failed" || run.Progress.Finished >= rows {
		t.Errorf("on a full disk the run is %s with %d rows", run.Status, run.Progress.Finished)
	}

	for _, name := range []string{filler, filler + "2"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if status, answer := s.get(t.Context(), "/readyz"); status != http.StatusOK {
		t.Errorf("with room: %d %s", status, answer)
	}
	if status, answer := s.post(t.Context(), "/v1/evaluate", evaluation); status != http.StatusOK {
		t.Errorf("with room: %d %s", status, answer)
	}
	for name := range kept {
		if status, answer := s.get(t.Context(), "/v1/suites/"+name); status != http.StatusOK {
			t.Errorf("a suite that was kept: %d %s", status, answer)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); run.Status != "done" && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		state()
	}
	if run.Status != "done" || run.Progress.Passed != rows {
		files, _ := exec.Command("ls", "-l", full).CombinedOutput()
		t.Errorf("with room the run is %+v: %s\n%s", run, files, tail(s.output.String()))
	}
}

// fillDisk writes a file until the disk is full.
func fillDisk(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for data := make([]byte, 1<<20); len(data) > 0; {
		if _, err := f.Write(data); errors.Is(err, syscall.ENOSPC) {
			data = data[:len(data)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// get requests a path.
func (s *served) get(ctx context.Context, path string) (status int, answer string) {
	return s.ask(ctx, http.MethodGet, path, "")
}
