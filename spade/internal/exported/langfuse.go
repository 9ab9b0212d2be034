package exported

import (
	"errors"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// isLangfusePrompt recognises a prompt version from Langfuse's API, GET
// /api/public/v2/prompts/{name}, and a row of the list of prompts, which has no text.
func isLangfusePrompt(o *value.Object) bool {
	_, numbered := o.At("version").(float64)
	_, labels := o.At("labels").([]any)
	kind := o.Text("type")
	if isListOfLangfuse(o) {
		return true
	}
	return numbered && o.Text("name") != "" && o.At("prompt") != nil && (labels || kind == "text" || kind == "chat")
}

// isListOfLangfuse recognises a row of the list of prompts: names with their version numbers.
func isListOfLangfuse(o *value.Object) bool {
	versions, ok := o.At("versions").([]any)
	if !ok || !o.Has("lastUpdatedAt") {
		return false
	}
	_, numbers := first(versions).(float64)
	return len(versions) == 0 || numbers
}

func versionOfLangfuse(o *value.Object) (Version, error) {
	if isListOfLangfuse(o) {
		return Version{}, errors.New("this is the list of prompts, which has no texts; get each version: GET /api/public/v2/prompts/NAME?version=N")
	}
	text, ok := PromptText(o.At("prompt"))
	if !ok {
		return Version{}, errors.New("the prompt is neither a text nor a list of messages")
	}
	n, _ := o.At("version").(float64)
	v := Version{Prompt: o.Text("name"), Name: fmt.Sprintf("version %v", n), Text: text, Number: n, Numbered: true, Time: TimeOf(o, "createdAt", "updatedAt")}
	if note := textOf(o, "commitMessage"); note != "" {
		v.Name += " " + note
	}
	return v, nil
}

// isLangfuseTrace recognises a Langfuse trace or observation: from its API (GET
// /api/public/traces, GET /api/public/observations), from a file of its user interface, or
// from its export to blob storage, whose names have underscores.
func isLangfuseTrace(o *value.Object) bool {
	if !o.Has("output") || !o.Has("input") || !o.Has("id") {
		return false
	}
	trace := o.Has("timestamp") && (o.Has("projectId") || o.Has("project_id") || o.Has("scores") || o.Has("observations") || o.Has("sessionId") || o.Has("session_id"))
	observation := (o.Has("traceId") || o.Has("trace_id")) && (o.Has("startTime") || o.Has("start_time"))
	return trace || observation
}

func outputOfLangfuse(o *value.Object) (out Output, skipped string) {
	kind := strings.ToUpper(o.Text("type"))
	out = Output{ID: textOf(o, "id"), Time: TimeOf(o, "timestamp", "startTime", "start_time")}
	if kind != "" { // an observation
		out.part = textOf(o, "parentObservationId", "parent_observation_id") != "" || kind == "EVENT"
		out.isModel = kind == "GENERATION"
	}
	if out.Value = answered(o.At("output")); out.Value == nil || out.Value == "" {
		return out, "they have no output"
	}
	if o.Text("level") == "ERROR" {
		return out, "they ended with an error"
	}
	out.asked(o.At("input"))
	scores, _ := o.At("scores").([]any)
	for i, s := range scores {
		if score, ok := s.(*value.Object); ok {
			out.scoreOfLangfuse(score, document.Join("/scores", i))
		}
	}
	out.labelIn(o, "", false, "label")
	out.labelIn(o.Object("metadata"), "/metadata", false, "label")
	return out, ""
}

// scoreOfLangfuse reads people's scores: annotations, and feedback that a program sent under a
// person's name. It ignores scores of evaluators.
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
