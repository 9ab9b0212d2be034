package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/notify"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// byOutput is a judge that fails an output that contains "sorry", cannot decide one that
// contains "undecided", and passes the rest. It counts its calls.
func byOutput(asked *atomic.Int64) evaluator {
	return func(_ context.Context, r *judge.Request) (*judge.Response, error) {
		asked.Add(1)
		resp := &judge.Response{Status: "pass", Total: len(r.Assertions)}
		for _, a := range r.Assertions {
			one := judge.Result{ID: a.ID, Status: "pass", Pass: true, Reasoning: "It does not say sorry.", Judge: "judge:test"}
			switch {
			case strings.Contains(r.Output, "undecided"):
				one = judge.Result{ID: a.ID, Status: "error", Reasoning: "The judge did not answer."}
			case strings.Contains(r.Output, "sorry"):
				one.Status, one.Pass, one.Reasoning = "fail", false, "It says <sorry>."
			}
			resp.Results = append(resp.Results, one)
		}
		return resp, nil
	}
}

const sorrySet = `{"assertions": [{"id": "tone", "criteria": ["The output does not say sorry"]}, {"id": "short", "check": {"type": "word-count", "value": {"max": 40}}}]}`

// watched starts a server with a set and a watch.
func watched(t *testing.T, o server.Options, watch string) *fixture {
	t.Helper()
	if o.WatchWorkers == 0 {
		o.WatchWorkers = 4
	}
	if o.ChartEvery == 0 {
		o.ChartEvery = 50 * time.Millisecond
	}
	o.Poll, o.Open = 20*time.Millisecond, true
	f := start(t, o)
	f.wants("PUT", "/v1/assertion-sets/replies", sorrySet, 201)
	f.wants("PUT", "/v1/watches/tone", watch, 201)
	return f
}

func (f *fixture) wants(method, path, body string, status int) answer {
	f.t.Helper()
	got := f.ask(method, path, body)
	if got.status != status {
		f.t.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
	}
	return got
}

// eventually repeats a GET request until the response is as expected.
func (f *fixture) eventually(path, what string, is func(*value.Object) bool) *value.Object {
	f.t.Helper()
	var got answer
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = f.ask("GET", path, ""); got.status == 200 {
			if o := got.object(f.t); is(o) {
				return o
			}
		}
	}
	f.t.Fatalf("%s was never so that %s: %d %s\n%s", path, what, got.status, got.body, f.trouble())
	return nil
}

