package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Event is one answer of an agent in production. Texts are UTF-8.
type Event struct {
	ID           string    // unique in its project
	Agent        string    // name of the agent that answered
	Time         time.Time // when the agent answered, in UTC
	Conversation string    // "" if it is not part of one
	TraceID      string    // OpenTelemetry trace id; "" if there is none
	Input        string    // the request: text, or a structure as JSON
	Output       string    // the answer: text, or a structure as JSON
	Context      string    // what the agent could look at, such as retrieved documents
	Version      string    // version of the agent
	Prompt       string    // text of the agent's prompt, or its hash from [PromptHash]
	Model        string
	Segment      map[string]string // groups of traffic, such as lang: de
	User         string
	Metadata     *value.Object // nil if there is none
	Usage        proviso.Usage
	Cost         float64 // US dollars
	Latency      time.Duration
	Error        string // why there is no complete answer; "" if there is one
}

// Answered reports whether the event has a complete answer. Only such answers are evaluated,
// because a connection that was cut does not break a promise.
func (e *Event) Answered() bool { return e.Error == "" }

// Group returns the conversation of an event, or the event itself if it has none. Events of one
// group are sampled together and are not independent.
func (e *Event) Group() string {
	if e.Conversation != "" {
		return "c:" + e.Conversation
	}
	return "e:" + e.ID
}

// hashPrefix is the prefix of prompt hashes.
const hashPrefix = "sha256:"

// PromptHash returns the name under which a prompt's text is stored: sha256: and 64 hexadecimal
// digits. The name of a hash is the hash itself, and that of an empty text is empty.
func PromptHash(prompt string) string {
	if prompt == "" || IsPromptHash(prompt) {
		return prompt
	}
	sum := sha256.Sum256([]byte(prompt))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// IsPromptHash reports whether an event's prompt is a hash rather than a text.
func IsPromptHash(prompt string) bool {
	rest, ok := strings.CutPrefix(prompt, hashPrefix)
	if !ok || len(rest) != 2*sha256.Size {
		return false
	}
	_, err := hex.DecodeString(rest)
	return err == nil && strings.ToLower(rest) == rest
}

// Feedback is a user's thumb up or down on an answer.
type Feedback struct {
	Event   string // id of the event, or
	TraceID string // of its trace
	User    string // "" if unknown; later feedback of the same user replaces earlier feedback
	Value   int    // 1 or -1
	Comment string
	Time    time.Time // in UTC
}

// Object returns the event as a member of the body of POST /v1/events, without zero fields.
func (e *Event) Object() *value.Object {
	o := value.ObjectOf("id", e.ID, "agent", e.Agent)
	text := func(key, text string) {
		if text != "" {
			o.Set(key, text)
		}
	}
	if !e.Time.IsZero() {
		o.Set("time", e.Time.UTC().Format(time.RFC3339Nano))
	}
	text("conversation", e.Conversation)
	text("trace_id", e.TraceID)
	text("input", e.Input)
	if e.Output != "" || e.Error == "" { // an answer may be empty
		o.Set("output", e.Output)
	}
	text("context", e.Context)
	text("version", e.Version)
	text("prompt", e.Prompt)
	text("model", e.Model)
	if len(e.Segment) > 0 {
		o.Set("segment", value.Of(e.Segment))
	}
	text("user", e.User)
	if e.Metadata.Len() > 0 {
		o.Set("metadata", e.Metadata)
	}
	if u := e.Usage; u != (proviso.Usage{}) {
		o.Set("usage", value.ObjectOf("prompt", float64(u.Prompt), "completion", float64(u.Completion), "cached", float64(u.Cached), "total", float64(u.Total), "requests", float64(u.Requests)))
	}
	if e.Cost != 0 {
		o.Set("cost", e.Cost)
	}
	if e.Latency != 0 {
		o.Set("latency_ms", float64(e.Latency.Microseconds())/1000)
	}
	text("error", e.Error)
	return o
}
