package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// judged is a suite of 30 judged rows, in several parts.
const judged = `{"name": "judged", "suite": {"prompts": ["Row {{n}}"], "providers": ["echo"], "evaluateOptions": {"maxConcurrency": 2}, "defaultTest": {"assert": [{"type": "llm-rubric", "value": "It greets"}]}, "tests": [` +
	`{"vars": {"n": ["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17","18","19","20","21","22","23","24","25","26","27","28","29","30"]}}]}}`

// judges are judges by their models, which count their calls.
type judges struct {
	*fakemodel.Server
	mu    sync.Mutex
	asked map[string]int
}

func newJudges(t *testing.T) *judges {
	j := &judges{asked: map[string]int{}}
	j.Server = fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		j.mu.Lock()
		j.asked[r.Model]++
		j.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		return fakemodel.Reply{Text: `{"pass": true, "score": 1, "reason": "so"}`}
	}})
	t.Cleanup(j.Close)
	return j
}

func (j *judges) count(model string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.asked[model]
}

// by returns a runner of suites whose judge is a model; "" means no judge.
func (j *judges) by(t *testing.T, model string, change ...func(*engine.Options)) *server.Suites {
	out := suites(t, nil)
	out.Engine.Engines.Env = proviso.EnvMap{"OPENAI_BASE_URL": j.URL}
	out.Engine.Policy.Hosts = []string{"127.0.0.1"}
	if model != "" {
		out.Engine.Engines.Env = proviso.EnvMap{"OPENAI_BASE_URL": j.URL, "OPENAI_API_KEY": "secret-value"}
		out.Engine.Judge.Name = "openai:chat:" + model
	}
	for _, c := range change {
		c(&out.Engine)
	}
	own := out.Engine
	own.Policy.Trusted, own.Policy.Sandbox = true, sandbox.Off
	operator, err := engine.Open(t.Context(), nil, own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = operator.Close() })
	out.Engine.Engines.Operator, out.Elsewhere = operator, true
	return out
}

// TestOneJudgeOfARun: workers with different judges do not share a run. The first worker that
// starts it fixes its judge; the run reports if no worker has that judge.
func TestOneJudgeOfARun(t *testing.T) {
	t.Parallel()
	s, j := newShop(t), newJudges(t)
	s.front = start(t, server.Options{Open: true, Store: s.db, Runner: j.by(t, "")})
	id := s.front.run(judged)
	s.waits(id, "waits for a worker: none is running")
	s.work(server.Options{Runner: j.by(t, "first")})
	until(t, "the first judge is asked", func() bool { return j.count("first") > 2 })
	s.work(server.Options{Runner: j.by(t, "second")})
	var got *value.Object
	until(t, "it waits for the first judge", func() bool {
		got = s.front.ask("GET", "/v1/runs/"+id+"?results=no", "").object(t)
		text, _ := at(got, "waits").(string)
		return strings.HasPrefix(text, "waits for a worker with the judge openai:chat:first (settings ")
	})
	if at(got, "status") != "waiting" || at(at(got, "progress"), "finished") == 30.0 || j.count("second") > 0 {
		t.Errorf("%v, and the second judge was asked %d questions", got, j.count("second"))
	}
	if text := s.front.ask("GET", "/v1/workers", "").body; !strings.Contains(text, `"the judge openai:chat:second (settings `) || strings.Contains(text, "secret-value") {
		t.Errorf("workers: %s", text)
	}
	s.work(server.Options{Runner: j.by(t, "first")})
	s.front.follow(id)
	if got := s.front.ask("GET", "/v1/runs/"+id+"?results=no", "").object(t); at(got, "status") != "done" || at(at(got, "progress"), "finished") != 30.0 || j.count("second") > 0 {
		t.Errorf("%v, and the second judge was asked %d questions", got, j.count("second"))
	}
}

// TestJudgeOfTheServer: a server with a judge accepts runs for that judge. A run whose suite
// names a judge is for workers that let the suite choose.
func TestJudgeOfTheServer(t *testing.T) {
	t.Parallel()
	s, j := newShop(t), newJudges(t)
	front := j.by(t, "wanted")
	front.Engine.Engines.Env = proviso.EnvMap{"OPENAI_BASE_URL": j.URL} // it has no key
	s.front = start(t, server.Options{Open: true, Store: s.db, Runner: front})
	id := s.front.run(judged)
	s.work(server.Options{Runner: j.by(t, "another")})
	var waits string
	until(t, "it waits", func() bool {
		waits, _ = at(s.front.ask("GET", "/v1/runs/"+id, "").object(t), "waits").(string)
		return strings.Contains(waits, "with the judge openai:chat:wanted")
	})
	s.front = start(t, server.Options{Open: true, Store: s.db, Runner: j.by(t, "")})
	own := s.front.run(strings.NewReplacer(`"name": "judged"`, `"name": "named"`, `"providers"`, `"judge": "openai:chat:own", "providers"`).Replace(judged))
	until(t, "it waits for a worker without --judge", func() bool {
		text, _ := at(s.front.ask("GET", "/v1/runs/"+own, "").object(t), "waits").(string)
		return text == "waits for a worker with the judge of the suite"
	})
	if j.count("another") > 0 {
		t.Errorf("another judge was asked %d questions", j.count("another"))
	}
	s.work(server.Options{Runner: j.by(t, "wanted")})
	s.front.follow(id)
	if j.count("another") > 0 || j.count("wanted") < 30 || j.count("own") > 0 {
		t.Errorf("asked: %v", j.asked)
	}
}

