package server_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// strict is a judge model that finds bad outputs only if a criterion demands it, and does not
// decide outputs that break it.
func strict(name string) *fakejudge.Model {
	return &fakejudge.Model{Name: name, Reply: func(c fakejudge.Call) string {
		return fakejudge.Answered(c, func(_ fakejudge.Assertion, text string) bool {
			return !strings.Contains(c.Output, "bad") || !strings.Contains(text, "strictly") && name != "stern"
		})
	}, Fail: func(c fakejudge.Call) error {
		if strings.Contains(c.Output, "broken") {
			return errors.New("the model is gone")
		}
		return nil
	}}
}

// judgedBy configures a server that runs trials with models.
func judgedBy(models ...*fakejudge.Model) server.Options {
	o := engine.Options{Judge: engine.Judge{Name: models[0].ID()}}
	for _, m := range models {
		o.Engines.Providers = append(o.Engines.Providers, m)
	}
	return server.Options{Judges: &server.Judging{Engine: o}, Poll: 10 * time.Millisecond}
}

// trialRun stores a run of n rows, of which every third is bad. The judge passed all but every
// twelfth.
func (f *fixture) trialRun(n int) string { return f.trialRunOf(store.DefaultProject, n) }

func (f *fixture) trialRunOf(project store.Project, n int) string {
	f.t.Helper()
	h := runfile.Header{Suite: "gone", Started: time.Now(), Meta: value.NewObject(0)}
	line := h.Line()
	run := store.ImportedRun{ID: store.NewID(store.RunID, time.Now()), Suite: "gone", CreatedBy: "key_other", Rows: n, Options: []byte("{}"), Started: h.Started,
		RunFile: store.RunFile{Header: line[:len(line)-1], Trailer: []byte(`{"trailer":{}}`)}}
	_, _, err := f.store.In(project).ImportRun(f.t.Context(), run, func(yield func(store.Result, error) bool) {
		for i := range n {
			data := trialRow(i)
			row, _, _ := store.ReadRow(i, data)
			row.JSON = data
			if !yield(row, nil) {
				return
			}
		}
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return run.ID
}

func trialRow(i int) []byte {
	output, status := "a good answer", "pass"
	if i%3 == 0 {
		output = "a bad answer"
	}
	if i%12 == 0 {
		status = "fail"
	}
	if i == 7 {
		output = "a broken answer"
	}
	criteria := `["{{topic}} is named"]`
	if i == 8 {
		criteria = `["another text"]`
	}
	return fmt.Appendf(nil, `{"index":%d,"caseId":"case %d","promptIdx":0,"prompt":{"raw":"Say it."},"vars":{"topic":"lamps"},"response":{"output":%q},"verdict":%q,"gradingResult":{"componentResults":[
		{"status":%q,"score":1,"judge":"judge-1","reason":"as it was","assertion":{"metric":"cites","type":"judge","instruction":"asks","criteria":%s,"when":"vars.topic == 'x'"}},
		{"status":"pass","assertion":{"type":"contains","value":"days"}}]}}`, i, i, output, status, status, criteria)
}

// labelTrial labels the rows of a run correctly; two people disagree on one.
func (f *fixture) labelTrial(run, secret, other string, n int) {
	f.t.Helper()
	send := func(secret string, i int, label string) {
		f.t.Helper()
		if got := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"run": %q, "index": %d, "assertion": "cites", "label": %q}`, run, i, label), bearer(secret)); got.status != 201 {
			f.t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for i := range n {
		label := "pass"
		if i%3 == 0 {
			label = "fail"
		}
		send(secret, i, label)
	}
	send(other, 1, "fail")
	send(secret, 2, "unsure")
}

// trialOf makes a run with labels and an ended trial, for a key with all rights.
func (f *fixture) trialOf(project store.Project, header string) (run, trial string) {
	f.t.Helper()
	run = f.trialRunOf(project, 6)
	for i, label := range []string{"fail", "pass", "pass", "fail"} {
		f.ask("POST", "/v1/labels", fmt.Sprintf(`{"run": %q, "index": %d, "assertion": "cites", "label": %q}`, run, i, label), header)
	}
	got := f.ask("POST", "/v1/judge-trials", fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {"criteria": ["It says strictly what the customer can do"]}}`, run), header)
	f.ask("GET", got.header.Get("Location")+"/events", "", header)
	return run, got.object(f.t).Text("id")
}

