package server_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/value"
)

// asked is a suite whose provider needs a key.
const asked = `{"name": "asked", "suite": {"prompts": ["Hello {{n}}"], "providers": ["openai:chat:fake"], "tests": [{"vars": {"n": "a"}, "assert": [{"type": "contains", "value": "Hello"}]}, {"vars": {"n": "b"}}]}}`

// shop is a set of processes on one store. One of them executes runs.
type shop struct {
	t     *testing.T
	db    testStore
	model *fakemodel.Server
	front *fixture // accepts runs, and has no key
	works *fixture
}

func newShop(t *testing.T) *shop {
	s := &shop{t: t, db: openStore(t, filepath.Join(t.TempDir(), "proviso.db")), model: fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: r.Prompt} }})}
	t.Cleanup(s.model.Close)
	front := s.suites()
	front.Elsewhere = true
	s.front = start(t, server.Options{Open: true, Store: s.db, Runner: front})
	return s
}

// suites returns a runner of suites with some variables, which may call the model.
func (s *shop) suites(variables ...string) *server.Suites {
	out := suites(s.t, nil)
	env := proviso.EnvMap{"OPENAI_BASE_URL": s.model.URL}
	for _, name := range variables {
		env[name] = "secret-value"
	}
	out.Engine.Engines.Env, out.Engine.Policy.Hosts, out.Engine.Policy.Env = env, []string{"127.0.0.1"}, variables
	own := out.Engine
	own.Policy.Trusted, own.Policy.Sandbox = true, sandbox.Off
	operator, err := engine.Open(s.t.Context(), nil, own)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = operator.Close() })
	out.Engine.Engines.Operator = operator
	return out
}

// work stops the process that executes runs, and starts another one.
func (s *shop) work(o server.Options) {
	s.t.Helper()
	if s.works != nil {
		if err := s.works.stop(); err != nil {
			s.t.Fatal(err)
		}
	}
	o.Open, o.Store, o.Jobs = true, s.db, s.db
	s.works = start(s.t, o)
}

// waits waits until a run waits for a need, and returns the reason.
func (s *shop) waits(id, want string) {
	s.t.Helper()
	var got answer
	until(s.t, "the run "+want, func() bool {
		got = s.front.ask("GET", "/v1/runs/"+id, "")
		return at(got.object(s.t), "waits") == want
	})
	if at(got.object(s.t), "status") != "waiting" || strings.Contains(got.body, "secret-value") {
		s.t.Errorf("%s", got.body)
	}
}

// ready returns a member of a part of /readyz.
func (s *shop) ready(part, member string) any {
	return at(at(s.front.ask("GET", "/readyz", "").object(s.t), part), member)
}

// TestRunWaitsForAKey: a server without a provider key accepts a run if other processes may
// have the key. The run waits until such a process exists, and every place reports that.
func TestRunWaitsForAKey(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.front.run(asked)
	s.waits(id, "waits for a worker: none is running")
	s.work(server.Options{Runner: s.suites()})
	s.waits(id, "waits for a worker with OPENAI_API_KEY")
	for member, want := range map[string]any{"queued": 1.0, "waiting": 1.0} {
		if got := s.ready("runs", member); got != want {
			t.Errorf("/readyz: %v runs are %s", got, member)
		}
	}
	if count, able := s.ready("workers", "count"), s.ready("workers", "able"); count != 1.0 || able != 0.0 {
		t.Errorf("/readyz: %v workers, of which %v can do what waits", count, able)
	}
	for status, want := range map[string]bool{"waiting": true, "queued": false, "running": false} {
		if got := s.front.ask("GET", "/v1/runs?status="+status, ""); strings.Contains(got.body, id) != want || got.status != 200 {
			t.Errorf("the runs that are %s: %s", status, got.body)
		}
	}
	if text := s.front.ask("GET", "/metrics", "").body; !strings.Contains(text, `proviso_run_queue_waiting{project="default"} 1`) {
		t.Error("the metrics do not count it")
	}
	second := at(s.front.ask("POST", "/v1/suites/asked/runs", "").object(t), "id").(string)
	s.waits(second, "waits for a worker with OPENAI_API_KEY")
	if got := s.front.ask("POST", "/v1/runs/"+second+"/cancel", "").object(t); at(got, "status") != "cancelled" {
		t.Errorf("cancelled: %v", got)
	}
	s.work(server.Options{Runner: s.suites("OPENAI_API_KEY")})
	s.front.follow(id)
	run := s.front.ask("GET", "/v1/runs/"+id, "").object(t)
	if at(run, "status") != "done" || at(at(run, "progress"), "passed") != 2.0 || at(run, "error") != nil || at(run, "waits") != nil {
		t.Errorf("at the end: %v", run)
	}
	workers := s.front.ask("GET", "/v1/workers", "")
	if !strings.Contains(workers.body, `"OPENAI_API_KEY"`) || !strings.Contains(workers.body, `"kind":"server"`) || !strings.Contains(workers.body, `"--allow-host 127.0.0.1"`) || strings.Contains(workers.body, "secret-value") {
		t.Errorf("workers: %s", workers.body)
	}
}

