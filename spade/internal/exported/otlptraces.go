package exported

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

// isOTLP recognises a request of OTLP in its JSON form, as the file exporter of the
// OpenTelemetry Collector writes one in each line.
func isOTLP(o *value.Object) bool { return o.Has("resourceSpans") || o.Has("resource_spans") }

// outputsOfOTLP takes the answers of agents, chains and models in the traces of requests. A
// trace may be in several of them.
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
			if more, _ := outputsOfEvent(a.Event); more != nil {
				list = append(list, more...)
			}
		}
	}
	if len(list) == 0 && skipped == "" {
		skipped = "no span in them has the answer of an agent or a model; SDKs record contents only if they are told to"
	}
	return list, skipped
}