// trialEnd starts a trial and follows its events to the end.
func (f *fixture) trialEnd(secret, body string) *value.Object {
	f.t.Helper()
	got := f.ask("POST", "/v1/judge-trials", body, bearer(secret))
	if got.status != 202 || got.header.Get("Location") != "/v1/judge-trials/"+got.object(f.t).Text("id") {
		f.t.Fatalf("%d %s", got.status, got.body)
	}
	events := f.ask("GET", got.header.Get("Location")+"/events", "", bearer(secret)).body
	_, last, _ := strings.Cut(events, "event: end\n")
	_, data, _ := strings.Cut(last, "data: ")
	v, err := value.ParseJSON(strings.TrimSpace(data))
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		f.t.Fatalf("%v: %s", err, events)
	}
	if held := f.ask("GET", got.header.Get("Location"), "", bearer(secret)).object(f.t); value.Stringify(held) != value.Stringify(o) {
		f.t.Errorf("the last event and the trial differ")
	}
	return o
}

func (f *fixture) people() (admin, ana, ben string) {
	admin, _ = f.key(store.NewKey{Name: "root", Scopes: []store.Scope{store.Admin}})
	ana, _ = f.key(store.NewKey{Name: "Ana", Scopes: []store.Scope{store.Labelling}})
	ben, _ = f.key(store.NewKey{Name: "Ben", Scopes: []store.Scope{store.Labelling}})
	return admin, ana, ben
}

// TestTrial: a stricter criterion finds the bad outputs that the judge passed.
func TestTrial(t *testing.T) {
	t.Parallel()
	usual, stern := strict("usual"), strict("stern")
	f := start(t, judgedBy(usual, stern))
	admin, ana, ben := f.people()
	run := f.trialRun(96)
	f.labelTrial(run, ana, ben, 90)
	base := f.ask("GET", "/v1/judge-trials?assertion=cites&run="+run, "", bearer(admin)).object(t)
	if base.At("labels") != 88.0 || base.At("good") != 58.0 || base.At("work_labels").(float64)+base.At("held_out_labels").(float64) != 88 || base.At("looks") != 0.0 ||
		value.Stringify(base.At("left_out")) != `{"ties":1,"unsure":1,"other_text":0,"not_applied":0,"beyond":0}` || value.Stringify(base.Object("definition").At("criteria")) != `["{{topic}} is named"]` {
		t.Error(value.Stringify(base))
	}
	body := fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {"criteria": ["{{topic}} is strictly named"], "instruction": "Name it."}}`, run)
	end := f.trialEnd(admin, body)
	r := end.Object("result")
	if end.Text("status") != "done" || end.At("total") != 88.0 || end.At("done") != 88.0 || end.At("errors") != 1.0 || end.At("cost").(float64) <= 0 || r == nil {
		t.Fatal(value.Stringify(end))
	}
	if r.At("labels") != 87.0 || r.At("pairs") != 86.0 || r.Object("left_out").At("other_text") != 1.0 || r.Object("before").At("false_pass") != 22.0 || r.Object("after").At("true_fail") != 30.0 ||
		r.Object("after").At("errors") != 1.0 || r.Object("before").At("errors") != 0.0 || r.Object("after").Object("kappa").At("value") != 1.0 || r.Text("finding") != "better" {
		t.Error(value.Stringify(r))
	}
	if value.Stringify(r.At("judge_before")) != `["judge-1"]` || !strings.Contains(value.Stringify(r.At("judge_after")), "usual#") || !strings.Contains(value.Stringify(r.At("failures")), "the model is gone") {
		t.Error(value.Stringify(r.At("judge_before")), value.Stringify(r.At("judge_after")), value.Stringify(r.At("failures")))
	}
	work, held := r.Object("work"), r.Object("held_out")
	if work.At("labels").(float64)+held.At("labels").(float64) != 87 || held.Text("finding") != "better" || held.Object("difference").Object("kappa").At("low").(float64) <= 0 {
		t.Error(value.Stringify(held))
	}
	flips, _ := r.At("flipped").([]any)
	if len(flips) != 22 || at(flips[0], "agrees") != true || at(flips[0], "label") != "fail" || flips[0].(*value.Object).Object("before").Text("reason") != "as it was" {
		t.Errorf("%d flips: %s", len(flips), value.Stringify(r.At("flipped")))
	}
	call := usual.Calls()[0]
	if call.Input != "Say it." || call.Assertions[0].Instruction != "Name it." || !strings.Contains(call.Assertions[0].Text[0], "strictly") {
		t.Errorf("%+v", call)
	}
	if def := r.Object("definition"); def.Text("metric") != "cites" || def.Has("when") {
		t.Error(value.Stringify(def))
	}
	second := f.trialEnd(admin, fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {"judge": "stern"}, "limit": 40}`, run)).Object("result")
	if second.At("looks") != 2.0 || second.Object("left_out").At("beyond") != 48.0 || second.Object("after").At("false_pass") != 0.0 || stern.Count() == 0 {
		t.Error(value.Stringify(second))
	}
}

