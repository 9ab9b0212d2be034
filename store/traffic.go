package store

import (
	"context"
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
)

// Traffic is what agents answered in production: events, the thumbs of users on them, and
// the prompts of the agents. Their texts are contents: they can be left out when an event
// is stored, and are removed earlier than the rest.
type Traffic interface {
	// AddEvents stores events with the jobs of those that watches sampled, and counts
	// them, all or nothing. An event whose id the project has, or that is in the list
	// twice, is a duplicate, and changes nothing. Jobs of watches that are gone are left
	// out. Events without KeepContent keep no texts; each text of a prompt is kept once
	// for an agent, whatever the event says.
	AddEvents(ctx context.Context, events []NewEvent) (AddedEvents, error)
	// Event returns an event with its texts, if they are kept.
	Event(ctx context.Context, id string) (Event, error)
	// ListEvents lists events, newest first by their time. A page may be shorter than
	// requested, and even empty, although there is a next one: a rare event is looked for
	// in steps.
	ListEvents(ctx context.Context, f EventFilter, p Page) (List[Event], error)
	// Conversation lists the events of a conversation with their texts, oldest first. One
	// without events is NotFound.
	Conversation(ctx context.Context, conversation string, p Page) (List[Event], error)

	// AddFeedback stores a thumb. It replaces that of the same user on the same event or
	// trace; thumbs without a user count as those of one user. The event may come later.
	AddFeedback(ctx context.Context, f ingest.Feedback) (replaced bool, err error)
	// ListFeedback lists thumbs, those that came last first.
	ListFeedback(ctx context.Context, f FeedbackFilter, p Page) (List[Feedback], error)

	// ForgetUser removes the events and thumbs of a user, the jobs of these events, and
	// what verdicts say of them beside the verdict. Counts stay. A user without events is
	// no error.
	ForgetUser(ctx context.Context, user string) (Forgotten, error)

	// ListAgents lists the agents that sent events, by name.
	ListAgents(ctx context.Context, p Page) (List[Agent], error)
	// ListPrompts lists the prompts of an agent, the one that was first seen last first.
	// Those whose text is unknown, because events had only its hash, have none. An agent
	// without events is NotFound.
	ListPrompts(ctx context.Context, agent string, p Page) (List[AgentPrompt], error)
	// CountTraffic adds up events by their time, in the order of start, agent and value.
	CountTraffic(ctx context.Context, f TrafficFilter) ([]TrafficCount, error)
}

// Limits of traffic.
const (
	MaxEvents        = 10_000 // that are added at once
	MaxTrafficValues = 50     // of one thing that traffic is told apart by, for an agent in an hour; the others are OtherSegment
)

// NewEvent is an event to be stored. Its texts are redacted already.
type NewEvent struct {
	ingest.Event
	Jobs        []EventJob // of the watches that sampled it
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

// AddedEvents counts the results of adding events.
type AddedEvents struct {
	Accepted, Duplicates int
}

// Event is a stored event. Its prompt is the hash of the text.
type Event struct {
	ingest.Event
	Received time.Time
	Failed   bool // the agent gave no answer, whether or not the error is kept
	Kept     bool // its texts are kept; without, they are ""
	Up, Down int  // thumbs
}

// EventFilter selects events; zero fields select all. All members of Segment have to hold;
// what is about verdicts has to hold for one of them.
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
	Text         string    // in input, output, context or error, whatever the case of its letters
	Since        time.Time // of the event, then or later
	Until        time.Time // of the event, before
	Failed       *bool
	Kept         bool             // only events whose texts are kept
	Feedback     int              // 1 or -1: with such a thumb
	Watch        string           // with a verdict of this watch
	Assertion    string           // with a verdict on this assertion
	Status       []proviso.Status // with such a verdict
	Contents     bool             // read the texts, too
}

// OfVerdicts reports whether the filter selects by verdicts.
func (f *EventFilter) OfVerdicts() bool {
	return f.Watch != "" || f.Assertion != "" || len(f.Status) > 0
}

// Feedback is a stored thumb.
type Feedback struct {
	ingest.Feedback           // Event is that of the trace, if there is one
	Agent           string    // "" while the event is unknown
	Received        time.Time // when it was stored last
}

// FeedbackFilter selects thumbs; zero fields select all.
type FeedbackFilter struct {
	Events []string
	Agent  string
	Since  time.Time // of the thumb, then or later
	Until  time.Time // of the thumb, before
}

// Forgotten counts what was removed of a user.
type Forgotten struct {
	Events, Feedback, Verdicts int // of verdicts, the reasons were removed
}

// Agent is what answers in production.
type Agent struct {
	Name   string
	First  time.Time // when its first event was received
	Last   time.Time // when its latest event was received
	Events int
}

// AgentPrompt is a prompt of an agent.
type AgentPrompt struct {
	Hash   string // as ingest.PromptHash makes it
	Text   string // "" if it is unknown
	First  time.Time
	Last   time.Time
	Events int
}

// TrafficBy says how traffic is told apart.
type TrafficBy string

// The ways to tell traffic apart; [BySegmentOf] is another.
const (
	ByAll          TrafficBy = "" // not at all
	ByAgentVersion TrafficBy = "version"
	ByModel        TrafficBy = "model"
	ByPrompt       TrafficBy = "prompt" // its hash
)

// BySegmentOf tells traffic apart by a member of segment.
func BySegmentOf(name string) TrafficBy { return TrafficBy("segment." + name) }

// TrafficFilter selects what is added up.
type TrafficFilter struct {
	Agent    string // "" for all
	By       TrafficBy
	From, To time.Time     // of the events; To is excluded
	Step     time.Duration // a multiple of an hour
}

// Check returns why traffic cannot be added up, or nil.
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

// TrafficCount adds up the events of an agent in a span of time.
type TrafficCount struct {
	Start   time.Time
	Agent   string
	Value   string // of what traffic is told apart by, "" for events without one
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
		errs = append(errs, proviso.Errorf(proviso.Invalid, "a thumb is on an event or a trace, one of them"))
	case f.Value != 1 && f.Value != -1:
		errs = append(errs, proviso.Errorf(proviso.Invalid, "a thumb is 1 or -1, not %d", f.Value))
	case f.Time.IsZero():
		errs = append(errs, proviso.Errorf(proviso.Invalid, "the thumb has no time"))
	case len(f.Comment) > MaxContent:
		errs = append(errs, proviso.Errorf(proviso.Limit, "the comment has %d bytes", len(f.Comment)))
	}
	return errors.Join(errs...)
}
