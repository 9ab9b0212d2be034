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

// Health is how the work of a watch goes, as the caller knows it.
type Health struct {
	LastEvent   time.Time // of the last matching event, zero if there was none
	LastVerdict time.Time // when the last pass or fail came, zero if never
	Pending     int       // sampled events that wait
	Oldest      time.Time // since when the oldest of them waits
	Dropped     int       // events of today that were not evaluated because too many waited
	Spent       float64   // US dollars of today (UTC)
	Refused     bool      // events wait because the budget of the day is used up
	Trouble     Cause     // NoKey or NoModel, "" if the judge can be asked
	Why         string    // the trouble, in words
	Mix         []MixDay  // complete days of traffic, oldest first, at most 28; for the mix of segments
}

// MixDay counts the matching events of a day by segment.
type MixDay struct {
	Day    time.Time
	Counts map[string]int
}

// AnchorResult is a verdict on an output that was judged before.
type AnchorResult struct {
	Anchor    string
	Assertion string
	Judge     string         // identity that decided now
	Before    proviso.Status // that the verdict is held against: a label, or the first verdict
	Now       proviso.Status
}
