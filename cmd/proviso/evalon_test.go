package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// onCommand runs a command in a folder, and returns its exit code and output.
func onCommand(t *testing.T, dir, model string, env []string, args ...string) (code int, out, errs string) {
	t.Helper()
	c := provisoCommand(t, dir, model, args...)
	c.Env = append(c.Env, env...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	_ = c.Run() // the exit code shows the result
	return c.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// keptRun returns the lines of the only run file below a folder. Rows are at their index.
func keptRun(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "run.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d runs are kept: %v", len(found), err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	index := func(line string) (n int) {
		_, _ = fmt.Sscanf(line, `{"index":%d`, &n)
		return n
	}
	slices.SortFunc(lines[1:len(lines)-1], func(a, b string) int { return index(a) - index(b) })
	return lines
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sameRun returns a line of a run file, or a report, without what differs between two runs: ids,
// times, durations, the URL of the run and the folder of the suite. Hashes are equal.
func sameRun(text string) string {
	for _, re := range []string{`"id":"[^"/]*`, `"started":"[^"]*"`, `"(latencyMs|elapsedMs|ended)":[0-9.e-]+`, `"on":"[^"]*",?`, `"folder":"[^"]*",?`, `in [0-9.]+ m?s|[0-9.]+ m?s\b`, `\S*run.jsonl`, `proviso show \S+`} {
		text = regexp.MustCompile(re).ReplaceAllString(text, "")
	}
	return text
}

// TestOn: a run on a server is kept like a local run, except for ids, times and durations.
func TestOn(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: r.Prompt} }})
	defer model.Close()
	dir := t.TempDir()
	var cases strings.Builder
	for i := range 60 {
		fmt.Fprintf(&cases, "{\"vars\": {\"n\": \"%d\", \"who\": \"Zoë <b>&</b>\"}}\n", i)
	}
	writeFiles(t, dir, map[string]string{
		"suite/proviso.yaml": "description: Greetings\nprompts: [file://prompts/hello.txt, \"Bye {{ who }} {{ n }}\"]\nproviders: [echo]\n" +
			"defaultTest:\n  assert: [{type: contains, value: \"7\", metric: seven}, {type: icontains, value: zoë}]\nderivedMetrics: [{name: twice, value: seven * 2}]\ntests: file://cases.jsonl\n",
		"suite/prompts/hello.txt": "Hello {{ who }} {{ n }}",
		"suite/cases.jsonl":       cases.String(),
		"suite/.env":              "SECRET=stays-here\n",
	})
	p := startServe(t, dir, model.URL)
	suite := filepath.Join(dir, "suite")
	args := func(runs string, more ...string) []string {
		return append([]string{"eval", "--run-dir", filepath.Join(dir, runs), "-o", filepath.Join(dir, runs+".xml"), "--fail-under", "10%"}, more...)
	}
	localCode, local, errs := onCommand(t, suite, model.URL, nil, args("here")...)
	remoteCode, remote, there := onCommand(t, suite, model.URL, nil, args("there", "--on", p.url)...)
	if localCode != 0 || remoteCode != 0 {
		t.Fatalf("exit codes %d and %d\n%s\n%s", localCode, remoteCode, errs, there)
	}
	if !strings.Contains(there, "running 120 rows at "+p.url+"/runs/run_") {
		t.Errorf("it says %s", there)
	}
	a, b := keptRun(t, filepath.Join(dir, "here")), keptRun(t, filepath.Join(dir, "there"))
	if len(a) != len(b) {
		t.Fatalf("%d and %d lines", len(a), len(b))
	}
	for i := range a {
		if x, y := sameRun(a[i]), sameRun(b[i]); x != y {
			t.Fatalf("line %d differs:\n%s\n%s", i+1, x, y)
		}
	}
	if x, y := sameRun(local), sameRun(remote); x != y {
		t.Errorf("the reports differ:\n%s\n%s", x, y)
	}
	if _, sent := p.ask("GET", "/v1/suites/Greetings", ""); strings.Contains(sent, "stays-here") || !strings.Contains(sent, "prompts/hello.txt") {
		t.Errorf("sent: %s", sent)
	}
	failed, _, _ := onCommand(t, suite, model.URL, nil, "eval", "--run-dir", filepath.Join(dir, "failing"), "--on", p.url)
	if failed != 1 {
		t.Errorf("exit code %d, want 1: rows fail", failed)
	}
	if code, shown, errs := onCommand(t, suite, model.URL, nil, "show", "last", "--run-dir", filepath.Join(dir, "there")); code != 0 || sameRun(shown) != sameRun(remote) {
		t.Errorf("show: %d %s%s", code, shown, errs)
	}
}

