package exported

import (
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

// isEvent recognises an agent's answer as proviso's server accepts it (POST /v1/events) and
// lists it (GET /v1/events).
func isEvent(o *value.Object) bool {
	return o.Text("agent") != "" && (o.Has("output") || o.Has("error")) && (o.Has("id") || o.Has("trace_id") || o.Has("time"))
}

// outputOfEvent reads an event. A user's thumb is its label.
func outputOfEvent(e *value.Object) (out Output, skipped string) {
	out = Output{ID: textOf(e, "id"), Time: TimeOf(e, "time"), Value: answered(e.At("output"))}
	if out.Value == nil || out.Value == "" {
		return out, "they have no output"
	}
	out.asked(e.At("input"))
	if system := e.Text("prompt"); system != "" && !strings.HasPrefix(system, "sha256:") {
		out.System = system
	}
	if text := e.Text("context"); text != "" && out.Vars != nil {
		out.Vars.Set("context", text)
	}
	up, _ := e.At("up").(float64)
	down, _ := e.At("down").(float64)
	said := opinion{good: int(up), bad: int(down)}
	said.label(&out)
	out.Thumb, out.Version = out.Label != "", strings.Clone(e.Text("version"))
	return out, ""
}

// isOTLP recognises an OTLP request in JSON, as the file exporter of the OpenTelemetry
// Collector writes one per line.
func isOTLP(o *value.Object) bool { return o.Has("resourceSpans") || o.Has("resource_spans") }

// outputsOfOTLP returns the answers of agents, chains and models in the traces of requests. A
// trace may be spread over several requests.
func outputsOfOTLP(entries []*value.Object) (list []Output, skipped string) {
	var ids []string
	spans := map[string][]proviso.Span{}
	for _, o := range entries {
		batch, err := otlp.DecodeJSON(value.AppendJSON(nil, o))
		if err != nil {
			skipped = "they are malformed: " + err.Error()
			continue
		}
		for _, r := range batch.Records {
			if spans[r.TraceID] == nil {
				ids = append(ids, r.TraceID)
			}
			spans[r.TraceID] = append(spans[r.TraceID], r.Span)
		}
	}
	for _, id := range ids {
		answers, _ := otlp.Answers(id, spans[id], true)
		for _, a := range answers {
			if out, skipped := outputOfEvent(a.Event); skipped == "" {
				list = append(list, out)
			}
		}
	}
	if len(list) == 0 && skipped == "" {
		skipped = "no span in them has the answer of an agent or a model; SDKs record contents only if they are configured to"
	}
	return list, skipped
}
