package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// serveProcess is `proviso serve` as a separate process.
type serveProcess struct {
	t      *testing.T
	cmd    *exec.Cmd
	dir    string
	url    string
	out    *bytes.Buffer // the log; read it only after the process has ended
	stderr *bytes.Buffer
	read   sync.WaitGroup
}

var servingAt = regexp.MustCompile(`serving on (https?://\S+);`)

// provisoCommand returns this test binary as the command proviso, confined to a folder.
func provisoCommand(t *testing.T, dir, model string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: exe, Args: append([]string{"proviso"}, args...), Dir: dir, Env: append(os.Environ(),
		"XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "TMPDIR="+dir, "NO_COLOR=1",
		"OPENAI_API_KEY=sk-of-the-test", "OPENAI_BASE_URL="+model+"/v1", "ANTHROPIC_API_KEY=", "PROVISO_JUDGE=")}
}

// startServe starts a server. Its tests send signals, which Windows does not have.
func startServe(t *testing.T, dir, model string, args ...string) *serveProcess {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	p := &serveProcess{t: t, dir: dir, out: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	p.cmd = provisoCommand(t, dir, model, append([]string{"serve", "--addr", "127.0.0.1:0", "--judge", "openai:chat:fake"}, args...)...)
	p.cmd.Stdout = p.out
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	found := make(chan string, 1)
	p.read.Go(func() {
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			p.stderr.WriteString(lines.Text() + "\n")
			if m := servingAt.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
		close(found)
	})
	var ok bool
	if p.url, ok = <-found; !ok {
		t.Fatalf("the server did not start: %v\n%s", p.cmd.Wait(), p.stderr)
	}
	for range 4000 {
		if status, _ := p.ask("GET", "/readyz", ""); status == http.StatusOK {
			return p
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the server did not become ready")
	return nil
}

func (p *serveProcess) ask(method, path, body string, headers ...string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatalf("%s %s: %v after %s", method, path, err, data)
	}
	return resp.StatusCode, string(data)
}

// end sends a signal and returns the exit code.
func (p *serveProcess) end(s os.Signal) int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	p.read.Wait()
	_ = p.cmd.Wait() // the exit code shows the result
	return p.cmd.ProcessState.ExitCode()
}

// judged is a model that answers the request below.
func judged(fakemodel.Request) fakemodel.Reply {
	return fakemodel.Reply{Text: `{"results":[{"id":"greets","criteria":[{"n":1,"reasoning":"It says <hello>.","evidence":["Hello"],"met":true}]}]}`}
}

const toJudge = `{"agent_input": "Hi", "agent_output": "Hello & welcome", "assertions": [{"id": "greets", "criteria": ["It greets"]},` +
	` {"id": "words", "check": {"type": "word-count", "value": 3}}]}`

// TestServe: the command and the server return the same bytes; a key created while the server runs
// makes keys mandatory; the server stops on a signal and logs JSON.
func TestServe(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Reply: judged})
	defer model.Close()
	dir := t.TempDir()
	p := startServe(t, dir, model.URL)
	status, got := p.ask("POST", "/v1/evaluate", toJudge)
	judge := provisoCommand(t, dir, model.URL, "judge", "--judge", "openai:chat:fake", "--no-cache", "-")
	judge.Stdin = strings.NewReader(toJudge)
	want, err := judge.Output()
	if status != http.StatusOK || err != nil {
		t.Fatalf("%d %s; %v %s", status, got, err, want)
	}
	if got != string(want) {
		t.Errorf("the server answers\n%s\nthe command\n%s", got, want)
	}
	second := provisoCommand(t, dir, model.URL, "serve", "--addr", "127.0.0.1:0")
	if text, _ := second.CombinedOutput(); second.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(text), "another process executes the runs of") ||
		strings.Contains(string(text), "serving on") {
		t.Errorf("a second server: %d %s", second.ProcessState.ExitCode(), text)
	}
	secret, err := provisoCommand(t, dir, model.URL, "key", "create", "ci").Output()
	if err != nil {
		t.Fatal(err)
	}
	key := "Authorization: Bearer " + strings.TrimSpace(string(secret))
	for range 4000 { // the absence of keys is cached for a moment
		if status, _ := p.ask("GET", "/v1/runs", ""); status == http.StatusUnauthorized {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	for _, tt := range []struct {
		name, path, body, header string
		status                   int
	}{
		{"without a key", "/v1/evaluate", toJudge, "X: y", 401},
		{"with one", "/v1/evaluate", toJudge, key, 200},
		{"another name", "/healthz", "", "Origin: http://evil.example", 403},
	} {
		method := "GET"
		if tt.body != "" {
			method = "POST"
		}
		if status, body := p.ask(method, tt.path, tt.body, tt.header); status != tt.status {
			t.Errorf("%s: %d, want %d: %s", tt.name, status, tt.status, body)
		}
	}
	if code := p.end(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
	if !strings.Contains(p.stderr.String(), "there are no keys, so everybody on this machine can use it") {
		t.Errorf("standard error: %s", p.stderr)
	}
	for line := range strings.Lines(p.out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON in the log: %s", line)
		}
	}
	if log := p.out.String(); !strings.Contains(log, `"route":"/v1/evaluate"`) || strings.Contains(log, "welcome") ||
		strings.Contains(log+p.stderr.String(), strings.TrimSpace(string(secret))) || strings.Contains(log, "sk-of-the-test") {
		t.Errorf("log: %s", log)
	}
}

// TestServeTraces: the server receives spans, and an evaluation uses them.
func TestServeTraces(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Reply: judged})
	defer model.Close()
	p := startServe(t, t.TempDir(), model.URL)
	const spans = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"00000000000000aa","name":"execute_tool mail",` +
		`"startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"gen_ai.tool.name","value":{"stringValue":"mail"}}]}]}]}]}`
	if status, body := p.ask("POST", "/v1/traces", spans); status != http.StatusOK || body != "{}" {
		t.Errorf("%d %s", status, body)
	}
	status, body := p.ask("POST", "/v1/evaluate", `{"agent_input": "Hi", "agent_output": "sent", "trace_id": "5B8EFFF798038103D269B633813FC60C", "assertions": [
		{"id": "mails", "check": {"type": "trajectory:tool-used", "value": "mail"}}, {"id": "refunds", "check": {"type": "trajectory:tool-used", "value": "refund"}}]}`)
	if status != http.StatusOK || !strings.HasPrefix(body, `{"score":0.5,"passed":1,"failed":1,"total":2,`) {
		t.Errorf("%d %s", status, body)
	}
	if code := p.end(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
}

