package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/value"
)

// working starts a worker on a store, like `proviso worker --metrics`.
func working(t *testing.T, db testStore, o server.Options) *fixture {
	t.Helper()
	f := &fixture{t: t, log: &safeBuffer{}, store: db}
	o.Store, o.Jobs, o.Log, o.Version = db, db, slog.New(slog.NewJSONHandler(f.log, nil)), "test"
	if o.Judge == nil {
		o.Judge = evaluator(passing)
	}
	o.Poll = 20 * time.Millisecond
	var err error
	if f.Server, err = server.New(o); err != nil {
		t.Fatal(err)
	}
	l := httptest.NewUnstartedServer(nil).Listener
	f.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- f.Work(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	f.await("/readyz")
	return f
}

// unready waits until /readyz of a process fails with a reason.
func (f *fixture) unready(why string) {
	f.t.Helper()
	var got answer
	until(f.t, "/readyz fails because "+why, func() bool {
		got = f.ask("GET", "/readyz", "")
		return got.status == 503
	})
	if !strings.Contains(got.body, why) {
		f.t.Errorf("%s does not say %q", got.body, why)
	}
}

// cramped runs suites on a full disk.
type cramped struct {
	*server.Suites
	calls atomic.Int64
}

func (c *cramped) Run(context.Context, server.Execution) error {
	c.calls.Add(1)
	return server.NoRoomHere()
}

func (c *cramped) Room() error { return errors.New("no space left on device") }

// TestWorkerWithAFullDisk: a worker with a full disk gives a run back at once, and every place
// reports why.
func TestWorkerWithAFullDisk(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	full := &cramped{Suites: s.suites("OPENAI_API_KEY")}
	w := working(t, s.db, server.Options{Runner: full})
	id := s.front.run(asked)
	s.waits(id, "waits for a worker: the one that can do this takes no runs: the disk for the files of runs is full")
	w.unready("this worker takes no runs: the disk for the files of runs is full")
	if count, able, unfit := s.ready("workers", "count"), s.ready("workers", "able"), s.ready("workers", "unfit"); count != 1.0 || able != 0.0 || unfit != 1.0 {
		t.Errorf("%v workers, %v able, %v unfit", count, able, unfit)
	}
	if got := s.front.ask("GET", "/v1/workers", ""); !strings.Contains(got.body, `"unfit":"the disk for the files of runs is full"`) {
		t.Errorf("workers: %s", got.body)
	}
	if got := s.front.ask("GET", "/v1/runs/"+id, "").object(t); at(got, "error") != nil {
		t.Errorf("%v", got)
	}
	second := at(s.front.ask("POST", "/v1/suites/asked/runs", "").object(t), "id").(string)
	s.waits(second, "waits for a worker: the one that can do this takes no runs: the disk for the files of runs is full")
	if n := strings.Count(w.log.String(), `"end":"unfit"`); n != 1 || full.calls.Load() != 1 {
		t.Errorf("%d calls, logged %d times:\n%s", full.calls.Load(), n, w.log.String())
	}
}

// sealing opens a PostgreSQL database twice, without and with a content key.
func sealing(t *testing.T) (without testStore, log *safeBuffer, with func() testStore) {
	log = &safeBuffer{}
	path := filepath.Join(t.TempDir(), "sealing")
	open := func(key []byte) testStore {
		db, err := openPostgres(t, path, sqldb.Options{Poll: 20 * time.Millisecond, ContentKey: key, Logger: slog.New(slog.NewJSONHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	return open(nil), log, func() testStore { return open(bytes.Repeat([]byte("k"), 32)) }
}

// TestSealedByAnother: a worker without the content key, which started before texts were
// sealed, notices the sealing. It leaves events and runs to others, and both the worker and the
// watch report this.
func TestSealedByAnother(t *testing.T) {
	t.Parallel()
	plain, log, with := sealing(t)
	var lacking, having atomic.Int64
	w := working(t, plain, server.Options{Runner: newShop(t).suites(), Judge: byOutput(&lacking), WatchWorkers: 4})
	db := with()
	f := start(t, server.Options{Open: true, Store: db, Judge: byOutput(&having), Poll: 20 * time.Millisecond})
	f.wants("PUT", "/v1/assertion-sets/replies", sorrySet, 201)
	f.wants("PUT", "/v1/watches/tone", plainWatch, 201)
	w.unready("this process has no key for them: start it with --content-key-env")
	f.events(0, 3, func(int) string { return "Hello." })
	f.eventually("/v1/watches/tone", "it says what it waits for", func(o *value.Object) bool {
		list, _ := o.At("warnings").([]any)
		return len(list) > 0 && strings.Contains(list[0].(string), "--content-key-env")
	})
	if got := log.String(); strings.Count(got, "this process takes no runs") != 1 || !strings.Contains(got, "are encrypted") {
		t.Errorf("the log: %s", got)
	}
	working(t, db, server.Options{Judge: byOutput(&having), WatchWorkers: 4})
	f.eventually("/v1/watches/tone/verdicts?limit=100", "all are judged", func(o *value.Object) bool { return len(o.At("items").([]any)) == 6 })
	if lacking.Load() != 0 {
		t.Errorf("the worker without the key evaluated %d events", lacking.Load())
	}
}

// TestServerWithoutTheKey: a server without the key of sealed texts reports the missing key as
// a temporary failure of its own. It reads no sealed text, and accepts no request whose texts
// it would have to store.
func TestServerWithoutTheKey(t *testing.T) {
	t.Parallel()
	plain, _, with := sealing(t)
	var calls atomic.Int64
	lacks := start(t, server.Options{Open: true, Store: plain, Judge: byOutput(&calls), Poll: 20 * time.Millisecond, TrafficShare: 1, Judges: judgedBy(strict("m")).Judges})
	has := start(t, server.Options{Open: true, Store: with(), TrafficShare: 1, Judge: byOutput(&calls), Poll: 20 * time.Millisecond, Judges: judgedBy(strict("m")).Judges})
	has.events(0, 1, func(int) string { return "Hello." })
	id := at(at(has.ask("GET", "/v1/events", "").object(t), "items").([]any)[0], "id").(string)
	const output = `{"agent_input": "i", "agent_output": "o", "assertions": [{"id": "a", "check": {"type": "contains", "value": "o"}}]}`
	run, _ := has.trialOf(store.DefaultProject, "X-None: 1")
	trial := fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {"criteria": ["It says strictly what the customer can do"]}}`, run)
	for _, r := range [][3]string{{"GET", "/v1/events/" + id}, {"POST", "/v1/evaluations", output}, {"POST", "/v1/events", `{"events": [{"id": "e", "agent": "a", "output": "o"}]}`}, {"POST", "/v1/judge-trials", trial}} {
		got := lacks.ask(r[0], r[1], r[2])
		if p := got.problem(t); got.status != 503 || !strings.Contains(p.Detail, "start it with --content-key-env") || got.header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s", r[0], r[1], got.status, got.body)
		}
		if got := has.ask(r[0], r[1], r[2]); got.status >= 300 {
			t.Errorf("with the key: %s %s: %d %s", r[0], r[1], got.status, got.body)
		}
	}
	if got := lacks.ask("POST", "/v1/evaluate", output); got.status != 200 {
		t.Errorf("what needs no stored text: %d %s", got.status, got.body)
	}
}

// TestWrongKey: a run leaves a worker whose key is refused, for a worker whose same key works.
// If there is none, its rows are errors, as in any run. The log names the worker in both cases.
func TestWrongKey(t *testing.T) {
	t.Parallel()
	stores := storesOf(t, 3)
	var refused atomic.Int64
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		if !strings.Contains(r.Header.Get("Authorization"), "right") {
			refused.Add(1)
			return fakemodel.Reply{Status: 401, Message: "no such key"}
		}
		return fakemodel.Reply{Text: r.Prompt}
	}})
	t.Cleanup(model.Close)
	runner := func(key string) *server.Suites {
		out := suites(t, nil)
		out.Engine.Engines.Env, out.Engine.Policy.Hosts = proviso.EnvMap{"OPENAI_BASE_URL": model.URL, "OPENAI_API_KEY": key}, []string{"127.0.0.1"}
		return out
	}
	front := start(t, server.Options{Open: true, Store: stores[0], Runner: runner("right")})
	wrong := working(t, stores[1], server.Options{Runner: runner("wrong-secret")})
	alone := front.run(asked)
	front.follow(alone)
	run := front.ask("GET", "/v1/runs/"+alone, "").object(t)
	if at(run, "status") != "done" || at(at(run, "progress"), "errors") != 2.0 || !strings.Contains(wrong.log.String(), "a key is refused, and no other worker can execute the run") || !strings.Contains(wrong.log.String(), `"rows":2,"errors":2`) {
		t.Errorf("alone: %v\n%s", run, wrong.log.String())
	}
	// The worker with the right key is alive, but busy.
	busy := make(chan bool)
	other := &held{Suites: runner("right"), until: busy}
	right := working(t, stores[2], server.Options{Runner: other})
	until(t, "both are there", func() bool {
		return at(at(front.ask("GET", "/readyz", "").object(t), "workers"), "count") == 2.0
	})
	refused.Store(0)
	id := at(front.ask("POST", "/v1/suites/asked/runs", "").object(t), "id").(string)
	until(t, "the run leaves the first worker, or did not come there", func() bool {
		return strings.Contains(wrong.log.String(), "left to another worker") || other.begun.Load() > 0
	})
	if log := wrong.log.String(); strings.Contains(log, "left to another worker") {
		until(t, "the end is in the log", func() bool { return strings.Contains(wrong.log.String(), `"end":"unable"`) })
		if log = wrong.log.String(); !strings.Contains(log, `"why":"the key of this process is refused: OPENAI_API_KEY"`) || strings.Contains(log, "has no OPENAI_API_KEY") {
			t.Errorf("the reason: %s", log)
		}
	}
	close(busy)
	front.follow(id)
	run = front.ask("GET", "/v1/runs/"+id, "").object(t)
	if at(run, "status") != "done" || at(at(run, "progress"), "passed") != 2.0 {
		t.Errorf("beside another: %v\n%s", run, wrong.log.String())
	}
	if strings.Contains(wrong.log.String()+right.log.String(), "wrong-secret") {
		t.Error("the key is in the log")
	}
}

// held waits before it executes a run.
type held struct {
	*server.Suites
	begun atomic.Int64
	until chan bool
}

func (h *held) Run(ctx context.Context, e server.Execution) error {
	h.begun.Add(1)
	<-h.until
	return h.Suites.Run(ctx, e)
}