// TestKeyOfAProviderElsewhere: an API key that may not use a provider cannot use it through a
// worker that has the provider key.
func TestKeyOfAProviderElsewhere(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	secret, _ := s.front.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Providers: []string{"echo"}})
	if got := s.front.ask("POST", "/v1/suites", asked, bearer(secret)); got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := s.front.ask("POST", "/v1/suites/asked/runs", "", bearer(secret)); got.status != 403 || !strings.Contains(got.body, "may not ask openai:chat:fake") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestOneProcessRefuses: if no other process can have the key, a run is refused at once.
func TestOneProcessRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	f := start(t, server.Options{Open: true, Runner: s.suites()})
	if got := f.ask("POST", "/v1/suites", asked); got.status != 422 || !strings.Contains(got.body, "OPENAI_API_KEY") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// confined configures a process whose provider has a private address that suites may not reach.
func confined(s *shop) server.Options {
	works := s.suites("OPENAI_API_KEY")
	works.Engine.Policy.Hosts = nil
	return server.Options{Runner: works}
}

// keyed configures a process that may reach that address.
func keyed(s *shop) server.Options {
	return server.Options{Runner: s.suites("OPENAI_API_KEY")}
}

// TestPrivateAddressRefused: if no other process can reach a private address from the
// environment, a run is refused at once, and the message names the flag that allows it.
func TestPrivateAddressRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	f := start(t, server.Options{Open: true, Runner: confined(s).Runner})
	if got := f.ask("POST", "/v1/suites", asked); got.status != 422 || !strings.Contains(got.body, "openai:chat:fake: 127.0.0.1 is not an address on the public internet; --allow-host 127.0.0.1 allows it") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestRunNeeds: the needs of a suite are found in the suite, and a process that lacks one