// turnstile releases the answers of a model one by one.
type turnstile struct {
	asked chan string
	let   chan struct{}
}

func newTurnstile() *turnstile {
	return &turnstile{asked: make(chan string, 100), let: make(chan struct{}, 100)}
}

func (g *turnstile) reply(r fakemodel.Request) fakemodel.Reply {
	g.asked <- r.Prompt
	<-g.let
	return fakemodel.Reply{Text: r.Prompt}
}

// TestServeStop: accepted requests are answered before the server ends.
func TestServeStop(t *testing.T) {
	t.Parallel()
	g := newTurnstile()
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		g.reply(r)
		return judged(r)
	}})
	defer model.Close()
	p := startServe(t, t.TempDir(), model.URL)
	status, body := make(chan int, 1), make(chan string, 1)
	go func() {
		s, b := p.ask("POST", "/v1/evaluate", toJudge)
		status <- s
		body <- b
	}()
	<-g.asked
	ended := make(chan int, 1)
	go func() { ended <- p.end(syscall.SIGTERM) }()
	select {
	case code := <-ended:
		t.Errorf("ended with %d before it answered", code)
	case <-time.After(100 * time.Millisecond):
	}
	g.let <- struct{}{}
	if s, b := <-status, <-body; s != http.StatusOK || !strings.HasPrefix(b, `{"score":1,`) {
		t.Errorf("%d %s", s, b)
	}
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
}

// TestServeKilled: after kill -9 in the middle of a run, the next server continues the run, and
// repeats no finished request.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	g := newTurnstile()
	model := fakemodel.New(fakemodel.Options{Reply: g.reply})
	defer model.Close()
	dir := t.TempDir()
	p := startServe(t, dir, model.URL, "--allow-host", "127.0.0.1", "--no-cache")
	suite := `{"name": "s", "suite": {"prompts": ["row {{n}}"], "providers": ["openai:chat:fake"], "evaluateOptions": {"maxConcurrency": 1},
		"defaultTest": {"assert": [{"type": "contains", "value": "row"}]}, "tests": [{"vars": {"n": 0}}, {"vars": {"n": 1}}, {"vars": {"n": 2}}, {"vars": {"n": 3}}]}}`
	if status, body := p.ask("POST", "/v1/suites", suite); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	status, body := p.ask("POST", "/v1/suites/s/runs", "")
	var started struct{ ID string }
	if err := json.Unmarshal([]byte(body), &started); err != nil || status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	asked := map[string]int{}
	for range 2 {
		asked[<-g.asked]++
		g.let <- struct{}{}
	}
	asked[<-g.asked]++ // the third is in progress
	p.end(syscall.SIGKILL)
	for range 20 {
		g.let <- struct{}{}
	}
	p = startServe(t, dir, model.URL, "--allow-host", "127.0.0.1", "--no-cache")
	var run struct {
		Status  string
		Results *struct {
			Passed int `json:"passed_cases"`
		}
	}
	for range 1000 {
		_, body = p.ask("GET", "/v1/runs/"+started.ID, "")
		if err := json.Unmarshal([]byte(body), &run); err != nil {
			t.Fatal(err)
		}
		if run.Results != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "state", "proviso", "proviso.db.work")); err != nil || len(left) != 1 {
		t.Errorf("the killed server left files: %v %v", left, err)
	}
	if run.Status != "done" || run.Results == nil || run.Results.Passed != 4 {
		t.Errorf("%s", body)
	}
	if code := p.end(os.Interrupt); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
	close(g.asked)
	for prompt := range g.asked {
		asked[prompt]++
	}
	for prompt, n := range asked {
		if most := map[string]int{"row 2": 2}[prompt]; n > max(1, most) {
			t.Errorf("%q was asked %d times", prompt, n)
		}
	}
}
