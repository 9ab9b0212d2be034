package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

const greeting = `{"name": "greetings", "suite": {
	"id": "greeter", "description": "Greetings", "prompts": ["Hello {{name}}"], "providers": ["echo"],
	"tests": "file://cases.csv", "defaultTest": {"assert": [{"type": "contains", "value": "Hello", "metric": "greets"}, {"type": "contains", "value": "Ann", "metric": "ann"}]}},
	"files": {"cases.csv": "name\nAnn\nBob\nAnna\n"}}`

// follow reads the events of a run until the last one.
func (f *fixture) follow(run string, headers ...string) (names []string, last *value.Object, id string) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), "GET", f.url+"/v1/runs/"+run+"/events", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == 204 {
		return nil, nil, ""
	}
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" || resp.StatusCode != 200 {
		f.t.Fatalf("%d %s", resp.StatusCode, got)
	}
	scan := bufio.NewScanner(resp.Body)
	for scan.Scan() {
		switch name, val, _ := strings.Cut(scan.Text(), ": "); name {
		case "event":
			names = append(names, val)
		case "id":
			id = val
		case "data":
			v, err := value.ParseJSON(val)
			if err != nil {
				f.t.Fatal(err)
			}
			last = v.(*value.Object)
		}
	}
	return names, last, id
}

// run stores a suite and runs it; it returns the id of the run.
func (f *fixture) run(suite string, headers ...string) string {
	f.t.Helper()
	kept := f.ask("POST", "/v1/suites", suite, headers...)
	if kept.status != 200 && kept.status != 201 {
		f.t.Fatalf("suite: %d %s", kept.status, kept.body)
	}
	got := f.ask("POST", kept.header.Get("Location")+"/runs", "", headers...)
	if got.status != 202 || got.header.Get("Location") != "/v1/runs/"+got.object(f.t).At("id").(string) {
		f.t.Fatalf("run: %d %s", got.status, got.body)
	}
	return got.object(f.t).At("id").(string)
}

func at(v any, path string) any {
	for _, key := range strings.Split(path, ".") {
		o, _ := v.(*value.Object)
		v = o.At(key)
	}
	return v
}

