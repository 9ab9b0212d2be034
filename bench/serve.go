package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// Enough evaluations to show whether memory grows.
const (
	serveTotal  = 100_000
	serveJudge  = 50 * time.Millisecond // latency of the judge
	serveAtOnce = 50                    // concurrent requests
)

// verdictText is the judge's answer to every question.
const verdictText = `{"results":[{"id":"greets","criteria":[{"n":1,"reasoning":"It says hello.","evidence":["Hello"],"met":true}]},` +
	`{"id":"short","criteria":[{"n":1,"reasoning":"It is one sentence.","evidence":[],"met":true},{"n":2,"reasoning":"It has no list.","evidence":[],"met":true}]}]}`

// serving measures POST /v1/evaluate on a server with a fake judge: its memory, and the
// processor time of an evaluation.
func serving(t tool, dir string) error {
	model := fakemodel.New(fakemodel.Options{Latency: serveJudge, Forget: true, Reply: func(fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Text: verdictText}
	}})
	defer model.Close()
	s, err := startServer(t, model.URL, dir)
	if err != nil {
		return err
	}
	s.memory()
	if err = s.stop(); err == nil {
		state := s.cmd.ProcessState
		fmt.Printf("%-30s CPU of an evaluation: %.2f ms\n", "", (state.UserTime()+state.SystemTime()).Seconds()*1000/float64(s.sent.Load()))
	}
	return err
}

// served is a server under measurement.
type served struct {
	cmd    *exec.Cmd
	url    string
	client *http.Client
	sent   atomic.Int64
	failed atomic.Int64
}

var servingOn = regexp.MustCompile(`serving on (http://\S+);`)

func startServer(t tool, model, dir string) (*served, error) {
	s := &served{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 500, MaxConnsPerHost: 500}}}
	s.cmd = exec.Command(t.exe, "serve", "--addr", "127.0.0.1:0", "--db", filepath.Join(dir, "serve.db"), "--rate", "0", "--judge", "openai:chat:fake-model")
	s.cmd.Env = append(append(os.Environ(), t.env...), "OPENAI_BASE_URL="+model+"/v1", "OPENAI_API_KEY=not-a-key", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	errs, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(errs)
	for s.url == "" && lines.Scan() {
		if m := servingOn.FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
		}
	}
	if s.url == "" {
		return nil, errors.Join(errors.New("the server did not start"), s.cmd.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, errs) }()
	return s, nil
}

// stop stops the server as an operator does.
func (s *served) stop() error {
	return errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
}

// evaluate sends one request; no two are alike.
func (s *served) evaluate() {
	n := s.sent.Add(1)
	body := fmt.Sprintf(`{"agent_input": "Greet customer %d", "agent_output": "Hello, customer %d! How can I help you today? %s", "assertions": [`+
		`{"id": "greets", "criteria": ["The output greets the customer"]},`+
		`{"id": "short", "instruction": "Be short", "criteria": ["It is one sentence", "It holds no list"]},`+
		`{"id": "words", "check": {"type": "word-count", "value": {"max": 400}}}]}`, n, n, strings.Repeat("We are glad that you are here. ", 20))
	resp, err := s.client.Post(s.url+"/v1/evaluate", "application/json", strings.NewReader(body))
	if err != nil {
		s.failed.Add(1)
		return
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(data), `{"score":1,`) {
		s.failed.Add(1)
	}
}

// memory evaluates without a pause and prints the memory of the process.
func (s *served) memory() {
	var points []float64
	for step := 1; step <= 5; step++ {
		var wait sync.WaitGroup
		for range serveAtOnce {
			wait.Go(func() {
				for s.sent.Load() < int64(step*serveTotal/5) {
					s.evaluate()
				}
			})
		}
		wait.Wait()
		points = append(points, resident(s.cmd.Process.Pid))
	}
	fmt.Printf("%-30s resident MiB after every %d evaluations: %.0f (the last is %+.0f %% of the first); %d failed\n",
		"serve-100000", serveTotal/5, points, 100*(points[4]/points[0]-1), s.failed.Load())
}

// resident returns the memory of a process in MiB, or 0 if it is unknown.
func resident(pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), "kB")), 64)
	return kib / 1024
}
