package exported

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// isLangfuseTrace recognises a trace or an observation of Langfuse: of its API
// (GET /api/public/traces, GET /api/public/observations), of a file of its user interface,
// and of its export to blob storage, whose names have underscores.
func isLangfuseTrace(o *value.Object) bool {
	if !o.Has("output") || !o.Has("input") || !o.Has("id") {
		return false
	}
	trace := o.Has("timestamp") && (o.Has("projectId") || o.Has("project_id") || o.Has("scores") || o.Has("observations") || o.Has("sessionId") || o.Has("session_id"))
	observation := (o.Has("traceId") || o.Has("trace_id")) && (o.Has("startTime") || o.Has("start_time"))
	return trace || observation
}

func outputOfLangfuse(o *value.Object) (list []Output, skipped string) {
	kind := strings.ToUpper(o.Text("type"))
	out := Output{ID: textOf(o, "id"), Time: timeOf(o, "timestamp", "startTime", "start_time")}
	if kind != "" { // an observation
		out.part = textOf(o, "parentObservationId", "parent_observation_id") != "" || kind == "EVENT"
		out.isModel = kind == "GENERATION"
	}
	if out.Value = answered(o.At("output")); out.Value == nil || out.Value == "" {
		return nil, "they have no output"
	}
	if o.Text("level") == "ERROR" {
		return nil, "they ended with an error"
	}
	out.asked(o.At("input"))
	scores, _ := o.At("scores").([]any)
	var said opinion
	for i, s := range scores {
		if score, ok := s.(*value.Object); ok {
			out.scoreOfLangfuse(score, document.Join("/scores", i))
		}
	}
	out.labelIn(o, "", false, &said, "label")
	out.labelIn(o.Object("metadata"), "/metadata", false, &said, "label")
	out.said = said
	return []Output{out}, ""
}

// scoreOfLangfuse takes the scores of people: annotations, and feedback that a program
// sent under the name of a person. Those of evaluators are none.
func (o *Output) scoreOfLangfuse(score *value.Object, at string) {
	source, name := strings.ToUpper(score.Text("source")), score.Text("name")
	given, key := score.At("value"), "value"
	for _, k := range [...]string{"stringValue", "string_value"} {
		if text := textOf(score, k); text != "" {
			given, key = text, k
		}
	}
	switch {
	case source == "EVAL":
	case source != "ANNOTATION" && !byPeople(name):
		if isNearlyLabel(name) && isLabel(given) {
			o.slips = append(o.slips, slip{at: at + "/name", message: "the score " + value.Stringify(name) + " holds a label", meant: "label"})
		}
	default:
		o.score(name, given, at+"/"+key, false)
	}
}
