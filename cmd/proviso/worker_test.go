package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
)

// workshop is a server without workers of its own, separate workers, and a model that counts its
// questions.
type workshop struct {
	*serveProcess
	model    *fakemodel.Server
	database string

	mu      sync.Mutex
	asked   map[string]int
	limit   float64 // requests per second; 0 means no limit
	room    float64 // tokens in the bucket: requests that may be sent now
	last    time.Time
	refused int
}

// refuses reports whether a request exceeds the model's limit.
func (w *workshop) refuses() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit == 0 {
		return false
	}
	now := time.Now()
	w.room = min(w.limit/4, w.room+w.limit*now.Sub(w.last).Seconds()) // bursts of a quarter of a second
	w.last = now
	if w.room < 1 {
		w.refused++
		return true
	}
	w.room--
	return false
}

// newWorkshop starts a server whose model answers with its prompt after the latency, and judges
// like gradedReply.
func newWorkshop(t *testing.T, latency time.Duration) *workshop {
	t.Helper()
	postgres := postgrestest.StartFor(t)
	database, err := postgres.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{database: database, asked: map[string]int{}}
	w.model = fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		if w.refuses() {
			return fakemodel.RateLimited("")
		}
		w.mu.Lock()
		w.asked[r.Prompt]++
		w.mu.Unlock()
		time.Sleep(latency)
		if judgeFence().MatchString(r.Prompt) {
			return gradedReply(r)
		}
		return fakemodel.Reply{Text: r.Prompt}
	}})
	t.Cleanup(w.model.Close)
	w.serveProcess = startServe(t, t.TempDir(), w.model.URL, "--store", w.database, "--workers", "0", "--allow-host", "127.0.0.1")
	return w
}

// worker starts a worker.
func (w *workshop) worker(args ...string) (*exec.Cmd, *bytes.Buffer) {
	c, out := w.prepared(args...)
	w.begin(c)
	return c, out
}

// prepared returns a worker that is not started.
func (w *workshop) prepared(args ...string) (*exec.Cmd, *bytes.Buffer) {
	c := provisoCommand(w.t, w.dir, w.model.URL, append([]string{"worker", "--store", w.database, "--jobs", "1", "--lease", "1s", "--allow-host", "127.0.0.1",
		"--judge", "openai:chat:fake", "--no-cache"}, args...)...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	return c, &out
}

func (w *workshop) begin(c *exec.Cmd) {
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
}

// suite stores a suite with this many rows.
func (w *workshop) suite(name string, rows, parallel int) {
	w.t.Helper()
	var tests []string
	for i := range rows {
		tests = append(tests, fmt.Sprintf(`{"vars": {"n": %d}}`, i))
	}
	suite := fmt.Sprintf(`{"name": %q, "suite": {"prompts": ["%s row {{n}}"], "providers": ["openai:chat:fake"], "evaluateOptions": {"maxConcurrency": %d},
		"defaultTest": {"assert": [{"type": "contains", "value": "row"}]}, "tests": [%s]}}`, name, name, parallel, strings.Join(tests, ", "))
	if status, body := w.ask("POST", "/v1/suites", suite); status != http.StatusCreated {
		w.t.Fatalf("%d %s", status, body)
	}
}

// workshopRun is the server's description of a run.
type workshopRun struct {
	ID, Status, Error string
	Progress          struct{ Passed, Finished int }
}

// start starts a run of a suite.
func (w *workshop) start(suite string) (run workshopRun) {
	w.t.Helper()
	status, body := w.ask("POST", "/v1/suites/"+suite+"/runs", "")
	if err := json.Unmarshal([]byte(body), &run); err != nil || status != http.StatusAccepted {
		w.t.Fatalf("%d %s", status, body)
	}
	return run
}

// until waits until a run meets a condition, and returns it.
func (w *workshop) until(id, what string, is func(workshopRun) bool) (run workshopRun) {
	w.t.Helper()
	var body string
	for limit := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, body = w.ask("GET", "/v1/runs/"+id+"?results=no", "")
		if err := json.Unmarshal([]byte(body), &run); err != nil {
			w.t.Fatal(err)
		}
		if is(run) {
			return run
		}
		if time.Now().After(limit) {
			w.t.Fatalf("waited in vain until the run %s: %s", what, body)
		}
	}
}

func (w *workshop) done(id string) workshopRun {
	w.t.Helper()
	return w.until(id, "is done", func(r workshopRun) bool { return r.Status == "done" || r.Status == "failed" })
}

// askedTwice counts repeated questions.
func (w *workshop) askedTwice() (twice int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.asked {
		twice += n - 1
	}
	return twice
}

func (w *workshop) countAsked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

