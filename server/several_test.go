package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/value"
)

// several starts two servers on one PostgreSQL database, as behind a load balancer, each with
// its own connections. Only the first one executes runs.
func several(t *testing.T, one, other server.Options) (a, b *fixture) {
	t.Helper()
	stores := storesOf(t, 2)
	for i, o := range []*server.Options{&one, &other} {
		if o.Poll == 0 {
			o.Poll = 20 * time.Millisecond
		}
		o.Store = stores[i]
	}
	one.Jobs = stores[0]
	return start(t, one), start(t, other)
}

// storesOf opens a PostgreSQL database several times. It skips the test unless tests with
// PostgreSQL are enabled.
func storesOf(t *testing.T, n int) (stores []testStore) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "several")
	for range n {
		db, err := openPostgres(t, path, sqldb.Options{Poll: 20 * time.Millisecond, Retry: func(int) time.Duration { return time.Millisecond }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		stores = append(stores, db)
	}
	return stores
}

// TestSeveralSessions: a browser session is valid on all servers, and ends on all.
func TestSeveralSessions(t *testing.T) {
	t.Parallel()
	a, b := several(t, server.Options{}, server.Options{})
	secret, key := a.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	// Servers behind a balancer have one host name, so one cookie.
	status := func(f *fixture, method, path, cookie string) int {
		f.t.Helper()
		_, value, _ := strings.Cut(cookie, "=")
		return f.ask(method, path, "", "Cookie: proviso="+value, "Host: eval.example", "Origin: http://eval.example", ownPage).status
	}
	login := func(f *fixture) string { return f.login(secret).cookie }
	here := login(a)
	for _, f := range []*fixture{a, b} {
		if got := status(f, "GET", "/v1/session", here); got != 200 {
			t.Errorf("a session: %d", got)
		}
		if got := status(f, "GET", "/v1/session", here+"A"); got != 401 {
			t.Errorf("no session: %d", got)
		}
	}
	if got := status(b, "DELETE", "/v1/session", here); got != 204 {
		t.Errorf("the logout: %d", got)
	}
	until(t, "the logout counts everywhere", func() bool { return status(a, "GET", "/v1/session", here) == 401 })

	all := []string{login(a), login(b), login(a)}
	if got := status(b, "DELETE", "/v1/session?all=yes", all[0]); got != 204 {
		t.Errorf("the logout of all: %d", got)
	}
	for _, cookie := range all {
		until(t, "the logout of all counts everywhere", func() bool {
			return status(a, "GET", "/v1/session", cookie) == 401 && status(b, "GET", "/v1/session", cookie) == 401
		})
	}

	first := login(a)
	var last string
	for i := range 50 { // the maximum for a key
		last = login([]*fixture{a, b}[i%2])
	}
	until(t, "a key has a bounded number of sessions on all servers", func() bool {
		return status(a, "GET", "/v1/session", first) == 401 && status(b, "GET", "/v1/session", first) == 401
	})
	if got := status(a, "GET", "/v1/session", last); got != 200 {
		t.Errorf("the last login: %d", got)
	}
	if _, err := b.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fixture{a, b} {
		if got := status(f, "GET", "/v1/session", last); got != 401 {
			t.Errorf("after its key: %d", got)
		}
	}
}

// TestSeveralSessionUse: using a session on one server extends its life on the others.
func TestSeveralSessionUse(t *testing.T) {
	t.Parallel()
	o := server.Options{SessionLife: time.Second}
	a, b := several(t, o, o)
	secret, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	for range 5 {
		_, value, _ := strings.Cut(a.login(secret).cookie, "=")
		status := func(f *fixture) int {
			return f.ask("GET", "/v1/session", "", "Cookie: proviso="+value, "Host: eval.example").status
		}
		stalled := false // a busy machine may not use it in time
		for began, last := time.Now(), time.Now(); time.Since(began) < 1200*time.Millisecond && !stalled; {
			got := status(b)
			if stalled = time.Since(last) > 500*time.Millisecond; got != 200 && !stalled {
				t.Fatalf("while it is used: %d", got)
			}
			last = time.Now()
			time.Sleep(20 * time.Millisecond)
		}
		began := time.Now()
		got := status(a)
		if stalled = stalled || time.Since(began) > 300*time.Millisecond; stalled {
			continue
		}
		if got != 200 {
			t.Errorf("the server of the login does not know that it was used: %d", got)
		}
		return
	}
	t.Skip("the machine is too busy")
}

// TestSeveralPanelTokens: a panel token is valid on all servers, for the same page, and ends
// with its key.
func TestSeveralPanelTokens(t *testing.T) {
	t.Parallel()
	o := server.Options{PanelOrigins: []string{panelPage, otherPage}, Hosts: []string{"localhost"}}
	a, b := several(t, o, o)
	secret, key := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	id := a.begin(evaluation, bearer(secret))
	other := a.begin(evaluation, bearer(secret))
	token := b.mint(tokenFor(id, `, "allow": ["read", "label"], "by": "Robin"`), bearer(secret))
	for _, f := range []*fixture{a, b, a} {
		if got := f.ask("GET", "/v1/evaluations/"+id, "", bearer(token), fromPanel); got.status != 200 || at(got.object(t), "agent_output") != "Hello <you>" {
			t.Errorf("%d %s", got.status, got.body)
		}
		for name, got := range map[string]answer{
			"another origin":     f.ask("GET", "/v1/evaluations/"+id, "", bearer(token), fromOther),
			"another evaluation": f.ask("GET", "/v1/evaluations/"+other, "", bearer(token), fromPanel),
			"no page":            f.ask("GET", "/v1/evaluations/"+id, "", bearer(token)),
		} {
			if got.status != 403 {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
		if got := f.ask("GET", "/v1/evaluations/"+id, "", bearer(token+"A"), fromPanel); got.status != 401 {
			t.Errorf("another token: %d", got.status)
		}
	}
	if got := a.ask("POST", "/v1/labels", `{"evaluation": "`+id+`", "assertion": "greets", "label": "fail"}`, bearer(token), fromPanel); got.status != 201 || got.object(t).Text("by") != "Robin" {
		t.Errorf("a label: %d %s", got.status, got.body)
	}
	short := a.mint(tokenFor(id, `, "ttl_s": 1`), bearer(secret))
	if got := b.ask("GET", "/v1/evaluations/"+id, "", bearer(short), fromPanel); got.status != 200 {
		t.Errorf("before its end: %d", got.status)
	}
	until(t, "the token expires everywhere", func() bool {
		return b.ask("GET", "/v1/evaluations/"+id, "", bearer(short), fromPanel).status == 401
	})
	if _, err := a.store.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fixture{a, b} {
		if got := f.ask("GET", "/v1/evaluations/"+id, "", bearer(token), fromPanel); got.status != 401 {
			t.Errorf("after its key: %d", got.status)
		}
	}
}

// TestSeveralStreams: a streamed evaluation can be followed, read, labelled and cancelled on a
// server that does not evaluate it.
func TestSeveralStreams(t *testing.T) {
	t.Parallel()
	j, allow := gatedJudge(t)
	a, b := several(t, server.Options{Judge: j}, server.Options{})
	secret, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate, store.Labelling, store.Read}})
	stranger, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	foreign, _ := a.key(store.NewKey{Project: "b", Scopes: []store.Scope{store.Admin}})
	mine := bearer(secret)
	id := a.begin(threeAsked, mine)
	s := b.open(id, mine)
	if e := s.next(); e == nil || e.name != "start" || e.id != "0" || e.data.At("id") != id {
		t.Fatalf("%+v", e)
	}
	if e := s.next(); e == nil || e.name != "verdict" || e.data.At("id") != "words" {
		t.Fatalf("%+v", e)
	}
	allow("two")
	if e := s.next(); e == nil || e.id != "2" || e.data.At("id") != "two" || e.data.At("status") != "pass" {
		t.Fatalf("%+v", e)
	}
	s.close()
	again := b.open(id, mine, "Last-Event-ID: 1")
	if e := again.next(); e == nil || e.id != "2" {
		t.Fatalf("after a reconnect: %+v", e)
	}
	if got := b.ask("GET", "/v1/evaluations/"+id, "", mine).object(t); got.At("status") != "running" || got.At("agent_output") != "😀 Hello you" {
		t.Errorf("%v", got)
	}
	for name, header := range map[string]string{"another key": bearer(stranger), "another project": bearer(foreign)} {
		for _, method := range []string{"GET", "DELETE"} {
			if got := b.ask(method, "/v1/evaluations/"+id, "", header); got.status != 404 {
				t.Errorf("%s: %s %d", name, method, got.status)
			}
		}
		if got := b.ask("GET", "/v1/evaluations/"+id+"/events", "", header); got.status != 404 {
			t.Errorf("%s: events %d", name, got.status)
		}
	}
	label := func(assertion string) answer {
		return b.ask("POST", "/v1/labels", `{"evaluation": "`+id+`", "assertion": "`+assertion+`", "label": "fail"}`, mine)
	}
	if got := label("two"); got.status != 201 || got.object(t).At("judged") != "pass" {
		t.Errorf("a label: %d %s", got.status, got.body)
	}
	if got := label("nope"); got.status != 422 {
		t.Errorf("a label of no assertion: %d %s", got.status, got.body)
	}
	if got := b.ask("DELETE", "/v1/evaluations/"+id, "", mine); got.status != 204 {
		t.Errorf("cancelled: %d", got.status)
	}
	rest := again.rest()
	if len(rest) != 2 || rest[0].data.At("reasoning") != "cancelled" || rest[1].name != "end" || rest[1].id != "4" {
		t.Errorf("%d events after the cancellation: %+v", len(rest), rest)
	}
	if got := b.ask("GET", "/v1/evaluations/"+id, "", mine).object(t); got.At("status") != "error" || got.At("passed") != 2.0 || got.At("agent_output") != "😀 Hello you" {
		t.Errorf("%v", got)
	}
	if got := b.open(id, mine).rest(); len(got) != 5 || got[4].name != "end" {
		t.Errorf("%d events after the end", len(got))
	}
	if got := b.ask("GET", "/v1/evaluations/"+id+"/events", "", mine, "Last-Event-ID: 4"); got.status != 204 {
		t.Errorf("after the last event: %d", got.status)
	}
}

