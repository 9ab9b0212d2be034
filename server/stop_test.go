package server_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
)

// TestDrain: readiness goes down first, and requests are still answered.
func TestDrain(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Drain: time.Second})
	ended := make(chan error, 1)
	go func() { ended <- f.stop() }()
	status := 0
	for range 4000 {
		if status = f.ask("GET", "/readyz", "").status; status == http.StatusServiceUnavailable {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if got := f.ask("POST", "/v1/evaluate", evaluation); status != http.StatusServiceUnavailable || got.status != 200 {
		t.Errorf("ready: %d, evaluate: %d", status, got.status)
	}
	if got := f.ask("GET", "/healthz", ""); got.status != 200 {
		t.Errorf("health: %d", got.status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestCutOff: a request that does not end in time is interrupted and reported.
func TestCutOff(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	f := start(t, server.Options{Open: true, StopTimeout: 20 * time.Millisecond, Judge: evaluator(func(ctx context.Context, _ *judge.Request) (*judge.Response, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	})})
	gone := make(chan error, 1)
	go func() {
		resp, err := http.Post(f.url+"/v1/evaluate", "application/json", strings.NewReader(evaluation))
		if err == nil {
			resp.Body.Close()
		}
		gone <- err
	}()
	<-asked
	f.fails = true
	if err := f.stop(); err == nil || !strings.Contains(err.Error(), "cut off after 20ms") {
		t.Errorf("stopped with %v", err)
	}
	<-gone
	if log := f.log.String(); !strings.Contains(log, `"cut_off":true`) {
		t.Errorf("log: %s", log)
	}
}

// TestStreamEnds: a stopping server does not wait for event streams.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Open: true, Runner: p.with(suites(t, nil)), StopTimeout: time.Minute, Heartbeat: 10 * time.Millisecond})
	id := f.run(slowSuite(1, 1))
	<-p.asked
	resp, err := http.Get(f.url + "/v1/runs/" + id + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	for !strings.Contains(text.String(), ": still here\n\n") {
		buf := make([]byte, 512)
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
		text.Write(buf[:n])
	}
	if !strings.Contains(text.String(), "event: progress\nid: running-1-0\n") {
		t.Errorf("events: %q", text.String())
	}
	stopped := make(chan error, 1)
	go func() { stopped <- f.stop() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	select {
	case err := <-stopped:
		t.Errorf("stopped (%v) before the row in progress has ended", err)
	default:
	}
	p.let <- struct{}{}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