// TestJudgesSideBySide: of two live workers with different judges, one executes all parts of a
// run.
func TestJudgesSideBySide(t *testing.T) {
	t.Parallel()
	stores, j := storesOf(t, 3), newJudges(t)
	front := start(t, server.Options{Open: true, Store: stores[0], Runner: j.by(t, "")})
	working(t, stores[1], server.Options{Runner: j.by(t, "first")})
	working(t, stores[2], server.Options{Runner: j.by(t, "second")})
	until(t, "both are there", func() bool {
		return at(at(front.ask("GET", "/readyz", "").object(t), "workers"), "count") == 2.0
	})
	for range 4 {
		first, second := j.count("first"), j.count("second")
		id := front.run(judged)
		front.follow(id)
		first, second = j.count("first")-first, j.count("second")-second
		if first+second < 30 || first > 0 && second > 0 {
			t.Errorf("one judge was asked %d questions, the other %d", first, second)
		}
	}
}

// TestJudgeWithSecrets: passwords and tokens in a judge's id appear neither in the abilities of
// workers nor in runs, their rows or the judge's errors.
func TestJudgeWithSecrets(t *testing.T) {
	t.Parallel()
	s, j := newShop(t), newJudges(t)
	broken := false
	var mu sync.Mutex
	grader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if user, password, _ := r.BasicAuth(); user != "somebody" || password != "hunter2pass" || r.URL.Query().Get("token") != "abcdefghijkl" || broken {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"output": "{\"pass\": true, \"score\": 1, \"reason\": \"so\"}"}`)
	}))
	t.Cleanup(grader.Close)
	runner := j.by(t, "any", func(o *engine.Options) {
		o.Judge.Name = "webhook:" + strings.Replace(grader.URL, "://", "://somebody:hunter2pass@", 1) + "/grade?token=abcdefghijkl"
	})
	s.front = start(t, server.Options{Open: true, Store: s.db, Runner: runner})
	s.work(server.Options{Runner: runner})
	suite := strings.Replace(judged, `"1","2","3",`, "", 1)
	for _, name := range []string{"judged", "broken"} {
		mu.Lock()
		broken = name == "broken"
		mu.Unlock()
		id := s.front.run(strings.Replace(suite, `"name": "judged"`, `"name": "`+name+`"`, 1))
		s.front.follow(id)
		run := s.front.ask("GET", "/v1/runs/"+id, "").body
		if !strings.Contains(run, `webhook:`+grader.URL+`/grade`) {
			t.Errorf("the run does not name its judge: %s", run)
		}
		stored, err := s.db.In(store.DefaultProject).Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		shown := run + s.front.ask("GET", "/v1/workers", "").body + strings.Join(stored.Needs, "\n")
		for _, secret := range []string{"hunter2pass", "abcdefghijkl", "somebody"} {
			if i := strings.Index(shown, secret); i >= 0 {
				t.Errorf("%s: shown: …%s", name, shown[max(0, i-200):min(len(shown), i+50)])
			}
		}
	}
}

// TestJudgeBesideManyNeeds: a run has its judge among its needs, however many other needs there
// are.
func TestJudgeBesideManyNeeds(t *testing.T) {
	t.Parallel()
	s, j := newShop(t), newJudges(t)
	var headers []string
	runner := j.by(t, "wanted", func(o *engine.Options) {
		env := proviso.EnvMap{"OPENAI_BASE_URL": j.URL, "OPENAI_API_KEY": "secret-value"}
		for i := range store.MaxNeeds + 10 {
			name := fmt.Sprintf("VARIABLE_%d", i)
			env[name] = "v"
			o.Policy.Env = append(o.Policy.Env, name)
			headers = append(headers, fmt.Sprintf(`"x-%d": "{{ env.%s }}"`, i, name))
		}
		o.Engines.Env = env
	})
	s.front = start(t, server.Options{Open: true, Store: s.db, Runner: runner})
	provider := `{"id": "http://127.0.0.1/answer", "config": {"headers": {` + strings.Join(headers, ", ") + `}}}`
	id := s.front.run(strings.Replace(judged, `"echo"`, provider, 1))
	run, err := s.db.In(store.DefaultProject).Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Needs) != store.MaxNeeds || !slices.ContainsFunc(run.Needs, func(need string) bool { return strings.HasPrefix(need, engine.TheJudge+"openai:chat:wanted") }) {
		t.Errorf("%d needs: %q", len(run.Needs), run.Needs)
	}
}