// TestSeveralLongStreams: clients of another server get all events of long results, which are
// written in several steps.
func TestSeveralLongStreams(t *testing.T) {
	t.Parallel()
	const n = 20
	a, b := several(t, server.Options{Open: true, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		r.Compiled()
		for i := range r.Assertions {
			r.Decided(judge.Decision{Index: i, Result: judge.Result{ID: r.Assertions[i].ID, Status: "pass", Pass: true, Reasoning: strings.Repeat("x\n\n", 100_000)}})
		}
		return passing(ctx, r)
	})}, server.Options{Open: true})
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"id": "a%d", "criteria": ["b"]}`, i))
	}
	id := a.begin(`{"agent_input": "", "agent_output": "x", "assertions": [` + strings.Join(list, ",") + `]}`)
	var all sync.WaitGroup
	for range 2 {
		s := b.open(id)
		all.Go(func() {
			events := s.rest()
			if len(events) != n+2 {
				t.Errorf("%d events", len(events))
			}
			for i, e := range events {
				if e.id != fmt.Sprint(i) {
					t.Errorf("event %d has the id %s", i, e.id)
				}
			}
		})
	}
	all.Wait()
}

// TestSeveralStops: a stopping server completes the evaluations that it accepted, and the
// others report how they ended.
func TestSeveralStops(t *testing.T) {
	t.Parallel()
	for _, patient := range []bool{true, false} {
		j, allow := gatedJudge(t)
		o := server.Options{Open: true, Judge: j, StopTimeout: 100 * time.Millisecond}
		if patient {
			o.StopTimeout = time.Minute
		}
		a, b := several(t, o, server.Options{Open: true})
		a.fails = true
		id := a.begin(threeAsked)
		own := a.open(id)
		allow("two")
		for range 3 {
			own.next()
		}
		stopped := make(chan error, 1)
		go func() { stopped <- a.stop() }()
		own.rest() // the stream ends when the server stops, and the client reconnects to another one
		s := b.open(id, "Last-Event-ID: 2")
		if patient {
			if got := b.ask("GET", "/v1/evaluations/"+id, "").object(t); got.At("status") != "running" {
				t.Errorf("while it stops: %v", got)
			}
			allow("one")
		}
		rest := s.rest()
		want, reason := "pass", "It greets."
		if !patient {
			want, reason = "error", "the server stopped"
		}
		if len(rest) != 2 || rest[1].name != "end" || rest[1].data.At("status") != want || !strings.Contains(rest[0].data.Text("reasoning"), reason) {
			t.Errorf("patient %t: %+v", patient, rest)
		}
		if err := <-stopped; err != nil {
			t.Errorf("patient %t: %v", patient, err)
		}
		if got := b.ask("GET", "/v1/evaluations/"+id, "").object(t); got.At("status") != want {
			t.Errorf("patient %t: %v", patient, got)
		}
	}
}

// TestSeveralRuns: a client can follow and cancel a run on a server that does not execute it.
func TestSeveralRuns(t *testing.T) {
	t.Parallel()
	o := server.Options{Open: true, Runner: suites(t, nil)}
	other := o
	other.Poll = time.Second // the default outside of tests
	a, b := several(t, o, other)
	id := b.run(greeting)
	names, last, _ := b.follow(id)
	if len(names) == 0 || names[len(names)-1] != "end" || last.At("status") != "done" {
		t.Errorf("%v %v", names, last)
	}
	if got := a.ask("GET", "/v1/runs/"+id, ""); got.status != 200 {
		t.Errorf("%d", got.status)
	}
}

// TestSeveralRates: together, servers allow a key the rate of a single server.
func TestSeveralRates(t *testing.T) {
	t.Parallel()
	o := server.Options{Rate: 1, AliveEvery: 50 * time.Millisecond}
	a, b := several(t, o, o)
	burst := func(f *fixture) (served int) {
		secret, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Read}})
		for range 2 {
			if f.ask("GET", "/v1/session", "", bearer(secret)).status == 200 {
				served++
			}
		}
		return served
	}
	until(t, "each server gives half a burst of two", func() bool { return burst(a) == 1 && burst(b) == 1 })
	secret, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	began, served := time.Now(), 0
	for range 10 {
		for _, f := range []*fixture{a, b} {
			switch got := f.ask("GET", "/v1/session", "", bearer(secret)); got.status {
			case 200:
				served++
			case 429:
				if got.header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
			default:
				t.Errorf("%d %s", got.status, got.body)
			}
		}
	}
	if most := 3 + int(time.Since(began).Seconds()); served < 2 || served > most {
		t.Errorf("%d requests were served, want 2 to %d", served, most)
	}
}

// greeted is the answer of a judge, at a quarter of a dollar.
func greeted(r fakemodel.Request) fakemodel.Reply {
	_, id, _ := strings.Cut(r.Prompt, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return fakemodel.Reply{Text: `{"results":[{"id":"` + id + `","criteria":[{"n":1,"reasoning":"Hello.","evidence":[],"met":true}]}]}`,
		Usage: proviso.Usage{Prompt: 1_000_000, Total: 1_000_000}}
}

// TestSeveralBudgets: what a key spends on one server counts on the others.
func TestSeveralBudgets(t *testing.T) {
	t.Parallel()
	j := realJudge(t, greeted)
	a, b := several(t, server.Options{Judge: j}, server.Options{Judge: j})
	budget := 0.6
	secret, key := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Budget: &budget})
	var statuses []int
	for i := range 4 {
		statuses = append(statuses, []*fixture{a, b}[i%2].ask("POST", "/v1/evaluate", mixed, bearer(secret)).status)
	}
	now := must2(b.store.Key(t.Context(), key.ID))(t)
	if now.Spent != 0.5 || fmt.Sprint(statuses) != "[200 200 402 402]" {
		t.Errorf("spent %v of %v: %v", now.Spent, budget, statuses)
	}
}

// TestSeveralBudgetsUnderWay: a running evaluation makes no further call once the key has spent
// its budget on another server.
func TestSeveralBudgetsUnderWay(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	entered, leave := make(chan struct{}), make(chan struct{})
	j := realJudge(t, func(r fakemodel.Request) fakemodel.Reply {
		if calls.Add(1) == 1 {
			close(entered)
			<-leave
		}
		return greeted(r)
	})
	a, b := several(t, server.Options{Judge: j}, server.Options{Judge: j})
	budget := 0.8
	secret, key := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Budget: &budget})
	id := a.begin(`{"agent_input": "Hi", "agent_output": "Hello", "assertions": [{"id": "one", "criteria": ["It greets"]}, {"id": "two", "criteria": ["It greets"]},
		{"id": "three", "criteria": ["It greets"]}]}`, bearer(secret))
	<-entered
	if _, err := b.store.Charge(t.Context(), key.ID, 0.5); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Millisecond) // a read amount is valid this long
	close(leave)
	events := a.open(id, bearer(secret)).rest()
	end := events[len(events)-1].data
	if end.At("passed") != 1.0 || !strings.Contains(value.Stringify(end), "the budget of the key is spent") || calls.Load() != 1 {
		t.Errorf("%d calls: %s", calls.Load(), value.Stringify(end))
	}
	if now := must2(b.store.Key(t.Context(), key.ID))(t); now.Spent != 0.75 {
		t.Errorf("spent %v", now.Spent)
	}
}

// TestSeveralIdempotency: a request that is sent to two servers is executed once.
func TestSeveralIdempotency(t *testing.T) {
	t.Parallel()
	var evaluated atomic.Int32
	entered, leave := make(chan struct{}), make(chan struct{})
	o := server.Options{Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		if evaluated.Add(1) == 1 {
			close(entered)
			<-leave
		}
		return passing(ctx, r)
	})}
	a, b := several(t, o, o)
	secret, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	send := func(f *fixture) answer {
		return f.ask("POST", "/v1/evaluate", evaluation, bearer(secret), "Idempotency-Key: once")
	}
	first := make(chan answer, 1)
	go func() { first <- send(a) }()
	<-entered
	if got := send(b); got.status != 409 || got.header.Get("Retry-After") == "" {
		t.Errorf("while it is answered: %d %s", got.status, got.body)
	}
	close(leave)
	was := <-first
	for _, f := range []*fixture{a, b} {
		if got := send(f); got.status != 200 || got.body != was.body || got.header.Get("Location") != was.header.Get("Location") || got.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("again: %d %s", got.status, got.body)
		}
	}
	if n := evaluated.Load(); n != 1 {
		t.Errorf("evaluated %d times", n)
	}
	if list := b.ask("GET", "/v1/evaluations", "", bearer(secret)).object(t); len(list.At("items").([]any)) != 1 {
		t.Errorf("%v", list)
	}
}

// TestSeveralTrials: a trial can be followed, read and cancelled on a server that does not run
// it.
func TestSeveralTrials(t *testing.T) {
	t.Parallel()
	var waits atomic.Bool
	gate := make(chan struct{})
	model := strict("m")
	answer := model.Reply
	model.Reply = func(c fakejudge.Call) string {
		if waits.Load() {
			<-gate
		}
		return answer(c)
	}
	o := judgedBy(model)
	a, b := several(t, o, o)
	secret, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Read, store.Evaluate, store.Labelling}})
	other, _ := a.key(store.NewKey{Scopes: []store.Scope{store.Labelling, store.Read, store.Evaluate}})
	foreign, _ := a.key(store.NewKey{Project: "b", Scopes: []store.Scope{store.Admin}})
	run := a.trialRun(12)
	a.labelTrial(run, secret, other, 12)
	begin := func() string {
		t.Helper()
		got := a.ask("POST", "/v1/judge-trials", fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {}}`, run), bearer(secret))
		if got.status != 202 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return got.header.Get("Location")
	}
	trial := begin()
	events := b.ask("GET", trial+"/events", "", bearer(secret))
	if !strings.Contains(events.body, "event: end\n") || !strings.Contains(events.body, `"status":"done"`) {
		t.Errorf("%d %s", events.status, events.body)
	}
	if here, there := a.ask("GET", trial, "", bearer(secret)), b.ask("GET", trial, "", bearer(secret)); here.status != 200 || there.body != here.body {
		t.Errorf("on its server %d %s\non another %d %s", here.status, here.body, there.status, there.body)
	}
	waits.Store(true)
	trial = begin()
	if got := b.ask("GET", trial, "", bearer(secret)).object(t); got.At("status") != "running" {
		t.Errorf("%v", got)
	}
	for header, want := range map[string]int{bearer(foreign): 404, bearer(other): 403} {
		if got := b.ask("DELETE", trial, "", header); got.status != want {
			t.Errorf("%d, want %d", got.status, want)
		}
	}
	if got := b.ask("DELETE", trial, "", bearer(secret)); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	time.AfterFunc(100*time.Millisecond, func() { close(gate) })
	if events := b.ask("GET", trial+"/events", "", bearer(secret)); !strings.Contains(events.body, `"status":"cancelled"`) {
		t.Errorf("%d %s", events.status, events.body)
	}
}