func TestRun(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	id := f.run(greeting)
	names, last, event := f.follow(id)
	if names[len(names)-1] != "end" || at(last, "status") != "done" || at(last, "progress.finished") != 3.0 {
		t.Errorf("%v: %s", names, value.Stringify(last))
	}
	if names, _, _ := f.follow(id, "Last-Event-ID: "+event); names != nil {
		t.Errorf("told again: %v", names)
	}
	run := f.ask("GET", "/v1/runs/"+id, "").object(t)
	for path, want := range map[string]any{
		"agent_id": "greeter", "test_suite": "Greetings", "suite": "greetings", "status": "done", "results.total_cases": 3.0,
		"results.passed_cases": 2.0, "results.failed_cases": 1.0, "results.assertion_breakdown.greets.pass_rate": 1.0,
		"results.assertion_breakdown.ann.passed": 2.0, "results.assertion_breakdown.ann.failed": 1.0, "progress.rows": 3.0,
	} {
		if got := at(run, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if short := f.ask("GET", "/v1/runs/"+id+"?results=no", "").object(t); short.Has("results") || at(short, "progress.finished") != 3.0 {
		t.Errorf("without results it is %s", value.Stringify(short))
	}
	if got := f.ask("GET", "/v1/runs/"+id+"?results=maybe", ""); got.status != 400 && got.status != 422 {
		t.Errorf("results=maybe is %d", got.status)
	}
	if low := at(run, "results.assertion_breakdown.ann.pass_rate_interval.low"); low == nil {
		t.Errorf("no interval: %s", value.Stringify(run))
	}
	f.results(id)
	list := f.ask("GET", "/v1/runs?suite=greetings&status=done", "").object(t)
	if items := list.At("items").([]any); len(items) != 1 || at(items[0], "id") != id {
		t.Errorf("listed %s", value.Stringify(list))
	}
	for path, want := range map[string]int{"?suite=x": 0, "?status=queued": 0, "?until=2020-01-01T00:00:00Z": 0, "?since=2020-01-01T00:00:00Z": 1} {
		if items := f.ask("GET", "/v1/runs"+path, "").object(t).At("items").([]any); len(items) != want {
			t.Errorf("%s lists %d", path, len(items))
		}
	}
}

// results pages through the rows of the run of greeting.
func (f *fixture) results(id string) {
	f.t.Helper()
	var rows []float64
	after := ""
	for range 5 {
		page := f.ask("GET", "/v1/runs/"+id+"/results?limit=2&after="+after, "").object(f.t)
		for _, row := range page.At("items").([]any) {
			rows = append(rows, at(row, "index").(float64))
			if at(row, "id") != fmt.Sprintf("%s/%v", id, at(row, "index")) {
				f.t.Errorf("row id %v", at(row, "id"))
			}
		}
		if after, _ = page.At("next").(string); after == "" {
			break
		}
	}
	if !slices.Equal(rows, []float64{0, 1, 2}) {
		f.t.Errorf("rows %v", rows)
	}
	for query, want := range map[string]int{"status=fail": 1, "status=pass": 2, "assertion=ann&status=pass": 2, "assertion=greets&status=fail": 0, "assertion=nope": 0} {
		if items := f.ask("GET", "/v1/runs/"+id+"/results?"+query, "").object(f.t).At("items").([]any); len(items) != want {
			f.t.Errorf("%s: %d rows, want %d", query, len(items), want)
		}
	}
	if row := f.ask("GET", "/v1/runs/"+id+"/results/1", "").object(f.t); at(row, "verdict") != "fail" {
		f.t.Errorf("row 1: %s", value.Stringify(row))
	}
	for _, index := range []string{"3", "-1", "x"} {
		if got := f.ask("GET", "/v1/runs/"+id+"/results/"+index, ""); got.status != 404 {
			f.t.Errorf("row %s: %d", index, got.status)
		}
	}
}

func TestSuiteVersions(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	first := f.ask("POST", "/v1/suites", greeting)
	if first.status != 201 || first.header.Get("Location") != "/v1/suites/greetings" || first.object(t).At("rows") != 3.0 {
		t.Fatalf("%d %s", first.status, first.body)
	}
	if again := f.ask("POST", "/v1/suites", greeting); again.status != 200 || again.object(t).At("version") != first.object(t).At("version") {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	text := `{"suite": "prompts: [Hi]\nproviders: [echo]\ntests:\n  - assert: [{type: contains, value: H}]\n"}`
	second := f.ask("PUT", "/v1/suites/greetings", text)
	if second.status != 201 || second.object(t).At("number") != 2.0 || second.object(t).At("prompt_hash") == first.object(t).At("prompt_hash") {
		t.Errorf("second: %d %s", second.status, second.body)
	}
	if got := f.ask("GET", "/v1/suites/greetings", "").object(t); !strings.HasPrefix(got.At("suite").(string), "prompts: [Hi]") {
		t.Errorf("current: %s", value.Stringify(got))
	}
	old := f.ask("GET", "/v1/suites/greetings?version="+first.object(t).At("version").(string), "").object(t)
	if at(old, "suite.id") != "greeter" || at(old, "files").(*value.Object).At("cases.csv") != "name\nAnn\nBob\nAnna\n" || old.At("current") != false {
		t.Errorf("old: %s", value.Stringify(old))
	}
	if got := f.ask("GET", "/v1/suites/greetings/versions", "").object(t).At("items").([]any); len(got) != 2 {
		t.Errorf("%d versions", len(got))
	}
	if got := f.ask("GET", "/v1/suites", "").object(t).At("items").([]any); len(got) != 1 {
		t.Errorf("%d suites", len(got))
	}
	started := f.ask("POST", "/v1/suites/greetings/runs", `{"version": "`+first.object(t).At("version").(string)+`", "repeat": 2}`).object(t)
	if started.At("rows") != 6.0 {
		t.Errorf("started %s", value.Stringify(started))
	}
	for body, want := range map[string]int{`{"version": "0000"}`: 404, `{"versoin": "x"}`: 422, `{"repeat": -1}`: 422, `[]`: 422} {
		if got := f.ask("POST", "/v1/suites/greetings/runs", body); got.status != want {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

// TestUntrusted: forbidden parts of a client's suite are rejected with their position.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	for name, tt := range map[string]struct{ suite, code, message string }{
		"code":          {`{"prompts": ["x"], "providers": ["echo"], "tests": [{"assert": [{"type": "javascript", "value": "true"}]}]}`, "refused", "is code"},
		"a command":     {`{"prompts": ["x"], "providers": ["exec:cat /etc/passwd"], "tests": [{}]}`, "refused", ""},
		"a file":        {`{"prompts": ["file:///etc/passwd"], "providers": ["echo"], "tests": [{}]}`, "refused", "outside"},
		"up":            {`{"prompts": ["x"], "providers": ["echo"], "tests": "file://../../proviso.db"}`, "refused", "outside"},
		"environment":   {`{"prompts": ["{{env.HOME}}"], "providers": ["echo"], "tests": [{}]}`, "refused", "HOME"},
		"a host":        {`{"prompts": ["x"], "providers": ["http://169.254.169.254/latest"], "tests": [{}]}`, "refused", "169.254.169.254"},
		"a webhook":     {`{"prompts": ["x"], "providers": ["echo"], "tests": [{"assert": [{"type": "webhook", "value": "http://10.0.0.1/"}]}]}`, "refused", "10.0.0.1"},
		"a misspelling": {`{"prompts": ["x"], "providers": ["echo"], "test": [{}]}`, "invalid", "test"},
		"nothing":       {`{}`, "invalid", ""},
		"syntax":        {`"prompts: [x"`, "invalid", ""},
		"a number":      {`7`, "invalid", "a suite is an object"},
		"endless":       {`{"prompts": ["x"], "providers": ["echo"], "evaluateOptions": {"repeat": 1000000000}, "tests": [{}]}`, "invalid", ""},
	} {
		got := f.ask("POST", "/v1/suites", `{"name": "x", "suite": `+tt.suite+`}`)
		p := got.problem(t)
		if got.status != 422 || len(p.Errors) == 0 || p.Errors[0].Code != tt.code || !strings.Contains(p.Errors[0].Message, tt.message) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if strings.Contains(got.body, "/tmp") {
			t.Errorf("%s: the answer names a folder of the server: %s", name, got.body)
		}
	}
	for _, file := range []string{"../x", "/etc/x", ".env", "a/../../x", "a/.git/x", "", "a\\\\b", "c:x", "proviso.json", "a//b", strings.Repeat("x", 300)} {
		got := f.ask("POST", "/v1/suites", `{"name": "x", "suite": {"prompts": ["x"], "providers": ["echo"], "tests": [{}]}, "files": {"`+file+`": "y"}}`)
		if p := got.problem(t); got.status != 422 || p.Errors[0].Code != "refused" {
			t.Errorf("%q: %d %s", file, got.status, got.body)
		}
	}
	if got := f.ask("POST", "/v1/suites", `{"suite": {"prompts": ["x"], "providers": ["echo"], "tests": [{}]}}`); got.status != 422 || !strings.Contains(got.body, "a name has") {
		t.Errorf("no name: %d %s", got.status, got.body)
	}
}

// slow is a provider whose answers a test releases one by one.
type slow struct {
	proviso.Provider
	asked chan string
	let   chan struct{}

	mu    sync.Mutex
	times map[string]int // number of calls for each prompt
}

func newSlow() *slow {
	return &slow{asked: make(chan string, 100), let: make(chan struct{}, 100), times: map[string]int{}}
}

func (p *slow) ID() string { return "slow" }

func (p *slow) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	p.mu.Lock()
	p.times[ask.Prompt]++
	p.mu.Unlock()
	p.asked <- ask.Prompt
	select {
	case <-p.let:
		cost := 0.01
		return proviso.Output{Value: ask.Prompt, Cost: &cost}, nil
	case <-ctx.Done():
		return proviso.Output{}, ctx.Err()
	}
}

// with opens "openai:slow" as the provider p.
func (p *slow) with(s *server.Suites) *server.Suites {
	s.Engine.Engines.Open = func(spec proviso.ProviderSpec, o provider.Options) (proviso.Provider, error) {
		if spec.ID == "openai:slow" {
			return p, nil
		}
		return provider.Open(spec, o)
	}
	return s
}

func slowSuite(cases, concurrency int) string {
	var tests []string
	for i := range cases {
		tests = append(tests, fmt.Sprintf(`{"vars": {"n": %d}, "assert": [{"type": "contains", "value": "n"}]}`, i))
	}
	return fmt.Sprintf(`{"name": "slow", "suite": {"prompts": ["n {{n}}"], "providers": ["openai:slow"], "evaluateOptions": {"maxConcurrency": %d}, "tests": [%s]}}`,
		concurrency, strings.Join(tests, ","))
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Open: true, Runner: p.with(suites(t, nil))})
	id := f.run(slowSuite(5, 1))
	<-p.asked
	p.let <- struct{}{}
	<-p.asked // the second row is in progress, so the first is finished
	for range 2 {
		got := f.ask("POST", "/v1/runs/"+id+"/cancel", "")
		if got.status != 200 || got.object(t).At("status") != "cancelled" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	names, last, _ := f.follow(id)
	if !slices.Equal(names, []string{"end"}) || at(last, "status") != "cancelled" {
		t.Errorf("%v %s", names, value.Stringify(last))
	}
	run := f.ask("GET", "/v1/runs/"+id, "").object(t)
	if at(run, "progress.finished") != 1.0 || at(run, "results.passed_cases") != 1.0 {
		t.Errorf("%s", value.Stringify(run))
	}
	done := f.run(greeting)
	f.follow(done)
	if got := f.ask("POST", "/v1/runs/"+done+"/cancel", ""); got.status != 409 {
		t.Errorf("a run that is done: %d %s", got.status, got.body)
	}
	if got := f.ask("POST", "/v1/runs/run_nope/cancel", ""); got.status != 404 {
		t.Errorf("no run: %d %s", got.status, got.body)
	}
}

// TestCancelOfOthers: a key that sees the run of another key cannot cancel it.
func TestCancelOfOthers(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Runner: p.with(suites(t, nil))})
	secret := func(scopes ...store.Scope) string { return bearer(must1(f.key(store.NewKey{Scopes: scopes}))) }
	own, other := secret(store.Edit, store.Evaluate), secret(store.Read, store.Edit, store.Evaluate)
	id := f.run(slowSuite(2, 1), own)
	<-p.asked
	if got := f.ask("POST", "/v1/runs/"+id+"/cancel", "", other); got.status != 403 || !strings.Contains(got.body, "only its own key") {
		t.Errorf("another key: %d %s", got.status, got.body)
	}
	if status := f.ask("GET", "/v1/runs/"+id, "", other).object(t).At("status"); status != "running" {
		t.Errorf("the run is %v", status)
	}
	if got := f.ask("POST", "/v1/runs/"+id+"/cancel", "", own); got.status != 200 {
		t.Errorf("its own key: %d %s", got.status, got.body)
	}
}