// TestTrialContext: a judge sees the context of a trial, with the case variables as data. The
// count of looks at the held-out half survives a restart.
func TestTrialContext(t *testing.T) {
	t.Parallel()
	usual := strict("usual")
	f := start(t, judgedBy(usual))
	admin, ana, ben := f.people()
	run := f.trialRun(6)
	f.labelTrial(run, ana, ben, 4)
	body := func(context string) string {
		return fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {"context": %q}}`, run, context)
	}
	f.trialEnd(admin, body("About {{ topic }}: {{missing}} {{ topic | upper }} {{topic"))
	if got, want := usual.Calls()[0].Context, "About lamps: {{missing}} {{ topic | upper }} {{topic"; got != want {
		t.Errorf("the judge sees %q, want %q", got, want)
	}
	if got := f.ask("POST", "/v1/judge-trials", body(strings.Repeat("x", 64<<10)), bearer(admin)); got.status != 422 {
		t.Errorf("a context that is too long: %d %s", got.status, got.body)
	}
	long := f.trialEnd(admin, body(strings.Repeat("{{topic}}", 7000)))
	if long.Text("status") != "done" {
		t.Error(value.Stringify(long))
	}
	if n, err := f.store.In(store.DefaultProject).CountLooks(t.Context(), run, "cites"); n != 2 || err != nil {
		t.Errorf("%d looks are stored: %v", n, err)
	}
}

// TestWrongTrials: an invalid trial gets one clear response.
func TestWrongTrials(t *testing.T) {
	t.Parallel()
	f := start(t, judgedBy(strict("usual")))
	admin, ana, ben := f.people()
	narrow, _ := f.key(store.NewKey{Name: "narrow", Scopes: []store.Scope{store.Evaluate, store.Read}, Providers: []string{"usual"}})
	ci, _ := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	run := f.trialRun(12)
	f.labelTrial(run, ana, ben, 12)
	if got := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"run": %q, "index": 0, "assertion": "contains days", "label": "fail"}`, run), bearer(ana)); got.status != 201 {
		t.Fatal(got.body)
	}
	for _, tt := range []struct {
		secret, body string
		status       int
		want         string
	}{
		{admin, `{"run": "RUN", "assertion": "cits", "change": {}}`, 422, "no output of the run has a label"},
		{admin, `{"run": "RUN", "assertion": "contains days", "change": {}}`, 422, "no judge decides"},
		{admin, `{"run": "RUN", "assertion": "cites", "change": {"criteria": []}}`, 422, "criteria"},
		{admin, `{"run": "RUN", "assertion": "cites", "change": {"criteria": [7]}}`, 422, "criteri"},
		{admin, `{"run": "RUN", "assertion": "cites", "change": {"rubric": "x"}}`, 422, "unknown field"},
		{admin, `{"run": "RUN", "assertion": "cites", "change": {}, "limit": 0}`, 422, "from 1 to 2000"},
		{admin, `{"run": "RUN", "assertion": "cites", "change": {"judge": "exec:rm"}}`, 403, "runs code"},
		{admin, `{"run": "RUN", "assertion": "cites", "change": {"judge": "nobody:x"}}`, 422, "nobody"},
		{narrow, `{"run": "RUN", "assertion": "cites", "change": {"judge": "openai:chat:gpt-5"}}`, 403, "may not ask"},
		{ci, `{"run": "RUN", "assertion": "cites", "change": {}}`, 404, "no run"},
		{ana, `{"run": "RUN", "assertion": "cites", "change": {}}`, 403, "scope"},
		{admin, `{"run": "run_none", "assertion": "cites", "change": {}}`, 404, "run_none"},
	} {
		got := f.ask("POST", "/v1/judge-trials", strings.ReplaceAll(tt.body, "RUN", run), bearer(tt.secret))
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %d %s", tt.body, got.status, got.body)
		}
	}
	if got := f.ask("GET", "/v1/judge-trials/trial_none", "", bearer(admin)); got.status != 404 || !strings.Contains(got.body, "held for an hour") {
		t.Errorf("%d %s", got.status, got.body)
	}
	none := start(t, server.Options{Open: true})
	if got := none.ask("POST", "/v1/judge-trials", `{"run": "r", "assertion": "a", "change": {}}`); !strings.Contains(got.body, "asks no judges") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestTrialEnds: a trial can be cancelled by its key, and ends when it cannot make progress.