// trouble returns the log without the lines of requests.
func (f *fixture) trouble() string {
	var lines []string
	for line := range strings.Lines(f.log.String()) {
		if !strings.Contains(line, `"level":"INFO"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-10):], "")
}

// events sends n events with outputs from say.
func (f *fixture) events(from, n int, say func(i int) string) {
	f.t.Helper()
	var list []any
	for i := from; i < from+n; i++ {
		list = append(list, value.ObjectOf("id", fmt.Sprint("e", i), "agent", "support", "time", time.Now().UTC().Format(time.RFC3339Nano), "conversation", fmt.Sprint("c", i),
			"input", "Can I return it?", "user", "eve", "output", say(i), "version", "v1", "segment", value.ObjectOf("lang", "de")))
	}
	f.wants("POST", "/v1/events", string(value.AppendJSON(nil, value.ObjectOf("events", list))), 202)
}

const plainWatch = `{"match": {"agent": "support"}, "assertions": "set:replies", "sample": {"rate": 1, "segment": "lang"}, "objectives": {"tone": {"max_fail": 0.05}}}`

// TestWatch: events are sampled, evaluated, and summed up.
func TestWatch(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	f := watched(t, server.Options{Judge: byOutput(&asked)}, plainWatch)
	f.events(0, 60, func(i int) string {
		if i%3 == 0 {
			return "I am sorry."
		}
		return "Within 30 days."
	})
	w := f.eventually("/v1/watches/tone", "all are evaluated", func(o *value.Object) bool {
		return o.Object("spend").At("events").(float64) >= 60 && o.Object("queue").At("pending") == 0.0 // events are read one after the other
	})
	if w.Text("last_verdict") == "" || w.Object("watch").Text("assertions") != "set:replies" {
		t.Errorf("%s", value.AppendJSON(nil, w))
	}
	series := f.wants("GET", "/v1/watches/tone/series?assertion=tone&by=version", "", 200).object(t)
	line := series.At("lines").([]any)[0].(*value.Object)
	total := line.Object("total")
	if total.At("n") != 60.0 || total.At("fail") != 20.0 || total.At("rate").(float64) < 0.33 || total.At("rate").(float64) > 0.34 || line.Text("note") != "judge's rate, not corrected" || line.Text("version") != "v1" {
		t.Errorf("%s", value.AppendJSON(nil, line))
	}
	gaps := 0
	for _, b := range line.At("buckets").([]any) {
		if b == nil {
			gaps++
		}
	}
	if all := len(line.At("buckets").([]any)); gaps < all-2 || gaps == all {
		t.Errorf("%d of %d buckets are null", gaps, all)
	}
	f.correctedByLabels()
	verdicts := f.wants("GET", "/v1/watches/tone/verdicts?status=fail&assertion=tone", "", 200).object(t).At("items").([]any)
	if v := verdicts[0].(*value.Object); len(verdicts) != 20 || v.Text("reason") != "It says <sorry>." || v.Text("segment") != "de" || v.At("probability") != 1.0 {
		t.Errorf("%d, %s", len(verdicts), value.AppendJSON(nil, v))
	}
	if again := f.wants("PUT", "/v1/watches/tone", plainWatch, 200).object(t); again.At("version") != 1.0 {
		t.Errorf("the same watch is version %v", again.At("version"))
	}
	d := f.wants("GET", "/v1/watches/tone/differences", "", 200).object(t)
	if d.Object("traffic").Object("within").At("events") != 60.0 || len(d.At("assertions").([]any)) != 2 {
		t.Errorf("%s", value.AppendJSON(nil, d))
	}
	a := f.wants("GET", "/v1/adoption", "", 200).object(t)
	agent := a.At("agents").([]any)[0].(*value.Object)
	if agent.Text("agent") != "support" || agent.At("assertions") != 2.0 || agent.At("evaluated") != 1.0 || agent.Text("last_evaluated") == "" {
		t.Errorf("%s", value.AppendJSON(nil, a))
	}
	metrics := f.wants("GET", "/metrics", "", 200).body
	for _, want := range []string{`proviso_watch_verdicts_total{project="default",status="fail"} 40`, `proviso_watches{project="default"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	f.wants("DELETE", "/v1/watches/tone", "", 204)
	f.wants("GET", "/v1/watches/tone", "", 404)
	f.events(1000, 1, func(int) string { return "Afterwards." })
}

// correctedByLabels labels some randomly drawn events, and expects a corrected rate.
func (f *fixture) correctedByLabels() {
	f.t.Helper()
	for i := range 30 { // people pass half of what the judge failed
		label := "pass"
		if i%6 == 0 {
			label = "fail"
		}
		f.wants("POST", "/v1/labels", fmt.Sprintf(`{"event": "e%d", "assertion": "tone", "label": "%s", "stratum": "random"}`, i, label), 201)
	}
	line := f.wants("GET", "/v1/watches/tone/series?assertion=tone", "", 200).object(f.t).At("lines").([]any)[0].(*value.Object)
	c := line.Object("total").Object("corrected")
	if rate, _ := c.At("rate").(float64); c.At("labels") != 30.0 || rate < 0.15 || rate > 0.19 || line.Text("note") != "" {
		f.t.Errorf("%s", value.AppendJSON(nil, line))
	}
	if l := f.wants("GET", "/v1/labels?event=e0", "", 200).object(f.t).At("items").([]any)[0].(*value.Object); l.Text("event") != "e0" || l.Text("judged") != "fail" || l.Text("judge") != "judge:test" {
		f.t.Errorf("%s", value.AppendJSON(nil, l))
	}
}

// TestWatchMistakes: every mistake has its position.
func TestWatchMistakes(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, WatchWorkers: 1})
	f.wants("PUT", "/v1/assertion-sets/replies", sorrySet, 201)
	for _, c := range []struct{ body, pointer, message string }{
		{`{"match": {"agent": "a"}, "assertions": "set:none"}`, "/assertions", "there is no assertion set"},
		{`{"match": {"agent": "a"}, "assertions": "set:repliez"}`, "/assertions", "did you mean \"set:replies\"?"},
		{`{"match": {"agent": "a"}, "assertions": "set:replies@1@2"}`, "/assertions", "set:NAME@VERSION"},
		{`{"match": {"agent": "a", "where": "segment.lang"}, "assertions": "set:replies"}`, "/match/where", "it returns a text, not true or false"},
		{`{"match": {"agent": "a\u0007"}, "assertions": "set:replies"}`, "/match/agent", "without control characters"},
		{`{"match": {"agent": "a"}, "assertions": "set:replies", "objectives": {"tne": {"max_fail": 0.1}}}`, "/objectives/tne", `set:replies has no assertion "tne"; did you mean "tone"?`},
		{`{"match": {"agent": "a"}, "assertions": "file://set.yaml"}`, "/assertions", "set:NAME on a server"},
		{`{"match": {"agent": "a"}, "assertions": "set:replies", "notify": ["slack:oncall"]}`, "/notify/0", "--notify FILE"},
		{`{"match": {"agent": "a"}, "assertions": "set:replies", "anchors": {"items": [{"input": "x"}, {"output": "y", "inptu": "z"}]}}`, "/anchors/items/0", "output is missing"},
		{`[]`, "", "has to be an object"},
	} {
		got := f.ask("PUT", "/v1/watches/w", c.body)
		p := got.problem(t)
		if got.status != 422 || len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer || !strings.Contains(p.Errors[0].Message, c.message) {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
	}
	for path, status := range map[string]int{"/v1/watches/none": 404, "/v1/watches/none/series": 404, "/v1/watches/none/thumbs": 404, "/v1/watches/none/differences": 404, "/v1/alarms/none": 404,
		"/v1/alarms?state=loud": 422, "/v1/watches/none/series?step=x": 422, "/v1/alarms?watch=none": 404, "/v1/alarms": 200, "/v1/watches": 200, "/v1/adoption": 200} {
		f.wants("GET", path, "", status)
	}
	f.wants("PUT", "/v1/watches/.hidden", plainWatch, 422)
	f.wants("PUT", "/v1/watches/"+strings.Repeat("w", 95), plainWatch, 422)
	f.wants("PUT", "/v1/watches/"+strings.Repeat("w", 94), plainWatch, 201)
}

// TestWatchCheck: a check reports what storing a watch would do, and stores nothing.
func TestWatchCheck(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, NoJudge: "no judge model is configured"})
	const set = `{"assertions": [{"id": "short", "check": {"type": "word-count", "value": {"max": 40}}}, {"id": "kind", "criteria": ["It is kind"]}]}`
	const watch = `{"match": {"agent": "a"}, "assertions": "set:watch-w", "objectives": {"short": {"max_fail": 0.1}}}`
	for _, c := range []struct{ body, pointer, message string }{
		{`{"watch": ` + watch + `}`, "/watch/assertions", "there is no assertion set"},
		{`{"watch": {"match": {"agent": "a"}, "assertions": "set:watch-w", "objectives": {"shrt": {"max_fail": 0.1}}}, "set": ` + set + `}`, "/watch/objectives/shrt", `did you mean "short"?`},
		{`{"watch": {"match": {"agent": "a"}, "assertions": "set:watch-w@2"}, "set": ` + set + `}`, "/watch/assertions", "no version yet"},
		{`{"watch": ` + watch + `, "set": {"assertions": [{"id": "x"}]}}`, "/set/assertions/0", ""},
		{`{"watch": {"match": {"agent": "a"}}, "set": {"assertions": 3}}`, "/watch", "assertions is missing"},
		{`{"watch": 3}`, "/watch", "an object"},
		{`{"watch": ` + watch + `, "sets": 3}`, "/sets", "unknown field"},
	} {
		got := f.ask("POST", "/v1/watches/w/check", c.body)
		p := got.problem(t)
		if got.status != 422 || len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Pointer, c.pointer) || !strings.Contains(p.Errors[0].Message, c.message) || p.Errors[0].Line != 1 {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
	}
	f.wants("POST", "/v1/watches/"+strings.Repeat("w", 95)+"/check", `{"watch": `+watch+`}`, 422)
	check := func(watch, change string, version float64) {
		t.Helper()
		o := f.wants("POST", "/v1/watches/w/check", `{"watch": `+watch+`, "set": `+set+`}`, 200).object(t)
		warnings, _ := o.At("warnings").([]any)
		if o.Text("change") != change || o.At("version") != version || len(warnings) != 1 || warnings[0] != "kind needs a model as judge, and this server has none: no judge model is configured" {
			t.Errorf("%s", value.AppendJSON(nil, o))
		}
	}
	check(watch, "new", 0)
	f.wants("GET", "/v1/watches/w", "", 404)
	f.wants("GET", "/v1/assertion-sets/watch-w", "", 404)
	f.wants("PUT", "/v1/assertion-sets/watch-w", set, 201)
	stored := f.wants("PUT", "/v1/watches/w", watch, 201).object(t)
	if warnings, _ := stored.At("warnings").([]any); len(warnings) != 1 {
		t.Errorf("%s", value.AppendJSON(nil, stored))
	}
	check(watch, "unchanged", 1)
	check(strings.Replace(watch, `0.1`, `0.2`, 1), "changed", 1)
	f.wants("POST", "/v1/events", `{"events": [{"id": "e", "agent": "support", "output": "x"}]}`, 202)
	if got := f.wants("POST", "/v1/watches/w/check", `{"watch": {"match": {"agent": "suport"}, "assertions": "set:watch-w"}}`, 200); !strings.Contains(got.body, `no event of the agent \"suport\" has come yet; did you mean \"support\"?`) {
		t.Error(got.body)
	}
}

