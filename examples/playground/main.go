// Command playground starts proviso serve with a stand-in for a model on this machine, so
// that the playground works without a key and without the network. Start at main.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// shown is the page to open, with the data stored at the start.
const shown = "/playground?suite=shop&prompt=shop&set=returns&provider=openai:chat:example"

//go:embed set.json
var set []byte

//go:embed suite.json
var suite []byte

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address of proviso")
	delay := flag.Duration("delay", 500*time.Millisecond, "how long the stand-in takes for an answer")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./examples/playground [-addr ADDRESS] [-delay TIME] [PROVISO]")
		flag.PrintDefaults()
	}
	flag.Parse()
	program := "./proviso"
	if flag.NArg() > 0 {
		program = flag.Arg(0)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, program, *addr, *delay, os.Stdout); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, and writes the address of the page to w.
func run(ctx context.Context, program, addr string, delay time.Duration, w io.Writer) error {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover temporary folder is no failure
	model := fakemodel.New(fakemodel.Options{Reply: reply, Latency: delay, Forget: true})
	defer model.Close()
	serve := exec.CommandContext(ctx, program, "serve", "--addr", addr, "--db", filepath.Join(dir, "proviso.db"), "--no-cache",
		"--judge", "openai:chat:example", "--allow-host", "127.0.0.1")
	serve.Env = append(os.Environ(), "OPENAI_BASE_URL="+model.URL+"/v1", "OPENAI_API_KEY=none")
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	serve.WaitDelay = 10 * time.Second
	started := make(chan string, 1)
	serve.Stderr = &address{to: started}
	if err := serve.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	select {
	case url := <-started:
		if err := store(ctx, url); err != nil {
			_ = serve.Process.Kill()
			<-ended
			return err
		}
		fmt.Fprintf(w, "Open %s%s\nCtrl-C ends it.\n", url, shown)
		return <-ended
	case err := <-ended:
		return fmt.Errorf("%s serve ended: %w\n%s", program, err, serve.Stderr)
	}
}

// store uploads the set and the suite, and waits for a run of the suite, so that its prompt
// is known.
func store(ctx context.Context, url string) error {
	var run struct{ ID, Status string }
	for _, r := range []struct {
		method, path string
		body         []byte
	}{
		{http.MethodPut, "/v1/assertion-sets/returns", set},
		{http.MethodPut, "/v1/suites/shop", suite},
		{http.MethodPost, "/v1/suites/shop/runs", []byte("{}")},
	} {
		answer, err := send(ctx, r.method, url+r.path, r.body)
		if err == nil {
			err = json.Unmarshal(answer, &run)
		}
		if err != nil {
			return err
		}
	}
	for end := time.Now().Add(30 * time.Second); run.Status == "queued" || run.Status == "running"; {
		if time.Now().After(end) {
			return errors.New("the run of the suite does not end")
		}
		time.Sleep(50 * time.Millisecond)
		answer, err := send(ctx, http.MethodGet, url+"/v1/runs/"+run.ID, nil)
		if err == nil {
			err = json.Unmarshal(answer, &run)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// send sends a request to the server and returns the response body.
func send(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s", method, url, answer)
	}
	return answer, nil
}

var serving = regexp.MustCompile(`serving on (http://[^\s;]+);`)

// address keeps the server's output, and sends the address once it appears.
type address struct {
	said bytes.Buffer
	to   chan<- string
}

func (a *address) Write(p []byte) (int, error) {
	if a.to == nil {
		return len(p), nil
	}
	a.said.Write(p)
	if m := serving.FindSubmatch(a.said.Bytes()); m != nil {
		a.to <- string(m[1])
		a.to = nil
	}
	return len(p), nil
}

func (a *address) String() string { return a.said.String() }