func TestTrialEnds(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	slow := strict("slow")
	slow.Fail = func(fakejudge.Call) error {
		<-hold
		return nil
	}
	gone := strict("gone")
	gone.Fail = func(fakejudge.Call) error { return errors.New("the model is gone") }
	f := start(t, judgedBy(slow, gone))
	admin, ana, ben := f.people()
	ci, _ := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	run := f.trialRun(60)
	f.labelTrial(run, ana, ben, 60)
	body := fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {}}`, run)
	one := f.ask("POST", "/v1/judge-trials", body, bearer(admin)).object(t).Text("id")
	two := f.ask("POST", "/v1/judge-trials", body, bearer(admin)).object(t).Text("id")
	if got := f.ask("POST", "/v1/judge-trials", body, bearer(admin)); got.status != 503 || !strings.Contains(got.body, "other trials") {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, id := range []string{one, two} {
		if got := f.ask("DELETE", "/v1/judge-trials/"+id, "", bearer(ci)); got.status != 404 {
			t.Errorf("by somebody else: %d %s", got.status, got.body)
		}
		if got := f.ask("DELETE", "/v1/judge-trials/"+id, "", bearer(admin)); got.status != 204 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	close(hold)
	events := f.ask("GET", "/v1/judge-trials/"+one+"/events", "", bearer(admin)).body
	if !strings.Contains(events, "event: end") || !strings.Contains(events, `"status":"cancelled"`) || strings.Contains(events, `"result"`) {
		t.Errorf("%s", events)
	}
	f.ask("GET", "/v1/judge-trials/"+two+"/events", "", bearer(admin))
	end := f.trialEnd(admin, fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {"judge": "gone"}}`, run))
	if end.Text("status") != "failed" || !strings.Contains(end.Text("error"), "decided none of the first") || end.Has("result") || gone.Count() > 20 {
		t.Errorf("%d calls, %s", gone.Count(), value.Stringify(end))
	}
	if looks := f.ask("GET", "/v1/judge-trials?assertion=cites&run="+run, "", bearer(admin)).object(t).At("looks"); looks != 0.0 {
		t.Errorf("%v looks at a half that was never shown", looks)
	}
}

