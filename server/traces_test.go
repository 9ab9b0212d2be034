package server_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// traceNamed returns a trace id.
func traceNamed(n int) string { return fmt.Sprintf("%032x", n) }

// spansOf returns a request with spans of a trace. Each span after the first is a tool call
// below the first.
func spansOf(trace, parent string, tools ...string) string {
	span := func(id int, parent, name, tool string) string {
		return fmt.Sprintf(`{"traceId":"%s","spanId":"%016x","parentSpanId":"%s","name":"%s","startTimeUnixNano":"%d","endTimeUnixNano":"%d",`+
			`"attributes":[{"key":"gen_ai.tool.name","value":{"stringValue":"%s"}},{"key":"user.mail","value":{"stringValue":"ann@example.com"}}]}`,
			trace, id, parent, name, 1_000_000_000+id, 2_000_000_000, tool)
	}
	list := []string{span(1, parent, "invoke_agent", "")}
	for i, tool := range tools {
		list = append(list, span(i+2, fmt.Sprintf("%016x", 1), "execute_tool "+tool, tool))
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(list, ",") + `]}]}]}`
}

// traceJudge returns a judge without a model.
func traceJudge(t *testing.T) server.Evaluator {
	return realJudge(t, func(fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{} })
}

// about returns an evaluation of a trace: the tool mail was called.
func about(trace string) string {
	return `{"agent_input": "Hi", "agent_output": "sent", "trace_id": "` + trace + `",
		"assertions": [{"id": "mails", "check": {"type": "trajectory:tool-used", "value": "mail"}}]}`
}

// TestSpans sends spans in all formats, and invalid bodies.
func TestSpans(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Judge: traceJudge(t), BodyLimit: 20_000, Traces: server.TraceLimits{OneTrace: 3, Wait: 50 * time.Millisecond}})
	zip := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, s) // to memory
		_ = w.Close()
		return b.String()
	}
	const protobuf = "Content-Type: application/x-protobuf"
	taken, refused := 7, 1
	tooMany := `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"the trace ` + traceNamed(3) + ` has 3 spans already"}}`
	if onPostgres() { // servers that share a store keep or refuse the spans of a request together
		taken, refused = 4, 4
		tooMany = `{"partialSuccess":{"rejectedSpans":"4","errorMessage":"the trace ` + traceNamed(3) + ` would have 4 spans, more than 3"}}`
	}
	for _, tc := range []struct {
		name, body string
		headers    []string
		status     int
		answer     string // a part of the response
	}{
		{"JSON", spansOf(traceNamed(1), "", "mail"), nil, 200, "{}"},
		{"in gzip", zip(spansOf(traceNamed(2), "", "mail")), []string{"Content-Encoding: gzip"}, 200, "{}"},
		{"protobuf", "\x0a\x00", []string{protobuf}, 200, ""},
		{"nothing", "", []string{protobuf}, 200, ""},
		{"more than a trace may have", spansOf(traceNamed(3), "", "mail", "a", "b"), nil, 200, tooMany},
		{"malformed", `{"resourceSpans": 5}`, nil, 400, `"code":3`},
		{"malformed protobuf", "abc", []string{protobuf}, 400, "malformed protobuf"},
		{"of another type", "hello", []string{"Content-Type: text/plain"}, 415, "is neither"},
		{"too large", strings.Repeat(" ", 20_001), nil, 413, "--body-limit"},
		{"too large when it is unpacked", zip(strings.Repeat(" ", 100_000)), []string{"Content-Encoding: gzip"}, 413, "more than 20000 bytes"},
		{"a page of another site", spansOf(traceNamed(4), "", "mail"), []string{"Origin: http://evil.example"}, 403, "another origin"},
	} {
		got := f.ask("POST", "/v1/traces", tc.body, tc.headers...)
		if got.status != tc.status || !strings.Contains(got.body, tc.answer) {
			t.Errorf("%s: %d %s", tc.name, got.status, got.body)
		}
	}
	for id, want := range map[int]string{1: "pass", 2: "pass", 3: "error", 4: "error"} {
		if got := f.ask("POST", "/v1/evaluate", about(traceNamed(id))); at(got.object(t), "status") != want {
			t.Errorf("trace %d: %s, want %s", id, got.body, want)
		}
	}
	// A second evaluation of the same trace finds it, also by its traceparent.
	if got := f.ask("POST", "/v1/evaluate", about("00-"+traceNamed(1)+"-00000000000000aa-01")); at(got.object(t), "status") != "pass" {
		t.Errorf("again: %s", got.body)
	}
	wrong := f.ask("POST", "/v1/evaluate", about("order-5"))
	if p := wrong.problem(t); p.Status != 422 || p.Errors[0].Pointer != "/trace_id" || !strings.Contains(p.Errors[0].Message, "32 hexadecimal digits") {
		t.Errorf("%s", wrong.body)
	}
	without := f.ask("POST", "/v1/evaluate", strings.Replace(about(""), `"trace_id": "",`, "", 1))
	if !strings.Contains(without.body, "trace_id in a request") {
		t.Errorf("%s", without.body)
	}
	metrics := f.ask("GET", "/metrics", "").body
	for _, want := range []string{fmt.Sprintf(`proviso_spans_total{project="default",status="taken"} %d`, taken), fmt.Sprintf(`proviso_spans_total{project="default",status="refused"} %d`, refused), `proviso_spans_held{project="default"} 7`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestSpansOfKeys: spans of one key are invisible to others, and a key that floods the server
// drops its own spans first.
func TestSpansOfKeys(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Judge: traceJudge(t), Traces: server.TraceLimits{Spans: 40, Wait: 50 * time.Millisecond}})
	secret := func(scope store.Scope) string {
		s, _ := f.key(store.NewKey{Scopes: []store.Scope{scope}})
		return bearer(s)
	}
	ann, bob, reader := secret(store.Evaluate), secret(store.Evaluate), secret(store.Read)
	for who, want := range map[string]int{"X: y": 401, bearer("pvk_wrong"): 401, reader: 403, ann: 200} {
		if got := f.ask("POST", "/v1/traces", spansOf(traceNamed(1), "", "mail"), who); got.status != want {
			t.Errorf("%s: %d, want %d", who, got.status, want)
		}
	}
	decided := func(who string, trace int) any {
		return at(f.ask("POST", "/v1/evaluate", about(traceNamed(trace)), who).object(t), "status")
	}
	if a, b := decided(ann, 1), decided(bob, 1); a != "pass" || b != "error" {
		t.Errorf("the sender has %v, another key %v", a, b)
	}
	for i := range 100 { // including the same id, as an attacker might guess it
		if got := f.ask("POST", "/v1/traces", spansOf(traceNamed(1+i), "", "delete", "refund"), bob); got.status != 200 || got.body != "{}" {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	gone := "error"
	if onPostgres() { // no longer in memory, but in the database
		gone = "fail"
	}
	if a, old, young := decided(ann, 1), decided(bob, 2), decided(bob, 100); a != "pass" || old != gone || young != "fail" {
		t.Errorf("the quiet key has %v, the loud one %v for an old trace and %v for a new one", a, old, young)
	}
	if m := f.ask("GET", "/metrics", "", reader).body; !strings.Contains(m, `proviso_spans_held{project="default"} 38`) {
		t.Errorf("more is held than may be: %s", m)
	}
}

// TestSpansAge: unused spans are dropped.
func TestSpansAge(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Traces: server.TraceLimits{Age: 10 * time.Millisecond}})
	f.ask("POST", "/v1/traces", spansOf(traceNamed(1), "", "mail"))
	for range 4000 {
		if strings.Contains(f.ask("GET", "/metrics", "").body, `proviso_spans_held{project="default"} 0`) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the spans are still held")
}

