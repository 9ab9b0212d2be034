package monitor

import (
	"time"

	"github.com/proviso-eval/proviso"
)

// Observation is a verdict on one assertion for one event, in the order in which verdicts
// are committed.
type Observation struct {
	Sequence     int64
	Event        string
	Conversation string // "" if the event is one of its own
	Assertion    string
	Version      string // of the agent
	Judge        string // identity, "" if none was asked
	Model        string // of the agent, "" if unknown
	Prompt       string // hash of the agent's prompt, "" if unknown
	Segment      string
	Time         time.Time // of the event
	At           time.Time // of the commit
	Probability  float64   // with which the event was sampled
	Backfill     bool      // of traffic from before the assertion: for the baseline alone
	Status       proviso.Status
}

// Options are what charts need to know besides their watch.
type Options struct {
	Others    int                                                         // charts of the other watches of the project
	Corrected func(assertion, version, judge string, since Span) *float64 // the rate by labels of people; may be nil
}