// TestWorkers: a server without workers accepts a suite, and two workers execute its run
// concurrently. One is killed with rows in flight, and the other takes over its rows. Each row is
// there once, and no more questions are repeated than were in flight.
func TestWorkers(t *testing.T) {
	t.Parallel()
	const rows, parallel = 120, 4
	w := newWorkshop(t, 20*time.Millisecond)
	w.suite("s", rows, parallel)
	first, out := w.worker()
	w.worker()
	run := w.start("s")
	for limit := time.Now().Add(20 * time.Second); w.countAsked() < rows/2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("the workers do not begin: %s", out)
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if run = w.done(run.ID); run.Progress.Passed != rows {
		t.Errorf("the run: %+v", run)
	}
	twice := w.askedTwice()
	if twice > parallel {
		t.Errorf("%d rows were asked twice, %d were in progress", twice, parallel)
	}
	t.Logf("%d of %d rows were asked twice", twice, rows)
}

// TestWorkersWithoutTheKey: a worker that lacks a provider's key leaves the run to a worker that
// has it. Until such a worker starts, the run waits, and its owner can read why. Workers with 3
// connections can do all this.
func TestWorkersWithoutTheKey(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, 0)
	writeFiles(t, w.dir, map[string]string{"suite/proviso.yaml": "prompts: [\"row {{n}}\"]\nproviders: [openai:chat:fake]\ntests: [{vars: {n: 1}, assert: [{type: contains, value: row}]}, {vars: {n: 2}}]\n"})
	poor, out := w.prepared("--connections", "3")
	poor.Env = append(poor.Env, "OPENAI_API_KEY=")
	w.begin(poor)
	c := provisoCommand(t, filepath.Join(w.dir, "suite"), w.model.URL, "eval", "--on", w.url, "--run-dir", filepath.Join(w.dir, "runs"))
	c.Env = append(c.Env, "OPENAI_API_KEY=")
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	var said strings.Builder
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "the run waits for a worker with OPENAI_API_KEY") {
			w.worker("--connections", "3")
		}
	}
	if err := c.Wait(); err != nil || strings.Contains(said.String(), "sk-of-the-test") {
		t.Errorf("%v\n%s\nthe worker without a key: %s", err, &said, out)
	}
	if strings.Contains(said.String(), "no API key") {
		t.Errorf("it warns of a key that it does not need: %s", &said)
	}
	if n := strings.Count(said.String(), "with OPENAI_API_KEY"); n != 1 {
		t.Errorf("it says %d times what the run waits for: %s", n, &said)
	}
	_, body := w.ask("GET", "/v1/runs", "")
	if !strings.Contains(body, `"status":"done"`) || w.askedTwice() != 0 || w.countAsked() != 2 {
		t.Errorf("%d rows were asked: %s", w.countAsked(), body)
	}
}

// TestManyWorkers measures the gain of more workers with a slow model.
func TestManyWorkers(t *testing.T) {
	if os.Getenv("PROVISO_NIGHTLY") == "" {
		t.Skip("it takes a minute; make nightly runs it")
	}
	const rows = 1280
	w := newWorkshop(t, 200*time.Millisecond)
	took := map[int]time.Duration{}
	started := 0
	for _, workers := range []int{1, 4} {
		for ; started < workers; started++ {
			w.worker()
		}
		time.Sleep(2 * time.Second) // until they look for runs
		name := fmt.Sprintf("of%d", workers)
		w.suite(name, rows, 8)
		begun := time.Now()
		if run := w.done(w.start(name).ID); run.Progress.Passed != rows {
			t.Errorf("the run: %+v", run)
		}
		took[workers] = time.Since(begun)
	}
	times := took[1].Seconds() / took[4].Seconds()
	t.Logf("%d rows: one worker %v, four %v: %.2f times as fast", rows, took[1], took[4], times)
	if times < 3.5 {
		t.Errorf("four workers are %.2f times as fast as one, want 3.5", times)
	}
}

// TestSharedLimit: a model with a rate limit refuses about as few requests of several workers as of
// one. TestSharedRates of package provider checks more, without a clock.
func TestSharedLimit(t *testing.T) {
	if os.Getenv("PROVISO_NIGHTLY") == "" {
		t.Skip("it takes minutes; make nightly runs it")
	}
	const rows, limit = 1000, 40
	refused := map[int]int{}
	for _, workers := range []int{1, 4, 8} {
		w := newWorkshop(t, 50*time.Millisecond)
		w.limit, w.last = limit, time.Now()
		for range workers {
			w.worker("--model-concurrency", "16")
		}
		time.Sleep(2 * time.Second) // until they look for runs
		w.suite("s", rows, 16)
		begun := time.Now()
		run := w.done(w.start("s").ID)
		took := time.Since(begun)
		if run.Progress.Passed != rows {
			t.Errorf("%d workers: %+v", workers, run)
		}
		w.mu.Lock()
		refused[workers] = w.refused
		w.mu.Unlock()
		t.Logf("%d workers: %d of %d requests refused, %.1f requests a second of %d", workers, refused[workers], rows+refused[workers], rows/took.Seconds(), limit)
	}
	for _, workers := range []int{4, 8} {
		if refused[workers] > refused[1]*3/2+rows/50 { // tolerance for a busy machine
			t.Errorf("%d workers were refused %d of %d times, one %d times", workers, refused[workers], rows, refused[1])
		}
	}
}
