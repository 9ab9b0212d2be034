package otlp_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

// collector is an endpoint that stores its requests. status answers the n-th request.
type collector struct {
	*httptest.Server
	status func(n int) int

	mu     sync.Mutex
	bodies [][]byte
	paths  []string
	header http.Header
}

func newCollector(t *testing.T, status func(n int) int) *collector {
	t.Helper()
	c := &collector{status: status}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies, c.paths, c.header = append(c.bodies, body), append(c.paths, req.URL.Path), req.Header
	if status := c.status(len(c.bodies)); status != 200 {
		w.Header().Set("Location", "http://example.invalid/")
		w.WriteHeader(status)
	}
}

func always(status int) func(int) int { return func(int) int { return status } }

// TestExporter sends requests to endpoints that accept them or fail.
func TestExporter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		status   func(n int) int
		requests int
		lost     int
		err      string
	}{
		{"taken", always(200), 2, 0, ""},
		{"taken the second time", func(n int) int { return map[bool]int{true: 503, false: 200}[n == 1] }, 3, 0, ""},
		{"refused", always(401), 2, 6, "status 401"},
		{"a redirect is not followed, for its headers hold keys", always(307), 2, 6, "status 307"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t, tc.status)
			e, err := otlp.NewExporter(otlp.TracesPath, otlp.ExporterOptions{Endpoint: c.URL + "/base/", Header: http.Header{"Api-Key": {"k"}}, Client: c.Client()})
			if err != nil {
				t.Fatal(err)
			}
			e.Send(protobuf, []byte("one"), 2)
			e.Send(jsonBody, []byte("two"), 4)
			items, lost, err := e.Close()
			if items != 6 || lost != tc.lost || (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%d of %d lost: %v", lost, items, err)
			}
			if len(c.bodies) != tc.requests || c.paths[0] != "/base/v1/traces" || c.header.Get("Api-Key") != "k" || c.header.Get("Content-Type") != jsonBody {
				t.Errorf("%d requests to %v with %v", len(c.bodies), c.paths, c.header)
			}
			e.Send(protobuf, []byte("late"), 1)
			if items, lost, _ := e.Close(); items != 7 || lost != tc.lost+1 {
				t.Errorf("after it was closed: %d of %d lost", lost, items)
			}
		})
	}
	for _, endpoint := range []string{"", "localhost:4318", "ftp://example.com", "://"} {
		if _, err := otlp.NewExporter(otlp.TracesPath, otlp.ExporterOptions{Endpoint: endpoint, Client: http.DefaultClient}); err == nil {
			t.Errorf("%q is taken for an endpoint", endpoint)
		}
	}
}

// decoded returns a message as a tree: field numbers and values, in order. paths lists the
// length-delimited fields that are messages.
func decoded(t *testing.T, data []byte, paths map[string]bool, path string) string {
	t.Helper()
	var b strings.Builder
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		m := protowire.ConsumeFieldValue(number, kind, data[n:])
		if n < 0 || m < 0 {
			t.Fatalf("malformed at %s", path)
		}
		value := data[n : n+m]
		at := fmt.Sprintf("%s/%d", path, number)
		switch kind {
		case protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(value)
			if paths[at] {
				fmt.Fprintf(&b, "%d{%s}", number, decoded(t, inner, paths, at))
			} else {
				fmt.Fprintf(&b, "%d:%q ", number, inner)
			}
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			fmt.Fprintf(&b, "%d:%d ", number, v)
		case protowire.Fixed64Type:
			v, _ := protowire.ConsumeFixed64(value)
			if strings.HasSuffix(at, "/2/4") {
				fmt.Fprintf(&b, "%d:%v ", number, math.Float64frombits(v))
			} else {
				fmt.Fprintf(&b, "%d:time ", number)
			}
		}
		data = data[n+m:]
	}
	return b.String()
}

// logPaths are the messages of an ExportLogsServiceRequest.
var logPaths = map[string]bool{
	"/1": true, "/1/1": true, "/1/1/1": true, "/1/1/1/2": true, "/1/2": true, "/1/2/1": true,
	"/1/2/2": true, "/1/2/2/6": true, "/1/2/2/6/2": true,
}

