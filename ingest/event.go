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
	Agent        string    // what answered
	Time         time.Time // when it answered, in UTC
	Conversation string    // "" if it is not part of one
	TraceID      string    // of OpenTelemetry, "" if there is none
	Input        string    // what it was asked: a text, or a structure as JSON
	Output       string    // what it answered: a text, or a structure as JSON
	Context      string    // what it could look at, such as retrieved documents
	Version      string    // of the agent
	Prompt       string    // text of its prompt, or its hash as [PromptHash] makes it
	Model        string
	Segment      map[string]string // what traffic is grouped by, such as lang: de
	User         string
	Metadata     *value.Object // nil if there is none
	Usage        proviso.Usage
	Cost         float64 // US dollars
	Latency      time.Duration
	Error        string // why there is no answer, or no whole one; "" if there is one
}

// Answered reports whether the event has a whole answer. Only such answers are evaluated: a
// promise is not broken by a connection that was cut.
func (e *Event) Answered() bool { return e.Error == "" }

// Group is the conversation of an event, or the event itself if it is in none. Events of
// one group are sampled together and depend on each other.
func (e *Event) Group() string {
	if e.Conversation != "" {
		return "c:" + e.Conversation
	}
	return "e:" + e.ID
}

// hashPrefix begins the hash of a prompt.
const hashPrefix = "sha256:"

// PromptHash is the name under which the text of a prompt is kept: sha256: and 64
// hexadecimal digits. A hash is its own name, and no text has none.
func PromptHash(prompt string) string {
	if prompt == "" || IsPromptHash(prompt) {
		return prompt
	}
	sum := sha256.Sum256([]byte(prompt))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// IsPromptHash reports whether the prompt of an event is a hash, and not a text.
func IsPromptHash(prompt string) bool {
	rest, ok := strings.CutPrefix(prompt, hashPrefix)
	if !ok || len(rest) != 2*sha256.Size {
		return false
	}
	_, err := hex.DecodeString(rest)
	return err == nil && strings.ToLower(rest) == rest
}

// Feedback is the thumb of a user on an answer.
type Feedback struct {
	Event   string // id of the event, or
	TraceID string // of its trace
	User    string // "" if unknown; the same user replaces
	Value   int    // 1 or -1
	Comment string
	Time    time.Time // in UTC
}

// Object is the event as a member of the body of POST /v1/events. Zero fields are missing.
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