// TestTrialBudget: a trial stops when the budget of its key is spent, and the remaining outputs
// are not judge errors.
func TestTrialBudget(t *testing.T) {
	t.Parallel()
	f := start(t, judgedBy(strict("usual")))
	_, ana, ben := f.people()
	budget := 0.2 // a call costs 0.01
	secret, key := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate, store.Read}, Budget: &budget})
	run := f.trialRun(60)
	f.labelTrial(run, ana, ben, 60)
	body := fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {}}`, run)
	end := f.trialEnd(secret, body)
	if end.Text("status") != "failed" || !strings.Contains(end.Text("error"), "budget") || end.At("errors").(float64) > 1 {
		t.Error(value.Stringify(end))
	}
	now := must2(f.store.Key(t.Context(), key.ID))(t)
	if now.Spent <= 0 || now.Spent > budget+1e-9 {
		t.Errorf("spent %v of %v", now.Spent, budget)
	}
	if got := f.ask("POST", "/v1/judge-trials", body, bearer(secret)); got.status != 402 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestTrialChargedAsItGoes: a running trial is charged as it spends, so that no charge is lost
// with the process.
func TestTrialChargedAsItGoes(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	model := strict("usual")
	reply, calls := model.Reply, 0
	var mu sync.Mutex
	model.Reply = func(c fakejudge.Call) string {
		mu.Lock()
		calls++
		wait := calls > 8
		mu.Unlock()
		if wait {
			<-held
		}
		return reply(c)
	}
	f := start(t, judgedBy(model))
	defer close(held)
	_, ana, ben := f.people()
	secret, key := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate, store.Read}})
	run := f.trialRun(30)
	f.labelTrial(run, ana, ben, 30)
	if got := f.ask("POST", "/v1/judge-trials", fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {}}`, run), bearer(secret)); got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for range 2000 {
		if must2(f.store.Key(t.Context(), key.ID))(t).Spent >= 0.04 { // a call costs 0.01
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("charged %v while the trial goes on", must2(f.store.Key(t.Context(), key.ID))(t).Spent)
}

// TestTrialsMakeOwnRoom: a key that makes many trials displaces its own trials, and not those
// of others.
func TestTrialsMakeOwnRoom(t *testing.T) {
	t.Parallel()
	f := start(t, judgedBy(strict("usual")))
	_, ana, ben := f.people()
	one, _ := f.key(store.NewKey{Name: "one", Scopes: []store.Scope{store.Evaluate, store.Read}})
	many, _ := f.key(store.NewKey{Name: "many", Scopes: []store.Scope{store.Evaluate, store.Read}})
	run := f.trialRun(6)
	f.labelTrial(run, ana, ben, 6)
	body := fmt.Sprintf(`{"run": %q, "assertion": "cites", "change": {}}`, run)
	mine, first := f.trialEnd(one, body).Text("id"), ""
	for range 110 {
		if id := f.trialEnd(many, body).Text("id"); first == "" {
			first = id
		}
	}
	if got := f.ask("GET", "/v1/judge-trials/"+mine, "", bearer(one)); got.status != 200 {
		t.Errorf("the trial of another key is gone: %d", got.status)
	}
	if got := f.ask("GET", "/v1/judge-trials/"+first, "", bearer(many)); got.status != 404 && got.status != 410 {
		t.Errorf("the first of many is held: %d", got.status)
	}
}