// TestStreamOfRevokedKey: a stream ends when its key is revoked.
func TestStreamOfRevokedKey(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Runner: p.with(suites(t, nil))})
	admin, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})
	secret, reader := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	id := f.run(slowSuite(3, 1), bearer(admin))
	<-p.asked
	req, err := http.NewRequestWithContext(t.Context(), "GET", f.url+"/v1/runs/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		continue
	}
	if _, err := f.store.RevokeKey(t.Context(), reader.ID); err != nil {
		t.Fatal(err)
	}
	p.let <- struct{}{} // the first row is finished, and the second is in progress
	<-p.asked
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			t.Errorf("the revoked key was sent %s", lines.Text())
			break // the run waits for its second answer
		}
	}
	f.ask("POST", "/v1/runs/"+id+"/cancel", "", bearer(admin))
}

// TestStopAndGoOn: a server that is stopped during a run keeps the rows that are finished or
// that finish in time. The next server runs each remaining row once.
func TestStopAndGoOn(t *testing.T) {
	t.Parallel()
	for name, third := range map[string]int{"in time": 1, "too late": 2} { // number of calls for the row in progress
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "proviso.db")
			p := newSlow()
			db := openStore(t, path)
			o := server.Options{Open: true, Runner: p.with(suites(t, nil)), Store: db, Jobs: db, StopTimeout: time.Minute}
			if third == 2 {
				o.StopTimeout = 2 * time.Second // a fifth of it ends the rows in progress
			}
			f := start(t, o)
			id := f.run(slowSuite(4, 1))
			for range 2 {
				<-p.asked
				p.let <- struct{}{}
			}
			<-p.asked
			stopped := make(chan error, 1)
			go func() { stopped <- f.stop() }()
			if third == 1 {
				select {
				case err := <-stopped:
					t.Errorf("stopped (%v) before the row in progress has ended", err)
				case <-time.After(50 * time.Millisecond):
					p.let <- struct{}{}
				}
			}
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			again := openStore(t, path)
			for range 10 {
				p.let <- struct{}{}
			}
			f = start(t, server.Options{Open: true, Runner: p.with(suites(t, nil)), Store: again, Jobs: again})
			if _, last, _ := f.follow(id); at(last, "status") != "done" || at(last, "progress.passed") != 4.0 {
				t.Errorf("%s", value.Stringify(last))
			}
			for prompt, n := range p.times {
				if want := map[string]int{"n 2": third}[prompt]; n != max(1, want) {
					t.Errorf("%q was asked %d times", prompt, n)
				}
			}
			if items := f.ask("GET", "/v1/runs/"+id+"/results", "").object(t).At("items").([]any); len(items) != 4 {
				t.Errorf("%d rows", len(items))
			}
		})
	}
}

