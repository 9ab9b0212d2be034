package attacks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// served is a running `proviso serve`.
type served struct {
	url    string
	output *lockedText
	signal func(os.Signal) error
	ended  chan error
}

// lockedText collects the output of a process.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var servingOn = regexp.MustCompile(`serving on (http://[^;]+);`)

// serveBinary starts the built binary as a server in dir and waits until it is ready.
func serveBinary(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	cmd := command(t, dir, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s := &served{output: &lockedText{}, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = s.output, s.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { s.ended <- cmd.Wait(); close(gone) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-gone })
	s.signal = cmd.Process.Signal
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if m := servingOn.FindStringSubmatch(s.output.String()); m != nil {
			s.url = m[1]
			return s
		}
	}
	t.Fatalf("it does not serve: %s", s.output)
	return nil
}

// hostileBodies returns requests that keep a server's readers busy: each is as large as a
// body may be, or makes the server compute for as long as it may.
func hostileBodies(t *testing.T) map[string]string {
	t.Helper()
	const size = 8<<20 - 64<<10
	fill := func(piece string, room int) string {
		var b strings.Builder
		for i := 0; b.Len() < room; i++ {
			b.WriteString(strings.ReplaceAll(piece, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	suite := func(text string, files map[string]string) string {
		data, err := json.Marshal(map[string]any{"name": "hostile", "suite": text, "files": files})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	patterns := ""
	for i := range 50 {
		patterns += fmt.Sprintf(`{"id":"p%d","check":{"type":"regex","value":"^(?=(a+)+$)(a+)+b{%d}$"}},`, i, i+1)
	}
	evaluation := func(output, assertions string) string {
		return `{"agent_input":"","agent_output":"` + output + `","assertions":[` + strings.TrimSuffix(assertions, ",") + `]}`
	}
	head := "prompts: [hi]\nproviders: [echo]\ntests:\n"
	return map[string]string{
		"/v1/evaluate 1": evaluation(strings.Repeat("a", 60)+"!", patterns),
		"/v1/evaluate 2": evaluation("", fill(`{"id":"a#","check":{"type":"regex","value":"a#"}},`, size)),
		"/v1/evaluate 3": `{` + fill(`"k#":1,`, size) + `"agent_input":""}`,
		"/v1/suites 1":   suite(head+fill("  - {vars: {a: #}, assert: [{type: equals, value: '#'}]}\n", size*8/10), nil),
		"/v1/suites 2":   suite(head+fill("  - {var: {a: #}}\n", size*8/10), nil),
		"/v1/suites 3":   suite(head+"  - vars: {"+fill("k#: 1, ", size*8/10)+"}\n", nil),
		"/v1/suites 4":   suite("prompts: [hi]\nproviders: [echo]\ntests: file://a.csv\n", map[string]string{"a.csv": strings.TrimSuffix(fill("c#,", 55_000), ",") + "\n" + fill("1,1\n", size/2)}),
		"/v1/traces 1":   `{"resourceSpans":[{"scopeSpans":[{"spans":[` + fill(`{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","attributes":[{"key":"#","value":{"stringValue":"x"}}]},`, size) + `{}]}]}]}`,
	}
}

// post sends a body and returns the status, or 0 if there was no answer.
func (s *served) post(ctx context.Context, path, body string) (status int, answer string) {
	return s.ask(ctx, http.MethodPost, path, body)
}

// ask sends a request and returns the status, or 0 if there was no answer.
func (s *served) ask(ctx context.Context, method, path, body string) (status int, answer string) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body) // may be incomplete because the server stopped
	return resp.StatusCode, string(data)
}

// TestStopUnderHostileBodies sends SIGTERM to a server whose readers are busy with
// hostile bodies, which executes compute-bound runs, and which waits for the rest of a
// body. The server stops at the end of its grace period, and reports that.
func TestStopUnderHostileBodies(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	const grace = time.Second
	s := serveBinary(t, t.TempDir(), "--stop-timeout", grace.String(), "--rate", "0")
	runs := "prompts: ['" + strings.Repeat("a", 60) + "!']\nproviders: [echo]\ntests:\n"
	for i := range 500 {
		runs += fmt.Sprintf("  - assert: [{type: regex, value: '^(?=(a+)+$)(a+)+b{%d}$'}]\n", i+1)
	}
	data, err := json.Marshal(map[string]any{"name": "runs", "suite": runs})
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := s.post(t.Context(), "/v1/suites", string(data)); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	for range 4 {
		if status, answer := s.post(t.Context(), "/v1/suites/runs/runs", ""); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, answer)
		}
	}
	slow, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")

	ctx, leave := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer leave()
	var asked, answered atomic.Int64
	for name, body := range hostileBodies(t) {
		path, _, _ := strings.Cut(name, " ")
		for range 3 {
			clients.Go(func() {
				for ctx.Err() == nil {
					asked.Add(1)
					if status, _ := s.post(ctx, path, body); status == 0 {
						return // the server stopped
					}
					answered.Add(1)
				}
			})
		}
	}
	time.Sleep(time.Second) // let all readers become busy
	busy := asked.Load() - answered.Load()
	started := time.Now()
	if err := s.signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		t.Logf("it ended after %v, with %d requests in progress: %v", time.Since(started), busy, err)
		var exit *exec.ExitError
		cut := strings.Contains(s.output.String(), "requests in progress were cut off after 1s")
		if busy == 0 || !cut || !errors.As(err, &exit) || exit.ExitCode() != 3 {
			t.Errorf("%d requests were in progress, and it ended with %v: %s", busy, err, tail(s.output.String()))
		}
	case <-time.After(10 * grace): // enough for a busy machine
		t.Errorf("SIGTERM did not stop it in %v: %s", 10*grace, tail(s.output.String()))
	}
}

// tail returns the end of a long text.
func tail(s string) string { return s[max(0, len(s)-1500):] }