// tracedAgent is an agent behind HTTP: it sends mail, and sends its spans to a server.
type tracedAgent struct{ url, key string }

func (a *tracedAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.Header.Get("Traceparent"), "-")
	if len(parts) != 4 {
		http.Error(w, "no traceparent", http.StatusBadRequest)
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, a.url+"/v1/traces", strings.NewReader(spansOf(parts[1], parts[2], "mail")))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+a.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		http.Error(w, "the spans were not taken", http.StatusInternalServerError)
		return
	}
	resp.Body.Close()
	_, _ = io.WriteString(w, `{"output":"sent"}`)
}

// TestTracedRun runs suites with assertions on the spans of an agent.
func TestTracedRun(t *testing.T) {
	t.Parallel()
	agent := &tracedAgent{}
	behind := httptest.NewServer(agent)
	defer behind.Close()
	s := suites(t, nil)
	s.Engine.Policy.Hosts = []string{"127.0.0.1"}
	f := start(t, server.Options{Runner: s})
	agent.url = f.url
	agent.key, _ = f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	other, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})
	suite := `{"name": "NAME", "suite": {"prompts": ["Mail Ann"], "providers": ["webhook:` + behind.URL + `"],
		"tracing": {"enabled": true, "waitMs": 50, "file": "file://recorded.jsonl", "otlp": {"http": {"redactAttributes": ["mail"]}},
			"emit": {"endpoint": "` + behind.URL + `"}},
		"tests": [
			{"assert": [{"type": "trajectory:tool-used", "value": "mail", "metric": "mails"}, {"type": "trace-span-count", "value": {"pattern": "*", "min": 2, "max": 2}}]},
			{"metadata": {"traceId": "` + traceNamed(9) + `"}, "assert": [{"type": "trajectory:tool-used", "value": "search"}]}]},
		"files": {"recorded.jsonl": ` + value.Stringify(spansOf(traceNamed(9), "", "search")) + `}}`
	for who, want := range map[string][2]any{agent.key: {2.0, 0.0}, other: {1.0, 1.0}} {
		named := strings.Replace(suite, "NAME", "n"+strings.ToLower(who[len(who)-8:]), 1)
		id := f.run(named, bearer(who))
		f.follow(id, bearer(who))
		run := f.ask("GET", "/v1/runs/"+id, "", bearer(who)).object(t)
		if got := [2]any{at(run, "results.passed_cases"), at(run, "results.error_cases")}; got != want {
			t.Errorf("%v passed and undecided, want %v: %s", got, want, f.ask("GET", "/v1/runs/"+id+"/results", "", bearer(who)).body)
		}
	}
	kept := f.ask("POST", "/v1/suites", suite, bearer(agent.key))
	if warnings, _ := kept.object(t).At("warnings").([]any); len(warnings) != 1 || !strings.Contains(kept.body, "tracing.emit is for proviso eval") {
		t.Errorf("%d %s", kept.status, kept.body)
	}
	// Settings that a suite may not use.
	for part, want := range map[string]string{
		`"emit": {"endpoint": "http://evil.example"}`:      "the host evil.example may not be asked",
		`"forwarding": {"endpoint": "http://169.254.0.1"}`: "the host 169.254.0.1 may not be asked",
		`"otlp": {"http": {"host": "0.0.0.0"}}`:            "listens on the loopback address alone",
		`"file": "file://../other.jsonl"`:                  "other.jsonl",
	} {
		got := f.ask("POST", "/v1/suites", `{"name": "x", "suite": {"prompts": ["p"], "providers": ["echo"], "tests": [{}], "tracing": {"enabled": true, `+part+`}}}`, bearer(other))
		if got.status != 422 && got.status != 403 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", part, got.status, got.body)
		}
	}
}