// TestOnRefused: what a server rejects is reported at its position, and nothing is kept.
func TestOnRefused(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	dir := t.TempDir()
	p := startServe(t, dir, model.URL)
	const echo = "prompts: [a]\nproviders: [echo]\n"
	for _, tt := range []struct {
		name, suite string
		env, args   []string
		code        int
		want        string
	}{
		{"code", "prompts: [a]\nproviders: [\"exec:cat\"]\ntests:\n  - assert: [{type: javascript, value: \"file://x.js\"}]\n", nil, nil, 2, "proviso.yaml:2"},
		{"no server", echo, nil, []string{"--on", "http://127.0.0.1:9"}, 3, "proviso: http://127.0.0.1:9/v1/suites: nothing listens there"},
		{"no address", echo, nil, []string{"--on", "server"}, 2, `"server" is not the URL of a server`},
		{"a wrong key", echo, []string{keyVariable + "=pvk_wrong"}, nil, 2, keyVariable + " holds the key"},
		{"a filter", echo, nil, []string{"--filter-pattern", "x"}, 2, "does not obey --filter-pattern"},
		{"a project without a server", echo, nil, []string{"--on", "", "--project", "x"}, 2, "--project needs --on"},
		{"a host", "prompts: [a]\nproviders: [{id: \"https://10.1.2.3/x\", config: {method: POST, body: {a: \"{{prompt}}\"}}}]\n", nil, []string{"--allow-host", "10.1.2.3"}, 2, "proviso.yaml:2"},
		{"a model without a key", "prompts: [a]\nproviders: [\"anthropic:messages:claude-x\"]\n", nil, nil, 2, "proviso.yaml:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			suite := t.TempDir()
			writeFiles(t, suite, map[string]string{"proviso.yaml": tt.suite})
			code, out, errs := onCommand(t, suite, model.URL, tt.env, append([]string{"eval", "--run-dir", filepath.Join(suite, "runs"), "--on", p.url}, tt.args...)...)
			if code != tt.code || !strings.Contains(errs, tt.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, tt.code, tt.want, out, errs)
			}
			if kept, _ := filepath.Glob(filepath.Join(suite, "runs", "*")); len(kept) > 0 {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

// TestOnAnotherVersion: if a server makes other rows of the same suite, it has another version. The
// command keeps nothing, and cancels the run that it started.
func TestOnAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, refusal string // refusal of the cancellation
		want          string
	}{
		{"cancelled", "", "has 3 rows, and the local suite has 1: it has changed, or the server has another version of proviso; it was cancelled"},
		{"not cancelled", `{"detail": "only its own key can cancel"}`, "another version of proviso; it continues, because it could not be cancelled: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var cancelled atomic.Int32
			mux := http.NewServeMux()
			answer := func(pattern string, status int, body string) {
				mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
					if strings.HasSuffix(pattern, "/cancel") {
						cancelled.Add(1)
					}
					w.WriteHeader(status)
					fmt.Fprint(w, body)
				})
			}
			answer("POST /v1/suites", 201, `{"name": "s", "version": "v", "of_the_future": []}`)
			answer("POST /v1/suites/s/runs", 202, `{"id": "run_1"}`)
			answer("GET /v1/runs/run_1", 200, `{"id": "run_1", "status": "dreaming", "progress": {"rows": 3}}`)
			if tt.refusal == "" {
				answer("POST /v1/runs/run_1/cancel", 200, `{"id": "run_1"}`)
			} else {
				answer("POST /v1/runs/run_1/cancel", 403, tt.refusal)
			}
			other := httptest.NewServer(mux)
			defer other.Close()
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"proviso.yaml": "prompts: [a]\nproviders: [echo]\n"})
			code, out, errs := onCommand(t, dir, "", nil, "eval", "--run-dir", filepath.Join(dir, "runs"), "--on", other.URL)
			if code != 2 || !strings.Contains(errs, tt.want) || cancelled.Load() != 1 {
				t.Errorf("exit code %d, %d times cancelled:\n%s%s", code, cancelled.Load(), out, errs)
			}
			if kept, _ := filepath.Glob(filepath.Join(dir, "runs", "*")); len(kept) > 0 {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

// TestOnInterrupted: an interrupted command prints how to resume, and resuming fetches the rest of
// the same run.
func TestOnInterrupted(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{}, 1000)
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		<-gate
		return fakemodel.Reply{Text: r.Prompt}
	}})
	defer model.Close()
	dir := t.TempDir()
	var tests strings.Builder
	for i := range 20 {
		fmt.Fprintf(&tests, "  - vars: {n: %d}\n", i)
	}
	writeFiles(t, dir, map[string]string{"suite/proviso.yaml": "prompts: [\"row {{ n }}\"]\nproviders: [\"openai:chat:fake\"]\ndefaultTest: {assert: [{type: contains, value: row}]}\ntests:\n" + tests.String()})
	suite := filepath.Join(dir, "suite")
	p := startServe(t, dir, model.URL, "--allow-host", "127.0.0.1")
	c := provisoCommand(t, suite, model.URL, "eval", "--run-dir", filepath.Join(dir, "runs"), "--on", p.url)
	var errs bytes.Buffer
	c.Stdout, c.Stderr = &errs, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		gate <- struct{}{}
	}
	found := func() []string {
		list, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "run.jsonl"))
		return list
	}
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if list := found(); len(list) == 1 {
			if data, _ := os.ReadFile(list[0]); bytes.Count(data, []byte("\n")) >= 6 {
				break
			}
		}
		if time.Now().After(limit) {
			t.Fatal("no rows arrive")
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 || !strings.Contains(errs.String(), "the run continues at "+p.url) || strings.Count(errs.String(), "--resume=") != 1 {
		t.Errorf("exit code %d: %s", code, &errs)
	}
	close(gate)
	code, out, more := onCommand(t, suite, model.URL, nil, "eval", "--run-dir", filepath.Join(dir, "runs"), "--resume")
	if code != 0 || !strings.Contains(out, "20 passed") || len(found()) != 1 {
		t.Errorf("resumed: %d %s%s", code, out, more)
	}
	if _, list := p.ask("GET", "/v1/runs", ""); strings.Count(list, `"id":"run_`) != 1 {
		t.Errorf("runs of the server: %s", list)
	}
}