// TestBudget: a key spends no more than its budget, across runs and restarts.
func TestBudget(t *testing.T) {
	t.Parallel()
	p := newSlow()
	for range 100 {
		p.let <- struct{}{}
	}
	f := start(t, server.Options{Runner: p.with(suites(t, nil))})
	budget := 0.035
	secret, key := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Budget: &budget})
	id := f.run(slowSuite(8, 4), bearer(secret))
	_, last, _ := f.follow(id, bearer(secret))
	if at(last, "progress.passed") != 3.0 || at(last, "progress.errors") != 5.0 {
		t.Errorf("%s", value.Stringify(last))
	}
	if key, err := f.store.Key(t.Context(), key.ID); err != nil || key.Spent < 0.0299 || key.Spent > 0.0301 {
		t.Errorf("spent %v, %v", key.Spent, err)
	}
	row := f.ask("GET", "/v1/runs/"+id+"/results?status=error&limit=1", "", bearer(secret))
	if !strings.Contains(row.body, "the budget of the key is spent") {
		t.Errorf("row: %s", row.body)
	}
	for _, path := range []string{"/v1/suites/slow/runs", "/v1/evaluate"} {
		body := map[string]string{"/v1/evaluate": evaluation}[path]
		got := f.ask("POST", path, body, bearer(secret))
		if pr := got.problem(t); got.status != 402 || pr.Code != "budget" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// TestProviders: a key can call only the providers that it may use.
func TestProviders(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Runner: p.with(suites(t, nil))})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Providers: []string{"anthropic:*"}})
	kept := f.ask("POST", "/v1/suites", slowSuite(1, 1), bearer(secret))
	if kept.status != 201 {
		t.Fatalf("%d %s", kept.status, kept.body)
	}
	got := f.ask("POST", "/v1/suites/slow/runs", "", bearer(secret))
	if pr := got.problem(t); got.status != 403 || !strings.Contains(pr.Detail, "may not ask slow") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestAssertionSets(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	set := `{"name": "tone", "prompt": "Be kind.", "assertions": [{"id": "kind", "criteria": ["It is kind"]}]}`
	first := f.ask("POST", "/v1/assertion-sets", set)
	if first.status != 201 || first.header.Get("Location") != "/v1/assertion-sets/tone" {
		t.Fatalf("%d %s", first.status, first.body)
	}
	if again := f.ask("PUT", "/v1/assertion-sets/tone", set); again.status != 200 {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	other := f.ask("PUT", "/v1/assertion-sets/tone", strings.Replace(set, "Be kind.", "Be very kind.", 1))
	if other.status != 201 || at(other.object(t), "number") != 2.0 {
		t.Errorf("another prompt: %d %s", other.status, other.body)
	}
	got := f.ask("GET", "/v1/assertion-sets/tone", "").object(t)
	if got.At("prompt") != "Be very kind." || value.Stringify(got.At("assertions")) != `[{"id":"kind","criteria":["It is kind"]}]` {
		t.Errorf("%s", value.Stringify(got))
	}
	if got := f.ask("GET", "/v1/assertion-sets/tone/versions", "").object(t).At("items").([]any); len(got) != 2 {
		t.Errorf("%d versions", len(got))
	}
	done := f.ask("POST", "/v1/assertion-sets/tone/evaluate", `{"agent_input": "Hi", "agent_output": "Hello"}`)
	if done.status != 200 || at(done.object(t), "passed") != 1.0 {
		t.Errorf("%d %s", done.status, done.body)
	}
	kept := f.ask("GET", done.header.Get("Location"), "").object(t)
	if kept.At("assertion_set_version") != got.At("version") {
		t.Errorf("%s", value.Stringify(kept))
	}
	for body, want := range map[string]int{
		`{"agent_input": "", "agent_output": "", "assertions": []}`: 422, `{}`: 422, `[]`: 422, `{"agent_input": "", "agent_outputs": ""}`: 422, ``: 415,
	} {
		if got := f.ask("POST", "/v1/assertion-sets/tone/evaluate", body); got.status != want {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	for body, message := range map[string]string{
		`{"name": "x"}`: `"assertions" is missing`, `{"name": "x", "assertions": []}`: "", `{"name": "x", "assertions": [{"id": "", "criteria": ["y"]}]}`: "",
		`{"name": "x", "assertions": [{"id": "a", "criteria": ["y"]}, {"id": "a", "criteria": ["y"]}]}`: "", `{"name": "x", "asertions": []}`: `did you mean "assertions"?`,
		`{"name": "../x", "assertions": [{"id": "a", "criteria": ["y"]}]}`: "a name has", `{"name": 3, "assertions": [{"id": "a", "criteria": ["y"]}]}`: "has to be text",
	} {
		if got := f.ask("POST", "/v1/assertion-sets", body); got.status != 422 || !strings.Contains(got.problem(t).Detail, message) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}
