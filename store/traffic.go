package store

import (
	"context"
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
)

// Traffic is what agents did in production: events, the users' thumbs on them, and the prompts
// of the agents. Their texts (contents) can be left out when an event is stored, and are
// removed earlier than the rest.
type Traffic interface {
	// AddEvents stores events with the jobs of the watches that sampled them, and counts them,
	// all or nothing. An event whose id the project has, or that is in the list twice, is a
	// duplicate and changes nothing. Jobs of deleted watches are left out. Events without
	// KeepContent keep no texts; each prompt text is kept once per agent, whether or not the
	// event keeps contents.
	AddEvents(ctx context.Context, events []NewEvent) (AddedEvents, error)
	// Event returns an event with its texts, if they are kept.
	Event(ctx context.Context, id string) (Event, error)
	// ListEvents lists events, newest first by their time. A page may be shorter than
	// requested, or even empty, although there is a next one: rare events are searched in
	// steps.
	ListEvents(ctx context.Context, f EventFilter, p Page) (List[Event], error)
	// Conversation lists the events of a conversation with their texts, oldest first. A
	// conversation without events is NotFound.
	Conversation(ctx context.Context, conversation string, p Page) (List[Event], error)

	// AddFeedback stores a thumb. It replaces the same user's thumb on the same event or trace;
	// thumbs without a user count as those of one user. The thumb may arrive before its event.
	AddFeedback(ctx context.Context, f ingest.Feedback) (replaced bool, err error)
	// ListFeedback lists thumbs, latest received first.
	ListFeedback(ctx context.Context, f FeedbackFilter, p Page) (List[Feedback], error)

	// ForgetUser removes a user's events and thumbs, the jobs of these events, and everything
	// in their verdicts but the verdict itself. Counts stay. A user without events is no error.
	ForgetUser(ctx context.Context, user string) (Forgotten, error)

	// ListAgents lists the agents that sent events, by name.
	ListAgents(ctx context.Context, p Page) (List[Agent], error)
	// ListPrompts lists the prompts of an agent, latest first seen first. A prompt of which
	// events had only the hash has no text. An agent without events is NotFound.
	ListPrompts(ctx context.Context, agent string, p Page) (List[AgentPrompt], error)
	// CountTraffic adds up events by time, ordered by start, agent and value.
	CountTraffic(ctx context.Context, f TrafficFilter) ([]TrafficCount, error)
}

// Limits of traffic.
const (
	MaxEvents        = 10_000 // events added in one call
	MaxTrafficValues = 50     // values of one dimension of traffic, per agent and hour; the others count as OtherSegment
)

// NewEvent is an event to be stored. Its texts must be redacted already.
type NewEvent struct {
	ingest.Event
	Jobs        []EventJob // jobs of the watches that sampled it
	KeepContent bool       // keep input, output, context, metadata and error
}

// Check returns why an event cannot be stored, or nil.
func (n *NewEvent) Check() error {
	errs := []error{checkText("id of the event", n.ID, MaxName), checkText("agent", n.Agent, MaxName), checkDollars("cost of an event", n.Cost)}
	for _, text := range [...]struct{ what, text string }{{"conversation", n.Conversation}, {"trace", n.TraceID}, {"version", n.Version}, {"model", n.Model}, {"user", n.User}} {
		errs = append(errs, optionalText(text.what, text.text))
	}
	if n.Time.IsZero() {
		errs = append(errs, proviso.Errorf(proviso.Invalid, "the event has no time"))
	}
	for name, text := range n.Segment {
		errs = append(errs, checkText("segment", name, MaxName), optionalText("value of a segment", text))
	}
	if size := len(n.Input) + len(n.Output) + len(n.Context) + len(n.Prompt) + len(n.Error); size > MaxContent {
		errs = append(errs, proviso.Errorf(proviso.Limit, "the event has %d bytes, more than %d", size, MaxContent))
	}
	for _, job := range n.Jobs {
		errs = append(errs, job.Check())
	}
	return errors.Join(errs...)
}

// AddedEvents counts the events that were added.
type AddedEvents struct {
	Accepted, Duplicates int
}

// Event is a stored event. Its prompt is the hash of the prompt text.
type Event struct {
	ingest.Event
	Received time.Time
	Failed   bool // the agent gave no answer, whether or not the error is kept
	Kept     bool // its texts are kept; otherwise they are ""
	Up, Down int  // thumbs
}

