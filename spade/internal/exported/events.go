package exported

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// isEvent recognises an answer of an agent as proviso's server takes it (POST /v1/events)
// and lists it (GET /v1/events).
func isEvent(o *value.Object) bool {
	return o.Text("agent") != "" && (o.Has("output") || o.Has("error")) && (o.Has("id") || o.Has("trace_id") || o.Has("time"))
}

// outputsOfEvent reads an event. Thumbs of users are its label.
func outputsOfEvent(e *value.Object) (list []Output, skipped string) {
	out := Output{ID: textOf(e, "id"), Time: timeOf(e, "time"), Value: answered(e.At("output"))}
	if out.Value == nil || out.Value == "" {
		return nil, "they have no output"
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
	return []Output{out}, ""
}