// TestResults sends verdicts as events, and reads them as a backend would.
func TestResults(t *testing.T) {
	t.Parallel()
	c := newCollector(t, always(200))
	e, err := otlp.NewExporter(otlp.LogsPath, otlp.ExporterOptions{Endpoint: c.URL + "/v1/logs", Client: c.Client()})
	if err != nil {
		t.Fatal(err)
	}
	r := otlp.NewResults(e, otlp.Origin{Version: "1.2", Agent: "agent-7", Suite: "orders"})
	res := &proviso.Result{
		Case: &proviso.Case{ID: "c1"}, Provider: &proviso.ProviderSpec{ID: "webhook:https://user:hunter2@example.com/a"},
		Output: proviso.Output{TraceID: traceHex(0x41), Metadata: value.ObjectOf("responseId", "resp_1")},
		Verdicts: []proviso.Verdict{
			{Assertion: &proviso.Assertion{Type: "contains", Metric: "politeness"}, Status: proviso.Pass, Score: 0.5, Reason: "Assertion passed"},
			{Assertion: &proviso.Assertion{Type: "regex"}, Status: proviso.Skip},
			{Assertion: &proviso.Assertion{Type: "llm-rubric"}, Status: proviso.Errored, Reason: "no answer"},
		},
		SetVerdict: []proviso.Verdict{{Assertion: &proviso.Assertion{Type: "judge", ID: "cites"}, Status: proviso.Fail, Score: math.NaN(), Reason: strings.Repeat("x", 9000)}},
	}
	r.Add(res)
	r.Flush()
	r.Flush() // sends nothing, because nothing is left
	if items, lost, err := e.Close(); items != 3 || lost != 0 || err != nil {
		t.Fatalf("%d of %d lost: %v", lost, items, err)
	}
	if len(c.bodies) != 1 || c.paths[0] != "/v1/logs" {
		t.Fatalf("%d requests to %v", len(c.bodies), c.paths)
	}
	got := decoded(t, c.bodies[0], logPaths, "")
	for _, want := range []string{
		`1{1{1:"service.name" 2{1:"proviso" }}1{1:"service.version" 2{1:"1.2" }}}2{1{1:"github.com/proviso-eval/proviso" 2:"1.2" }`,
		`2{1:time 11:time 2:9 6{1:"event.name" 2{1:"gen_ai.evaluation.result" }}6{1:"gen_ai.evaluation.name" 2{1:"politeness" }}6{1:"gen_ai.evaluation.score.value" 2{4:0.5 }}6{1:"gen_ai.evaluation.score.label" 2{1:"pass" }}6{1:"gen_ai.evaluation.explanation" 2{1:"Assertion passed" }}6{1:"gen_ai.response.id" 2{1:"resp_1" }}6{1:"gen_ai.agent.id" 2{1:"agent-7" }}6{1:"proviso.assertion.type" 2{1:"contains" }}6{1:"proviso.suite" 2{1:"orders" }}6{1:"proviso.case.id" 2{1:"c1" }}`,
		`9:"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00A" 12:"gen_ai.evaluation.result" }`,
		`2:13 6{1:"event.name" 2{1:"gen_ai.evaluation.result" }}6{1:"gen_ai.evaluation.name" 2{1:"llm-rubric" }}6{1:"error.type" 2{1:"undecided" }}6{1:"gen_ai.evaluation.explanation" 2{1:"no answer" }}`,
		`6{1:"gen_ai.evaluation.name" 2{1:"cites" }}6{1:"gen_ai.evaluation.score.label" 2{1:"fail" }}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s\nin %s", want, got)
		}
	}
	if strings.Contains(got, "hunter2") || strings.Contains(got, "regex") || len(got) > 9000 {
		t.Errorf("it tells too much: %s", got)
	}
}

// TestResultsAreBatched adds more verdicts than fit into one request.
func TestResultsAreBatched(t *testing.T) {
	t.Parallel()
	c := newCollector(t, always(200))
	e, err := otlp.NewExporter(otlp.LogsPath, otlp.ExporterOptions{Endpoint: c.URL, Client: c.Client()})
	if err != nil {
		t.Fatal(err)
	}
	r := otlp.NewResults(e, otlp.Origin{})
	for range 600 {
		r.Add(&proviso.Result{Verdicts: []proviso.Verdict{{Assertion: &proviso.Assertion{Type: "equals"}, Status: proviso.Pass, Score: 1}}})
	}
	r.Flush()
	if items, lost, err := e.Close(); items != 600 || lost != 0 || err != nil || len(c.bodies) != 3 {
		t.Errorf("%d of %d lost in %d requests: %v", lost, items, len(c.bodies), err)
	}
}
