package server_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/value"
)

// sse is an event of a stream.
type sse struct {
	name, id string
	data     *value.Object
}

// eventStream is an open stream.
type eventStream struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// open opens the event stream of an evaluation.
func (f *fixture) open(id string, headers ...string) *eventStream {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/v1/evaluations/"+id+"/events", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		req.Header.Set(name, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	s := &eventStream{f.t, resp, bufio.NewReader(resp.Body), cancel}
	f.t.Cleanup(s.close)
	return s
}

func (s *eventStream) close() {
	s.cancel()
	s.resp.Body.Close()
}

// next returns the next event, or nil if the stream is over.
func (s *eventStream) next() *sse {
	s.t.Helper()
	e := &sse{}
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return nil
		}
		name, v, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		switch name {
		case "event":
			e.name = v
		case "id":
			e.id = v
		case "data":
			parsed, err := value.ParseJSON(v)
			if err != nil {
				s.t.Fatal(err)
			}
			e.data = parsed.(*value.Object)
		case "":
			if e.name != "" {
				return e
			}
		}
	}
}

// rest returns all remaining events.
func (s *eventStream) rest() (all []*sse) {
	for e := s.next(); e != nil; e = s.next() {
		all = append(all, e)
	}
	return all
}

// begin starts a streamed evaluation and returns its id.
func (f *fixture) begin(body string, headers ...string) string {
	f.t.Helper()
	got := f.ask("POST", "/v1/evaluations", body, headers...)
	if got.status != 202 || got.header.Get("Location") != "/v1/evaluations/"+got.object(f.t).Text("id") {
		f.t.Fatalf("%d %s %s", got.status, got.header.Get("Location"), got.body)
	}
	return got.object(f.t).Text("id")
}

