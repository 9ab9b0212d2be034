package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/value"
)

// tracer records the calls for traces; spans are named after their trace.
type tracer struct {
	deaf bool // no receiver

	mu    sync.Mutex
	begun int
	open  map[string]bool
	asked []string
}

func (t *tracer) Begin() (string, proviso.TraceContext, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deaf {
		return "", proviso.TraceContext{}, false
	}
	t.begun++
	id := fmt.Sprint("made-", t.begun)
	t.open[id] = true
	return id, proviso.TraceContext{Parent: "00-" + id, Endpoint: "http://here"}, true
}

func (t *tracer) End(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
}

func (t *tracer) Spans(_ context.Context, id string) ([]proviso.Span, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = append(t.asked, id)
	return []proviso.Span{{Name: id}}, nil
}

// traced is a provider that records its traces. The prompt sets what it does with them.
type traced struct {
	mu     sync.Mutex
	traces []string
}

func (*traced) ID() string { return "traced" }

func (p *traced) Answer(_ context.Context, ask proviso.Ask) (proviso.Output, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := ask.Prompt + ": none"
	if ask.Trace != nil {
		text = fmt.Sprintf("%s: %s %v", ask.Prompt, ask.Trace.Parent, ask.Trace.Needed)
	}
	p.traces = append(p.traces, text)
	switch {
	case strings.HasPrefix(ask.Prompt, "fails"):
		return proviso.Output{}, errors.New("no answer")
	case strings.HasPrefix(ask.Prompt, "own"):
		return proviso.Output{Value: "x", Metadata: value.ObjectOf("traceId", "own-1")}, nil
	}
	return proviso.Output{Value: "x"}, nil
}

const tracedSuite = `
prompts: ["{{ p }}"]
providers: [traced]
tests:
  - {vars: {p: spans}, assert: [{type: trace-span-count, value: {pattern: made-1, min: 1}}]}
  - {vars: {p: none}, assert: [{type: contains, value: x}]}
  - {vars: {p: own}, assert: [{type: assert-set, assert: [{type: "not-trace-span-count", value: {pattern: made*, min: 1}}]}]}
  - {vars: {p: named}, metadata: {traceId: case-1}, assert: [{type: trace-span-count, value: {pattern: case-1, min: 1}}]}
  - {vars: {p: given}, providerOutput: x, metadata: {traceId: case-2}, assert: [{type: trace-span-count, value: {pattern: case-2, min: 1}}]}
  - {vars: {p: fails}, assert: [{type: trace-span-count, value: {pattern: x}}]}
`

// TestRowsAreTraced runs rows with and without their own trace, and checks that each trace is
// dropped.
func TestRowsAreTraced(t *testing.T) {
	t.Parallel()
	tr, p := &tracer{open: map[string]bool{}}, &traced{}
	open := func(proviso.ProviderSpec) (proviso.Provider, error) { return p, nil }
	out := outcome(t, t.Context(), tracedSuite, nil, run.Options{Engines: run.Engines{Spans: tr, Open: open}, Limits: run.Limits{Concurrency: 1}})
	if got := counts(out); out.Totals.Passed != 5 || out.Totals.Errors != 1 {
		t.Errorf("%s", got)
	}
	want := []string{"spans: 00-made-1 true", "none: 00-made-2 false", "own: 00-made-3 true", "named: 00-made-4 false", "fails: 00-made-5 true"}
	if slices.Sort(p.traces); !slices.Equal(p.traces, slices.Sorted(slices.Values(want))) {
		t.Errorf("the provider got %q", p.traces)
	}
	if len(tr.open) != 0 {
		t.Errorf("not forgotten: %v", tr.open)
	}
	if slices.Sort(tr.asked); !slices.Equal(tr.asked, []string{"case-1", "case-2", "made-1", "own-1"}) {
		t.Errorf("asked for %q", tr.asked)
	}
	ids := []string{}
	for _, row := range rows(t, out) {
		response, _ := row.At("response").(*value.Object)
		ids = append(ids, fmt.Sprint(response.At("traceId")))
	}
	if got := strings.Join(ids, " "); got != "made-1 made-2 own-1 case-1 case-2 <nil>" {
		t.Errorf("the rows name %s", got)
	}
}

// TestRowsAreNotTraced runs without a receiver, and without a tracer.
func TestRowsAreNotTraced(t *testing.T) {
	t.Parallel()
	p := &traced{}
	open := func(proviso.ProviderSpec) (proviso.Provider, error) { return p, nil }
	out := outcome(t, t.Context(), tracedSuite, nil, run.Options{Engines: run.Engines{Spans: &tracer{deaf: true, open: map[string]bool{}}, Open: open}})
	if out.Totals.Errors != 2 || slices.ContainsFunc(p.traces, func(s string) bool { return !strings.HasSuffix(s, ": none") }) {
		t.Errorf("%s, %q", counts(out), p.traces)
	}
	pl, mistakes := plan(t, tracedSuite, nil, run.Options{Engines: run.Engines{Open: open}})
	if err := mistakes.Err(); err == nil || !strings.Contains(err.Error(), `"trace-span-count" needs the spans of a trace: switch tracing on`) || !pl.LooksAtTraces() {
		t.Errorf("%v, looks at traces: %v", mistakes, pl.LooksAtTraces())
	}
}
