package server_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/value"
)

// replaying returns a runner of suites with recorded answers.
func (s *shop) replaying() *server.Suites {
	out := s.suites()
	out.Engine.Engines.Replay = s.t.TempDir()
	return out
}

// TestReplayingWorker: a worker that replays takes no run of a server that calls models, and a
// worker that calls models takes no run of a server that replays. Both runs report what they
// wait for.
func TestReplayingWorker(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const echo = `{"name": "echo", "suite": {"prompts": ["Hi"], "providers": ["echo"], "tests": [{}]}}`
	replays := start(t, server.Options{Open: true, Store: s.db, Runner: s.replaying()})
	id := s.front.run(asked)
	s.work(server.Options{Runner: s.replaying()})
	s.waits(id, "waits for a worker that asks models; all that are running use --replay")
	if count, replaying, able := s.ready("workers", "count"), s.ready("workers", "replaying"), s.ready("workers", "able"); count != 1.0 || replaying != 1.0 || able != 0.0 {
		t.Errorf("/readyz: of %v workers %v replay, %v are able", count, replaying, able)
	}
	if text := s.front.ask("GET", "/v1/workers", "").body; !strings.Contains(text, `"only":"--replay"`) {
		t.Errorf("workers: %s", text)
	}
	until(t, "the log says so", func() bool { return strings.Contains(s.works.log.String(), "this process replays recorded answers") })
	recorded := replays.run(echo)
	replays.follow(recorded)
	if got := replays.ask("GET", "/v1/runs/"+recorded, "").object(t); at(got, "status") != "done" || at(got, "replayed") != true {
		t.Errorf("a run that replays: %v", got)
	}
	s.work(server.Options{Runner: s.suites("OPENAI_API_KEY")})
	s.front.follow(id)
	if got := s.front.ask("GET", "/v1/runs/"+id, "").object(t); at(got, "status") != "done" || at(got, "replayed") != nil || s.ready("workers", "replaying") != nil {
		t.Errorf("a run that asks: %v", got)
	}
	recorded = at(replays.ask("POST", "/v1/suites/echo/runs", "").object(t), "id").(string)
	s.waits(recorded, "waits for a worker with --replay")
}

// TestMixedFleet: servers and workers that differ in --replay log that, and log when it ends.
func TestMixedFleet(t *testing.T) {
	t.Parallel()
	stores, s := storesOf(t, 3), newShop(t)
	asks := start(t, server.Options{Open: true, Store: stores[0], Runner: s.suites(), AliveEvery: 50 * time.Millisecond})
	replays := start(t, server.Options{Open: true, Store: stores[1], Runner: s.replaying(), AliveEvery: 50 * time.Millisecond})
	worker := working(t, stores[2], server.Options{Runner: s.replaying(), AliveEvery: 50 * time.Millisecond})
	for f, line := range map[*fixture]string{asks: "replay recorded answers, and this one does not", replays: "ask models, and this one replays", worker: "ask models, and this one replays"} {
		until(t, "the log says "+line, func() bool { return strings.Contains(f.log.String(), line) })
	}
	if err := asks.stop(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fixture{replays, worker} {
		until(t, "it ends", func() bool { return strings.Contains(f.log.String(), "all processes now agree on --replay") })
		if n := strings.Count(f.log.String(), "and this one replays"); n != 1 {
			t.Errorf("told %d times: %s", n, f.log.String())
		}
	}
}

// TestReplayedVerdicts: a worker that replays judges no events while any process on the store
// calls models.
func TestReplayedVerdicts(t *testing.T) {
	t.Parallel()
	stores, s := storesOf(t, 3), newShop(t)
	var recorded, judged atomic.Int64
	f := start(t, server.Options{Open: true, Store: stores[0], Runner: s.suites(), Judge: byOutput(&judged), Poll: 20 * time.Millisecond, AliveEvery: 50 * time.Millisecond})
	f.wants("PUT", "/v1/assertion-sets/replies", sorrySet, 201)
	f.wants("PUT", "/v1/watches/tone", plainWatch, 201)
	until(t, "the server is known", func() bool {
		list, err := stores[1].ListShared(t.Context(), "server", "", "", 10)
		return err == nil && len(list) == 1
	})
	w := working(t, stores[1], server.Options{Runner: s.replaying(), Judge: byOutput(&recorded), WatchWorkers: 4, AliveEvery: 50 * time.Millisecond})
	until(t, "the worker knows it", func() bool { return strings.Contains(w.log.String(), "ask models, and this one replays") })
	f.events(0, 10, func(int) string { return "Hello." })
	working(t, stores[2], server.Options{Runner: s.suites(), Judge: byOutput(&judged), WatchWorkers: 4})
	f.eventually("/v1/watches/tone/verdicts?limit=100", "all are judged", func(o *value.Object) bool { return len(o.At("items").([]any)) == 20 })
	if recorded.Load() != 0 {
		t.Errorf("the worker that replays judged %d events", recorded.Load())
	}
}