// EventFilter selects events; zero fields select all. All members of Segment have to match. The
// conditions on verdicts have to match for one and the same verdict.
type EventFilter struct {
	IDs          []string
	Agent        string
	Conversation string
	TraceID      string
	User         string
	Version      string
	Model        string
	Prompt       string // hash
	Segment      map[string]string
	Text         string    // in input, output, context or error, ignoring case
	Since        time.Time // time of the event, inclusive
	Until        time.Time // time of the event, exclusive
	Failed       *bool
	Kept         bool             // only events whose texts are kept
	Feedback     int              // with such a thumb: 1 or -1
	Watch        string           // with a verdict of this watch
	Assertion    string           // with a verdict on this assertion
	Status       []proviso.Status // with such a verdict
	Contents     bool             // also read the texts
}

// OfVerdicts reports whether the filter has conditions on verdicts.
func (f *EventFilter) OfVerdicts() bool {
	return f.Watch != "" || f.Assertion != "" || len(f.Status) > 0
}

// Feedback is a stored thumb.
type Feedback struct {
	ingest.Feedback           // Event is set from the trace, if known
	Agent           string    // "" while the event is unknown
	Received        time.Time // when it was last stored
}

// FeedbackFilter selects thumbs; zero fields select all.
type FeedbackFilter struct {
	Events []string
	Agent  string
	Since  time.Time // time of the thumb, inclusive
	Until  time.Time // time of the thumb, exclusive
}

// Forgotten counts the data removed for a user.
type Forgotten struct {
	Events, Feedback, Verdicts int // in Verdicts, those whose reasons were removed
}

// Agent is an agent in production.
type Agent struct {
	Name   string
	First  time.Time // when its first event was received
	Last   time.Time // when its latest event was received
	Events int
}

// AgentPrompt is a prompt of an agent.
type AgentPrompt struct {
	Hash   string // from ingest.PromptHash
	Text   string // "" if unknown
	First  time.Time
	Last   time.Time
	Events int
}

// TrafficBy is the dimension by which traffic is split.
type TrafficBy string

// The dimensions of traffic; [BySegmentOf] makes others.
const (
	ByAll          TrafficBy = "" // not split
	ByAgentVersion TrafficBy = "version"
	ByModel        TrafficBy = "model"
	ByPrompt       TrafficBy = "prompt" // its hash
)

// BySegmentOf splits traffic by a member of the segment.
func BySegmentOf(name string) TrafficBy { return TrafficBy("segment." + name) }

// TrafficFilter selects the traffic to add up.
type TrafficFilter struct {
	Agent    string // "" for all
	By       TrafficBy
	From, To time.Time     // time of the events; To is excluded
	Step     time.Duration // a multiple of an hour
}

// Check returns why the filter is invalid, or nil.
func (f *TrafficFilter) Check() error {
	switch {
	case !f.From.Before(f.To):
		return proviso.Errorf(proviso.Invalid, "the series ends before it begins")
	case f.Step < time.Hour || f.Step%time.Hour != 0:
		return proviso.Errorf(proviso.Invalid, "the step of a series of traffic is %v, not a multiple of an hour", f.Step)
	case f.To.Sub(f.From)/f.Step > maxBuckets:
		return proviso.Errorf(proviso.Limit, "the series has %d steps, more than %d; choose longer ones", f.To.Sub(f.From)/f.Step, maxBuckets)
	}
	return nil
}

// TrafficCount adds up an agent's events in a period.
type TrafficCount struct {
	Start   time.Time
	Agent   string
	Value   string // value of the dimension, "" for events without one
	Events  int
	Failed  int // the agent gave no answer
	Tokens  int64
	Cost    float64       // US dollars
	Latency time.Duration // sum
}

// CheckFeedback returns why a thumb cannot be stored, or nil.
func CheckFeedback(f *ingest.Feedback) error {
	errs := []error{optionalText("event", f.Event), optionalText("trace", f.TraceID), optionalText("user", f.User)}
	switch {
	case (f.Event == "") == (f.TraceID == ""):
		errs = append(errs, proviso.Errorf(proviso.Invalid, "a thumb is on either an event or a trace"))
	case f.Value != 1 && f.Value != -1:
		errs = append(errs, proviso.Errorf(proviso.Invalid, "a thumb is 1 or -1, not %d", f.Value))
	case f.Time.IsZero():
		errs = append(errs, proviso.Errorf(proviso.Invalid, "the thumb has no time"))
	case len(f.Comment) > MaxContent:
		errs = append(errs, proviso.Errorf(proviso.Limit, "the comment has %d bytes", len(f.Comment)))
	}
	return errors.Join(errs...)
}
