package otlp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
)

// TestMonitored sends verdicts of a watch as events.
func TestMonitored(t *testing.T) {
	t.Parallel()
	c := newCollector(t, always(200))
	e, err := otlp.NewExporter(otlp.LogsPath, otlp.ExporterOptions{Endpoint: c.URL, Client: c.Client()})
	if err != nil {
		t.Fatal(err)
	}
	r := otlp.NewResults(e, otlp.Origin{Version: "1.2"})
	half := 0.5
	m := otlp.Monitored{Assertion: "tone", Status: proviso.Fail, Score: &half, Reason: strings.Repeat("x", 9000), Agent: "support", AgentVersion: "v2", Watch: "support-tone", Judge: "j",
		Event: "e1", Conversation: "c1", TraceID: traceHex(0x41), ResponseID: "chatcmpl-1", At: time.Unix(1_900_000_000, 0)}
	r.AddMonitored(&m)
	r.AddMonitored(&otlp.Monitored{Assertion: "skipped", Status: proviso.Skip})
	r.AddMonitored(&otlp.Monitored{Assertion: "undecided", Status: proviso.Errored, Reason: "no answer"})
	r.Flush()
	if items, lost, err := e.Close(); items != 2 || lost != 0 || err != nil {
		t.Fatalf("%d of %d lost: %v", lost, items, err)
	}
	got := decoded(t, c.bodies[0], logPaths, "")
	for _, want := range []string{
		`6{1:"gen_ai.evaluation.name" 2{1:"tone" }}6{1:"gen_ai.evaluation.score.value" 2{4:0.5 }}6{1:"gen_ai.evaluation.score.label" 2{1:"fail" }}`,
		`6{1:"gen_ai.response.id" 2{1:"chatcmpl-1" }}6{1:"gen_ai.agent.id" 2{1:"support" }}6{1:"gen_ai.conversation.id" 2{1:"c1" }}6{1:"proviso.agent.version" 2{1:"v2" }}6{1:"proviso.watch" 2{1:"support-tone" }}6{1:"proviso.judge" 2{1:"j" }}6{1:"proviso.event.id" 2{1:"e1" }}`,
		`9:"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00A" 12:"gen_ai.evaluation.result" }`,
		`2:13 6{1:"event.name" 2{1:"gen_ai.evaluation.result" }}6{1:"gen_ai.evaluation.name" 2{1:"undecided" }}6{1:"error.type" 2{1:"undecided" }}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s\nin %s", want, got)
		}
	}
	if strings.Contains(got, "skipped") || len(got) > 9000 {
		t.Errorf("it tells too much: %d characters", len(got))
	}
}
