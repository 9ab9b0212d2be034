package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// TestKeptEvaluations: after keep_s the events are gone, and the result stays.
func TestKeptEvaluations(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Poll: 20 * time.Millisecond})
	id := f.begin(strings.Replace(evaluation, "{", `{"keep_s": 1, `, 1))
	f.open(id).rest()
	until(t, "the events are gone", func() bool { return f.ask("GET", "/v1/evaluations/"+id+"/events", "").status == 410 })
	if p := f.ask("GET", "/v1/evaluations/"+id+"/events", "").problem(t); p.Code != "gone" || !strings.Contains(p.Detail, "/v1/evaluations/"+id) {
		t.Errorf("%+v", p)
	}
	if got := f.ask("GET", "/v1/evaluations/"+id, "").object(t); got.At("status") != "pass" || got.Has("agent_output") {
		t.Errorf("the result: %v", got.Keys())
	}
	if got := f.ask("GET", "/v1/evaluations/eval_nope/events", ""); got.status != 404 {
		t.Errorf("nobody's: %d", got.status)
	}
}

// ofSize returns a request with an output of n bytes.
func ofSize(n int) string {
	return `{"agent_input": "", "agent_output": "` + strings.Repeat("x", n) + `", "assertions": [{"id": "a", "criteria": ["b"]}]}`
}

// TestHeldBytes: the memory for one key, and for all keys, is limited. Ended evaluations make
// room, oldest first, and running ones do not.
func TestHeldBytes(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	f := start(t, server.Options{HeldBytes: 8 << 20, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		r.Compiled()
		if r.Input != "" {
			select {
			case <-block:
			case <-ctx.Done():
			}
		}
		return passing(ctx, r)
	})})
	secret := func() string {
		s, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
		return bearer(s)
	}
	one, other := secret(), secret()
	held := func(id, who string) bool { return f.ask("GET", "/v1/evaluations/"+id+"/events", "", who).status == 200 }
	first := f.begin(ofSize(600<<10), other)
	f.open(first, other).rest()
	var ids []string
	for range 6 { // a key gets 2 MiB
		id := f.begin(ofSize(600<<10), one)
		f.open(id, one).rest()
		ids = append(ids, id)
	}
	if held(ids[0], one) || !held(ids[5], one) {
		t.Error("what ended first is held, or what ended last is not")
	}
	if !held(first, other) {
		t.Error("one key takes the room of another")
	}
	slow := strings.Replace(ofSize(400<<10), `"agent_input": ""`, `"agent_input": "slow"`, 1)
	busy := f.begin(slow, one)
	if held(ids[4], one) || !held(ids[5], one) {
		t.Error("what has ended does not make room, or more than is needed")
	}
	if got := f.ask("POST", "/v1/evaluations", slow, one); got.status != 503 || got.problem(t).Code != "busy" || got.header.Get("Retry-After") == "" {
		t.Errorf("beyond what goes on: %d %s", got.status, got.body)
	}
	if id := f.begin(ofSize(100), other); !held(id, other) {
		t.Error("another key has no room")
	}
	for range 4 { // for all keys
		who := secret()
		f.begin(slow, who)
	}
	close(block)
	if events := f.open(busy, one).rest(); events[len(events)-1].name != "end" {
		t.Error("what goes on was dropped")
	}
}

// TestHeldResults: results that become too large end the evaluation, and memory stays within
// the limit.
func TestHeldResults(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	f := start(t, server.Options{Open: true, HeldBytes: 8 << 20, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		r.Compiled()
		for i := range r.Assertions {
			r.Decided(judge.Decision{Index: i, Result: judge.Result{ID: r.Assertions[i].ID, Status: "pass", Reasoning: strings.Repeat("x", 1<<20)}})
		}
		ended <- context.Cause(ctx)
		return passing(ctx, r)
	})})
	var list []string
	for i := range 10 {
		list = append(list, fmt.Sprintf(`{"id": "a%d", "criteria": ["b"]}`, i))
	}
	id := f.begin(`{"agent_input": "", "agent_output": "x", "assertions": [` + strings.Join(list, ",") + `]}`)
	if why := <-ended; why == nil || !strings.Contains(why.Error(), "more memory") {
		t.Errorf("it went on: %v", why)
	}
	until(t, "the result is stored, and the events are gone", func() bool { return f.ask("GET", "/v1/evaluations/"+id+"/events", "").status == 410 })
}

