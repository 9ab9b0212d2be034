package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
)

// TestWorkers: a server without workers takes a suite, and two workers execute its run. The
// one that began is killed with rows under way; the other continues at its first missing
// row. Each row is there once, and no more is asked twice than was under way.
func TestWorkers(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.StartFor(t)
	url, err := postgres.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	database := url
	const rows, parallel = 60, 4
	var mu sync.Mutex
	asked := map[string]int{}
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		text := r.Prompt
		mu.Lock()
		asked[text]++
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		return fakemodel.Reply{Text: text}
	}})
	defer model.Close()
	dir := t.TempDir()
	p := startServe(t, dir, model.URL, "--store", database, "--workers", "0", "--allow-host", "127.0.0.1")
	worker := func() (*exec.Cmd, *bytes.Buffer) {
		c := provisoCommand(t, dir, model.URL, "worker", "--store", database, "--jobs", "1", "--lease", "1s", "--allow-host", "127.0.0.1", "--judge", "openai:chat:fake", "--no-cache")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		return c, &out
	}
	var tests []string
	for i := range rows {
		tests = append(tests, fmt.Sprintf(`{"vars": {"n": %d}}`, i))
	}
	suite := fmt.Sprintf(`{"name": "s", "suite": {"prompts": ["row {{n}}"], "providers": ["openai:chat:fake"], "evaluateOptions": {"maxConcurrency": %d},
		"defaultTest": {"assert": [{"type": "contains", "value": "row"}]}, "tests": [%s]}}`, parallel, strings.Join(tests, ", "))
	if status, body := p.ask("POST", "/v1/suites", suite); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	status, body := p.ask("POST", "/v1/suites/s/runs", "")
	var run struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		Progress struct {
			Passed int `json:"passed"`
		} `json:"progress"`
	}
	if err := json.Unmarshal([]byte(body), &run); err != nil || status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(asked)
	}
	first, out := worker()
	for limit := time.Now().Add(20 * time.Second); count() < rows/3; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("the worker does not begin: %s", out)
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, out = worker()
	for limit := time.Now().Add(30 * time.Second); run.Status != "done"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("the second worker does not continue: %s %s", body, out)
		}
		_, body = p.ask("GET", "/v1/runs/"+run.ID, "")
		if err := json.Unmarshal([]byte(body), &run); err != nil {
			t.Fatal(err)
		}
	}
	if run.Progress.Passed != rows {
		t.Errorf("the run: %s", body)
	}
	twice := 0
	for _, n := range asked {
		twice += n - 1
	}
	if twice > parallel {
		t.Errorf("%d rows were asked twice, %d were under way", twice, parallel)
	}
	t.Logf("%d of %d rows were asked twice", twice, rows)
}
