package monitor

import (
	"time"

	"github.com/proviso-eval/proviso"
)

// Observation is a verdict on one assertion for one event. Observations come in the order
// in which their verdicts are committed.
type Observation struct {
	Sequence     int64
	Event        string
	Conversation string // "" if the event is a conversation by itself
	Assertion    string
	Version      string // version of the agent
	Judge        string // judge identity, "" if no model was called
	Model        string // model of the agent, "" if unknown
	Prompt       string // hash of the agent's prompt, "" if unknown
	Segment      string
	Time         time.Time // event time
	At           time.Time // commit time
	Probability  float64   // probability with which the event was sampled
	Backfill     bool      // traffic from before the assertion existed: only for the baseline
	Status       proviso.Status
}

// Options are the settings of charts that are not in their watch.
type Options struct {
	Others    int                                                         // charts in the project's other watches
	Corrected func(assertion, version, judge string, since Span) *float64 // rate according to human labels; may be nil
}