// leaves the run.
func TestRunNeeds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		suite, want string
		lacks, has  func(*shop) server.Options
	}{
		"a host": {
			`{"name": "s", "suite": {"prompts": ["Hi"], "providers": [{"id": "ollama:chat:fake", "config": {"apiBaseUrl": "http://localhost:1"}}], "tests": [{}]}}`, "--allow-host localhost",
			func(s *shop) server.Options { return server.Options{Runner: s.suites()} }, nil,
		},
		"an address of the environment": {
			asked, "--allow-host 127.0.0.1", confined, keyed,
		},
		"an address of the environment for a judge": {
			`{"name": "s", "suite": {"prompts": ["Hi"], "providers": ["echo"], "tests": [{"assert": [{"type": "llm-rubric", "value": "It greets", "provider": "openai:chat:fake"}]}]}}`, "--allow-host 127.0.0.1", confined, keyed,
		},
		"a judge": {
			`{"name": "s", "suite": {"prompts": ["Hi"], "providers": ["echo"], "tests": [{"assert": [{"type": "llm-rubric", "value": "It greets"}]}]}}`, "a judge model",
			func(s *shop) server.Options { return server.Options{Runner: s.suites(), NoJudge: "there is no key"} }, nil,
		},
		"a variable that the suite names": {
			`{"name": "s", "suite": {"prompts": ["Hi"], "providers": [{"id": "openai:chat:fake", "config": {"apiKeyEnvar": "TEAM_KEY"}}], "tests": [{}]}}`, "TEAM_KEY",
			func(s *shop) server.Options {
				works := s.suites("OPENAI_API_KEY")
				works.Engine.Policy.Env = []string{"TEAM_KEY"}
				return server.Options{Runner: works}
			},
			func(s *shop) server.Options { return server.Options{Runner: s.suites("TEAM_KEY")} },
		},
		"a variable that is not allowed": {
			`{"name": "s", "suite": {"prompts": ["Hi {{ env.TEAM }}"], "providers": ["echo"], "tests": [{}]}}`, "--allow-env TEAM",
			func(s *shop) server.Options { return server.Options{Runner: s.suites()} },
			func(s *shop) server.Options { return server.Options{Runner: s.suites("TEAM")} },
		},
		"the version that accepted it": {
			`{"name": "s", "suite": {"prompts": ["Hi"], "providers": ["echo"], "tests": [{"vars": {"n": 1}}, {"vars": {"n": 2}}]}}`, "proviso test",
			func(s *shop) server.Options {
				other := s.suites()
				other.MaxRows, other.Engine.Version = 1, "another" // an older version
				return server.Options{Runner: other}
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			// Both workers have this store, which rests after a need that one did not meet.
			s.db = openStore(t, filepath.Join(t.TempDir(), "needs.db"), func(o *sqldb.Options) { o.Rest = 50 * time.Millisecond })
			front := s.suites()
			front.Elsewhere, front.Engine.Policy.Hosts, front.Engine.Policy.Env = true, []string{"127.0.0.1", "localhost"}, []string{"TEAM", "TEAM_KEY"}
			s.front = start(t, server.Options{Open: true, Store: s.db, Runner: front})
			id := s.front.run(tt.suite)
			s.work(tt.lacks(s))
			s.waits(id, "waits for a worker with "+tt.want)
			if got := s.front.ask("GET", "/v1/runs/"+id, "").object(t); at(got, "error") != nil {
				t.Errorf("%v", got)
			}
			if tt.has == nil {
				return
			}
			s.work(tt.has(s))
			s.front.follow(id)
			if got := s.front.ask("GET", "/v1/runs/"+id, "").object(t); at(got, "status") != "done" {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestWatchWithoutAJudge: a process without a judge leaves the events of a watch to a process
// with a judge, and does not warn that there is none.
func TestWatchWithoutAJudge(t *testing.T) {
	t.Parallel()
	var lacking, having atomic.Int64
	db := openStore(t, filepath.Join(t.TempDir(), "proviso.db"))
	able := watched(t, server.Options{Store: db, Jobs: db, Judge: byOutput(&having)}, plainWatch)
	until(t, "the process is there", func() bool {
		return at(at(able.ask("GET", "/readyz", "").object(t), "workers"), "count") == 1.0
	})
	f := start(t, server.Options{Open: true, Store: db, Judge: byOutput(&lacking), NoJudge: "there is no key", WatchWorkers: 4, Poll: 20 * time.Millisecond})
	if got := f.ask("GET", "/v1/watches/tone", ""); strings.Contains(got.body, "there is no key") {
		t.Errorf("it warns: %s", got.body)
	}
	f.events(0, 30, func(int) string { return "Hello." })
	f.eventually("/v1/watches/tone/verdicts?limit=100", "all are judged", func(o *value.Object) bool { return len(o.At("items").([]any)) == 60 })
	if lacking.Load() != 0 || having.Load() != 30 {
		t.Errorf("the process without a judge evaluated %d events, the other %d", lacking.Load(), having.Load())
	}
}