// TestOnUnready: the command waits for a server that answers 503, from the first request on, and
// prints one line. The run is started once, even if the answer to its start is lost.
func TestOnUnready(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: r.Prompt} }})
	defer model.Close()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"suite/proviso.yaml": "prompts: [row]\nproviders: [\"openai:chat:fake\"]\ntests: [{assert: [{type: contains, value: row}]}]\n"})
	p := startServe(t, dir, model.URL, "--allow-host", "127.0.0.1")
	target, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	through := httputil.NewSingleHostReverseProxy(target)
	var asked, starts atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isStart := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/runs")
		switch {
		case asked.Add(1) == 1:
			w.Header().Set("Retry-After", "5")
			http.Error(w, `{"detail": "the database cannot be reached"}`, http.StatusServiceUnavailable)
		case isStart && starts.Add(1) == 1:
			through.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			through.ServeHTTP(w, r)
		}
	}))
	defer front.Close()
	code, out, errs := onCommand(t, filepath.Join(dir, "suite"), model.URL, nil, "eval", "--run-dir", filepath.Join(dir, "runs"), "--on", front.URL)
	if code != 0 || !strings.Contains(out, "1 passed") || strings.Count(errs, "the database cannot be reached") != 1 || !strings.Contains(errs, "trying again for 2 minutes") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if _, list := p.ask("GET", "/v1/runs", ""); strings.Count(list, `"id":"run_`) != 1 || starts.Load() != 2 {
		t.Errorf("%d starts: %s", starts.Load(), list)
	}
	front.Close()
	if code, _, errs := onCommand(t, filepath.Join(dir, "suite"), model.URL, nil, "eval", "--on", front.URL); code != exitUndecided || strings.Contains(errs, "trying again") {
		t.Errorf("nobody there: %d %s", code, errs)
	}
}

// TestEvalOnLargeFile: a file that is too large to send is refused before it is read.
func TestEvalOnLargeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own, large := filepath.Join(dir, "proviso.yaml"), filepath.Join(dir, "cases.jsonl")
	for _, name := range []string{own, large} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(large, maxInput+1); err != nil { // the file has no blocks on the disk
		t.Fatal(err)
	}
	r := &remote{a: &app{}, files: &seenFiles{}}
	r.files.add(large)
	_, err := r.bundle(&loaded{Suite: &proviso.Suite{Dir: dir, File: own}})
	if proviso.CodeOf(err) != proviso.Limit {
		t.Error(err)
	}
}