// TestAlarmIsTold: an agent that becomes worse opens an alarm. The alarm reaches a webhook with
// a signature, is acknowledged, and closes by itself.
func TestAlarmIsTold(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if err := notify.Verify("a-long-enough-secret", r.Header, data, time.Now(), time.Minute); err != nil {
			t.Error(err)
		}
		if len(told) == 0 {
			told = append(told, "failed")
			w.WriteHeader(http.StatusBadGateway) // the server must retry
			return
		}
		told = append(told, r.Header.Get(notify.EventHeader)+" "+string(data))
	}))
	defer hook.Close()
	targets, err := notify.Read("notify.yaml", []byte("webhook:ops: {url_env: URL, secret_env: SECRET}"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := notify.Open(targets, notify.Options{Env: proviso.EnvMap{"URL": hook.URL, "SECRET": "a-long-enough-secret"}, Network: transport.New(transport.Options{Hosts: targets.Allows})})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	f := watched(t, server.Options{Judge: byOutput(&asked), Notifier: n, PublicURL: "https://eval.example.com"}, strings.Replace(plainWatch, `"objectives"`, `"notify": ["webhook:ops"], "objectives"`, 1))
	f.events(0, 100, func(int) string { return "Within 30 days." })
	f.eventually("/v1/watches/tone", "the first are evaluated", func(o *value.Object) bool { return o.Object("spend").At("events") == 100.0 })
	began := time.Now()
	f.events(100, 200, func(int) string { return "I am sorry." })
	list := f.eventually("/v1/alarms?state=open&kind=agent", "there is an alarm", func(o *value.Object) bool { return len(o.At("items").([]any)) > 0 })
	t.Logf("an alarm %v after the events were sent", time.Since(began).Round(time.Millisecond))
	a := list.At("items").([]any)[0].(*value.Object)
	if a.Text("assertion") != "tone" || a.Text("watch") != "tone" {
		t.Errorf("%s", value.AppendJSON(nil, a))
	}
	view := f.eventually("/v1/alarms/"+a.Text("id"), "it is told again", func(o *value.Object) bool {
		notices, _ := o.At("notices").([]any)
		return len(notices) == 1 && notices[0].(*value.Object).Text("error") != ""
	})
	if n := view.At("notices").([]any)[0].(*value.Object); n.Text("state") != "waiting" || !strings.Contains(n.Text("error"), "HTTP 502") || n.Text("next_at") == "" {
		t.Errorf("%s", value.AppendJSON(nil, n))
	}
	acked := f.wants("POST", "/v1/alarms/"+a.Text("id")+"/ack", "", 200).object(t)
	if acked.Text("state") != "acked" || acked.Text("acked_by") == "" {
		t.Errorf("%s", value.AppendJSON(nil, acked))
	}
	if noted := f.wants("POST", "/v1/alarms/"+a.Text("id")+"/ack", `{"note": "rolled back"}`, 200).object(t); noted.Text("ack_note") != "rolled back" {
		t.Errorf("%s", value.AppendJSON(nil, noted))
	}
	if w := f.wants("GET", "/v1/watches/tone", "", 200).object(t); w.Text("state") != "alarm" {
		t.Errorf("the watch is %s", w.Text("state"))
	}
	examples := func() int {
		return len(f.wants("GET", "/v1/alarms/"+a.Text("id"), "", 200).object(t).At("examples").([]any))
	}
	before := examples()
	f.wants("POST", "/v1/forget", `{"user": "eve"}`, 200)
	if after := examples(); before == 0 || after != 0 {
		t.Errorf("%d examples, and %d when their user is forgotten", before, after)
	}
}

// TestUndecidedEvent: an event that cannot be decided is retried, and then counts as an error,
// which never counts as a fail.
func TestUndecidedEvent(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	now := atomic.Int64{}
	now.Store(time.Now().UnixNano())
	f := watched(t, server.Options{Judge: byOutput(&asked)}, plainWatch)
	// A cut-off answer is an error of the agent, not a failed assertion.
	f.wants("POST", "/v1/events", `{"events": [{"id": "cut", "agent": "support", "output": "I am sorry.", "error": "the client left", "version": "v1"}]}`, 202)
	f.events(0, 1, func(int) string { return "undecided" })
	w := f.eventually("/v1/watches/tone", "it is tried again", func(o *value.Object) bool { return o.Object("spend").At("events") == 1.0 })
	if w.Object("queue").At("pending") != 1.0 || w.Text("error") != "The judge did not answer." || asked.Load() != 1 {
		t.Errorf("%s", value.AppendJSON(nil, w))
	}
}

// TestThumbs compares thumbs with verdicts.
func TestThumbs(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	f := watched(t, server.Options{Judge: byOutput(&asked)}, plainWatch)
	f.events(0, 60, func(i int) string {
		if i%3 == 0 {
			return "I am sorry."
		}
		return "Within 30 days."
	})
	f.eventually("/v1/watches/tone", "all are evaluated", func(o *value.Object) bool { return o.Object("spend").At("events").(float64) >= 60 })
	thumb := func(i, v int) {
		f.wants("POST", "/v1/feedback", fmt.Sprintf(`{"event": "e%d", "user": "u%d", "value": %d}`, i, i, v), 201)
	}
	for i := range 12 {
		thumb(i, 1)
	}
	of := func() *value.Object {
		for _, a := range f.wants("GET", "/v1/watches/tone/thumbs", "", 200).object(t).At("assertions").([]any) {
			if o := a.(*value.Object); o.Text("assertion") == "tone" {
				return o
			}
		}
		t.Fatal("there is no tone")
		return nil
	}
	if o := of(); o.At("votes") != 12.0 || o.Has("odds_ratio") || o.Text("note") == "" {
		t.Errorf("%s", value.AppendJSON(nil, o))
	}
	for i := 12; i < 48; i++ {
		v := 1
		if i%3 == 0 {
			v = -1
		}
		thumb(i, v)
	}
	o := of()
	if o.At("votes") != 48.0 || o.Object("odds_ratio").At("value").(float64) < 10 || o.Object("auc").At("value").(float64) < 0.8 || o.Object("voted").At("fail") != 0.8 || o.Object("down").At("fail") != 12.0 || o.Object("up").At("fail") != 4.0 {
		t.Errorf("%s", value.AppendJSON(nil, o))
	}
}

// TestStoppedServerContinues: events that wait or are in progress when a server stops are
// evaluated by the next server, and none twice.
func TestStoppedServerContinues(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/proviso.db"
	db := openStore(t, path)
	var asked atomic.Int64
	slow := evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		time.Sleep(5 * time.Millisecond)
		return byOutput(&asked)(ctx, r)
	})
	f := watched(t, server.Options{Store: db, Jobs: db, Judge: slow}, plainWatch)
	f.events(0, 200, func(int) string { return "Within 30 days." })
	f.eventually("/v1/watches/tone", "some are evaluated", func(o *value.Object) bool { return o.Object("spend").At("events").(float64) > 20 })
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	h, err := db.In(store.DefaultProject).WatchHealth(t.Context(), "tone", time.Now())
	if err != nil || h.Leased != 0 || h.Pending == 0 || h.Pending+h.Spend.Calls != 200 {
		t.Errorf("%+v, %v", h, err)
	}
	g := start(t, server.Options{Store: db, Jobs: db, Judge: slow, Open: true, WatchWorkers: 4, Poll: 20 * time.Millisecond, ChartEvery: 20 * time.Millisecond})
	g.eventually("/v1/watches/tone", "all are evaluated", func(o *value.Object) bool { return o.Object("spend").At("events") == 200.0 })
	if n := asked.Load(); n != 200 {
		t.Errorf("%d calls for 200 events", n)
	}
}

var metricName = regexp.MustCompile(`\bproviso_[a-z_]+`)

// TestMonitorFiles: the dashboard and the alert rules name only metrics that exist.
func TestMonitorFiles(t *testing.T) {
	t.Parallel()
	known := server.MetricNames()
	for _, file := range []string{"grafana.json", "alerts.yaml"} {
		data, err := os.ReadFile("../docs/monitor/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if strings.HasSuffix(file, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON", file)
		}
		n := 0
		for _, name := range metricName.FindAllString(text, -1) {
			n++
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, suffix)
			}
			if !known[name] {
				t.Errorf("%s names %s, which is no metric", file, name)
			}
		}
		if n < 5 {
			t.Errorf("%s names %d metrics", file, n)
		}
	}
}