// gatedJudge returns a judge that makes one call for each assertion, and a function that lets
// the calls for an assertion continue.
func gatedJudge(t *testing.T) (j *judge.Judge, allow func(id string)) {
	t.Helper()
	var gates sync.Map
	gate := func(id string) chan struct{} {
		c, _ := gates.LoadOrStore(id, make(chan struct{}))
		return c.(chan struct{})
	}
	over := make(chan struct{})
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		_, id, _ := strings.Cut(r.Prompt, `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		select {
		case <-gate(id):
		case <-over:
		}
		return fakemodel.Reply{Text: `{"results":[{"id":"` + id + `","criteria":[{"n":1,"evidence":["Hello","no such text"],"reasoning":"It greets.","verdict":"met"}]}]}`}
	}})
	t.Cleanup(func() {
		close(over)
		model.Close()
	})
	p, err := provider.Open(proviso.ProviderSpec{ID: "openai:chat:gpt-5-mini"}, provider.Options{
		Env:        proviso.EnvMap{"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": model.URL + "/v1"},
		MaxRetries: -1, Client: transport.New(transport.Options{Wrap: server.Waiting}).Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	j, err = judge.New(judge.Options{Judges: []judge.Seat{{Provider: server.Metered(p), Identity: "fake"}}, Mode: judge.Single, Store: &cacheInMemory{}})
	if err != nil {
		t.Fatal(err)
	}
	return j, func(id string) { close(gate(id)) }
}

// cacheInMemory stores the verdicts of a test.
type cacheInMemory struct{ of sync.Map }

func (c *cacheInMemory) Get(key string) (*value.Object, time.Time, error) {
	if v, ok := c.of.Load(key); ok {
		return v.(*value.Object), time.Time{}, nil
	}
	return nil, time.Time{}, nil
}

func (c *cacheInMemory) Put(key string, v *value.Object) error {
	c.of.Store(key, v)
	return nil
}

const threeAsked = `{"agent_input": "Hi", "agent_output": "😀 Hello you", "assertions": [
	{"id": "one", "instruction": "Greet.", "criteria": ["It greets"]}, {"id": "two", "criteria": ["It greets"]},
	{"id": "words", "check": {"type": "word-count", "value": {"max": 3}}}]}`

// TestStreamedEvaluation: verdicts arrive as they are decided, deterministic ones first, and
// the last event matches the stored evaluation.
func TestStreamedEvaluation(t *testing.T) {
	t.Parallel()
	j, allow := gatedJudge(t)
	f := start(t, server.Options{Open: true, Judge: j})
	id := f.begin(threeAsked)
	s := f.open(id)
	if s.resp.StatusCode != 200 || s.resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", s.resp.StatusCode, s.resp.Header)
	}
	first := s.next()
	if first.name != "start" || first.id != "0" || first.data.Text("id") != id || first.data.At("total") != 3.0 || len(first.data.Text("output_hash")) != 64 ||
		value.Stringify(first.data.At("assertions")) != `[{"index":0,"id":"one","instruction":"Greet."},{"index":1,"id":"two"},{"index":2,"id":"words"}]` {
		t.Errorf("start: %s %s", first.id, value.Stringify(first.data))
	}
	if e := s.next(); e.name != "verdict" || e.id != "1" || e.data.At("index") != 2.0 || e.data.At("status") != "pass" {
		t.Errorf("the check comes first: %s", value.Stringify(e.data))
	}
	if now := f.ask("GET", "/v1/evaluations/"+id, "").object(t); now.At("status") != "running" || now.At("agent_output") != "😀 Hello you" {
		t.Errorf("while it goes on: %s", value.Stringify(now))
	}
	// A person may disagree before the last verdict arrives.
	said := f.ask("POST", "/v1/labels", `{"evaluation": "`+id+`", "assertion": "words", "label": "fail", "evidence": [{"start": 3, "end": 8}]}`)
	if said.status != 201 || said.object(t).Text("judged") != "pass" {
		t.Errorf("a label while it goes on: %d %s", said.status, said.body)
	}
	for _, tt := range [][2]string{{"two", `"evidence": []`}, {"none", `"evidence": []`}, {"words", `"evidence": [{"start": 3, "end": 99}]`}} {
		got := f.ask("POST", "/v1/labels", `{"evaluation": "`+id+`", "assertion": "`+tt[0]+`", "label": "fail", `+tt[1]+`}`)
		if want := map[bool]int{true: 201, false: 422}[tt[0] == "two"]; got.status != want {
			t.Errorf("a label of %s: %d %s", tt, got.status, got.body)
		}
	}
	allow("two")
	e := s.next()
	if e.id != "2" || e.data.At("id") != "two" || e.data.At("index") != 1.0 || value.Stringify(e.data.At("evidence")) != `["Hello"]` ||
		value.Stringify(e.data.At("marks")) != `[{"quote":"Hello","start":3,"end":8}]` {
		t.Errorf("two: %s", value.Stringify(e.data))
	}
	allow("one")
	if e := s.next(); e.id != "3" || e.data.At("id") != "one" {
		t.Errorf("one: %s", value.Stringify(e.data))
	}
	end := s.next()
	if end.name != "end" || end.data.At("passed") != 3.0 || end.data.At("score") != 1.0 || end.data.Has("results") || !end.data.Has("total_ms") || s.next() != nil {
		t.Errorf("end: %s", value.Stringify(end.data))
	}
	kept := f.ask("GET", "/v1/evaluations/"+id, "").object(t)
	if kept.At("status") != "pass" || kept.At("passed") != 3.0 || kept.At("agent_output") != "😀 Hello you" {
		t.Errorf("kept: %s", value.Stringify(kept))
	}
	if again := f.open(id).rest(); len(again) != 5 || again[4].name != "end" {
		t.Errorf("again: %d events", len(again))
	}
	if later := f.open(id, "Last-Event-ID: 2").rest(); len(later) != 2 || later[0].id != "3" {
		t.Errorf("after the second: %d events", len(later))
	}
	if got := f.ask("GET", "/v1/evaluations/"+id+"/events", "", "Last-Event-ID: 4"); got.status != 204 {
		t.Errorf("after the last: %d", got.status)
	}
	if got := f.ask("GET", "/v1/evaluations/"+id+"/events", "", "Last-Event-ID: x"); got.status != 422 {
		t.Errorf("no number: %d", got.status)
	}
	again := f.open(f.begin(threeAsked)).rest() // all verdicts are cached
	if len(again) != 5 || again[4].data.At("passed") != 3.0 || again[2].data.At("cached") != true {
		t.Errorf("from the store: %d events", len(again))
	}
	times := f.ask("GET", "/v1/settings", "").object(t).Object("evaluations")
	if times.At("count") != 2.0 || times.At("p50_ms") == nil || times.At("p95_ms").(float64) < times.At("p50_ms").(float64) {
		t.Errorf("times: %s", value.Stringify(times))
	}
	if got := f.ask("GET", "/metrics", "").body; !strings.Contains(got, `proviso_streamed_evaluation_seconds_count{project="default"} 2`) {
		t.Error("not in the metrics")
	}
}

// TestCancelEvaluation: decided verdicts stay, and the rest is undecided.
func TestCancelEvaluation(t *testing.T) {
	t.Parallel()
	j, allow := gatedJudge(t)
	f := start(t, server.Options{Open: true, Judge: j})
	id := f.begin(threeAsked)
	s := f.open(id)
	allow("two")
	for range 3 {
		s.next()
	}
	if got := f.ask("DELETE", "/v1/evaluations/"+id, ""); got.status != 204 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	e, end := s.next(), s.next()
	if e.data.At("id") != "one" || e.data.At("status") != "error" || e.data.At("reasoning") != "cancelled" {
		t.Errorf("the rest: %s", value.Stringify(e.data))
	}
	if end.data.At("passed") != 2.0 || end.data.At("status") != "error" || value.Stringify(end.data.At("errors")) != `[{"id":"one","message":"cancelled"}]` {
		t.Errorf("end: %s", value.Stringify(end.data))
	}
	if kept := f.ask("GET", "/v1/evaluations/"+id, "").object(t); kept.At("passed") != 2.0 || kept.At("errors") != 1.0 {
		t.Errorf("kept: %s", value.Stringify(kept))
	}
	if got := f.ask("DELETE", "/v1/evaluations/"+id, ""); got.status != 204 {
		t.Errorf("again: %d %s", got.status, got.body)
	}
	if got := f.ask("DELETE", "/v1/evaluations/ev_nope", ""); got.status != 404 {
		t.Errorf("of nobody: %d %s", got.status, got.body)
	}
}

// TestStreamRequests: an invalid request gets a problem at once.
func TestStreamRequests(t *testing.T) {
	t.Parallel()
	var failure error
	f := start(t, server.Options{Open: true, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		if failure != nil {
			return nil, failure
		}
		return passing(ctx, r)
	})})
	for _, body := range []string{exampleSet, strings.Replace(exampleSet, "40", "50", 1)} {
		if got := f.ask("PUT", "/v1/assertion-sets/replies", body); got.status != 201 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	versions := f.ask("GET", "/v1/assertion-sets/replies/versions", "").object(t).At("items").([]any)
	hash := at(versions[1], "version").(string)
	const pair = `{"agent_input": "", "agent_output": "Hello", `
	for _, tt := range []struct {
		name, body string
		status     int
		detail     string
	}{
		{"nothing", `{}`, 422, "agent_input"},
		{"no assertions", pair + `"keep_s": 1}`, 422, "assertions"},
		{"a set", pair + `"set": "replies"}`, 202, ""},
		{"its first version", pair + `"set": "replies@1"}`, 202, ""},
		{"a hash", pair + `"set": "replies@` + hash[:8] + `"}`, 202, ""},
		{"the whole hash", pair + `"set": "replies@` + hash + `"}`, 202, ""},
		{"too few digits", pair + `"set": "replies@` + hash[:7] + `"}`, 422, "8 or more digits"},
		{"no such version", pair + `"set": "replies@3"}`, 404, "no version 3"},
		{"no such hash", pair + `"set": "replies@00000000"}`, 404, "no version"},
		{"no such set", pair + `"set": "nope@1"}`, 404, "nope"},
		{"an odd version", pair + `"set": "replies@x' OR 1=1"}`, 422, "version"},
		{"a set and assertions", strings.Replace(evaluation, "{", `{"set": "replies", `, 1), 422, "those of the set"},
		{"a set that is no text", pair + `"set": 1}`, 422, "/set"},
		{"kept too long", pair + `"set": "replies", "keep_s": 3601}`, 422, "1 to 3600"},
		{"kept for half a second", pair + `"set": "replies", "keep_s": 0.5}`, 422, "1 to 3600"},
		{"an unknown field", pair + `"sett": "replies"}`, 422, `did you mean "set"`},
		{"a list", `[]`, 422, "an object"},
	} {
		got := f.ask("POST", "/v1/evaluations", tt.body)
		if got.status != tt.status || tt.status != 202 && !strings.Contains(got.problem(t).Detail, tt.detail) {
			t.Errorf("%s: %d %s", tt.name, got.status, got.body)
		}
	}
	failure = judge.Mistakes{{Code: proviso.Invalid, Pointer: "/assertions/0/id", Message: "no id"}}
	if got := f.ask("POST", "/v1/evaluations", evaluation); got.status != 422 || got.problem(t).Errors[0].Column == 0 {
		t.Errorf("a mistake of the assertions: %d %s", got.status, got.body)
	}
	failure = proviso.Errorf(proviso.Unavailable, "the judge is away")
	if got := f.ask("POST", "/v1/evaluations", evaluation); got.status != 503 {
		t.Errorf("no judge: %d %s", got.status, got.body)
	}
	failure = nil
	one, two := f.ask("POST", "/v1/evaluations", evaluation, "Idempotency-Key: k1"), f.ask("POST", "/v1/evaluations", evaluation, "Idempotency-Key: k1")
	if one.status != 202 || two.body != one.body || two.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same again: %d %s, %d %s", one.status, one.body, two.status, two.body)
	}
}