// TestHeldMemory holds 8 MiB bodies of many keys: the memory stays within its limit.
func TestHeldMemory(t *testing.T) {
	if testing.Short() || race {
		t.Skip("takes memory")
	}
	f := start(t, server.Options{HeldBytes: 64 << 20})
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for range 12 {
		s, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
		for range 4 {
			f.open(f.begin(strings.Replace(ofSize(1900<<10), `"agent_input": ""`, `"keep_s": 3600, "agent_input": "`+strings.Repeat("y", 1900<<10)+`"`, 1), bearer(s)), bearer(s)).rest()
		}
	}
	grown := heap() - before
	t.Logf("48 evaluations of 3.8 MiB: %d MiB are held", grown>>20)
	if grown > 96<<20 {
		t.Errorf("%d MiB are held, and 64 are allowed", grown>>20)
	}
}

// TestManyStreams opens 1,000 streams of one evaluation. All get every event, one more is
// refused, and none outlives the evaluation.
func TestManyStreams(t *testing.T) {
	j, allow := gatedJudge(t)
	f := start(t, server.Options{Open: true, Judge: j, Heartbeat: time.Hour})
	id := f.begin(threeAsked)
	n := 1000
	if race {
		n = 100
	}
	before := runtime.NumGoroutine()
	streams := make([]*eventStream, n)
	for i := range streams {
		streams[i] = f.open(id)
		if e := streams[i].next(); e == nil || e.name != "start" {
			t.Fatalf("stream %d has no event", i)
		}
	}
	if n == 1000 { // with fewer, one more is served until the evaluation ends
		if got := f.ask("GET", "/v1/evaluations/"+id+"/events", ""); got.status != 503 {
			t.Errorf("one more: %d", got.status)
		}
	}
	started := time.Now()
	allow("one")
	allow("two")
	var all sync.WaitGroup
	for _, s := range streams {
		all.Go(func() {
			if rest := s.rest(); len(rest) != 4 || rest[3].name != "end" {
				t.Errorf("%d events", len(rest))
			}
			s.close()
		})
	}
	all.Wait()
	t.Logf("%d streams got 4 events each within %v", n, time.Since(started).Round(time.Millisecond))
	http.DefaultClient.CloseIdleConnections()
	until(t, "the streams are over", func() bool { return runtime.NumGoroutine() < before+50 })
}

// TestSlowReader: a client that reads nothing delays neither the evaluation nor other clients.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		r.Compiled()
		for i := range r.Assertions {
			r.Decided(judge.Decision{Index: i, Result: judge.Result{ID: r.Assertions[i].ID, Status: "pass", Pass: true, Reasoning: strings.Repeat("x", 1<<20)}})
		}
		return passing(ctx, r)
	})})
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf(`{"id": "a%d", "criteria": ["b"]}`, i))
	}
	body := `{"agent_input": "", "agent_output": "x", "assertions": [` + strings.Join(list, ",") + `]}`
	id := f.begin(body)
	for range 20 {
		conn := must2(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
		defer conn.Close()
		fmt.Fprintf(conn, "GET /v1/evaluations/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n", id)
	}
	if events := f.open(id).rest(); len(events) != 22 {
		t.Errorf("%d events", len(events))
	}
	if events := f.open(f.begin(body)).rest(); len(events) != 22 {
		t.Errorf("another evaluation has %d events", len(events))
	}
}

// TestStopWithEvaluation: a stopping server lets evaluations end, and stores them. Those that
// take too long are cut off, and stored with the verdicts so far.
func TestStopWithEvaluation(t *testing.T) {
	t.Parallel()
	for _, patient := range []bool{true, false} {
		j, allow := gatedJudge(t)
		o := server.Options{Open: true, Judge: j, StopTimeout: 2 * time.Second}
		if patient {
			o.StopTimeout = time.Minute
		}
		f := start(t, o)
		f.fails = true
		id := f.begin(threeAsked)
		s := f.open(id)
		allow("two")
		for range 3 {
			s.next()
		}
		stopped := make(chan error, 1)
		go func() { stopped <- f.stop() }()
		s.rest() // the stream ends when the server stops
		if patient {
			allow("one")
		}
		if err := <-stopped; err != nil {
			t.Errorf("patient %t: %v", patient, err)
		}
		e, err := f.store.In(store.DefaultProject).Evaluation(t.Context(), id)
		want := proviso.Pass
		if !patient {
			want = proviso.Errored
		}
		if err != nil || e.Status != want {
			t.Errorf("patient %t: %+v %v", patient, e, err)
		}
	}
}
