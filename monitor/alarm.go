package monitor

import (
	"math"
	"time"
)

// Kind is what an alarm is about.
type Kind string

// The kinds of alarms.
const (
	KindAgent  Kind = "agent"  // an assertion fails more often
	KindJudge  Kind = "judge"  // the judge decides anchors otherwise
	KindMix    Kind = "mix"    // the segments of the traffic have other shares
	KindSilent Kind = "silent" // nothing is known, for the cause that Reason names
)

// State is the state of an alarm.
type State string

// The states of alarms.
const (
	StateOpen   State = "open"
	StateAcked  State = "acked"
	StateClosed State = "closed"
)

// Cause is why nothing is known.
type Cause string

// The causes of silence.
const (
	NoTraffic  Cause = "traffic"  // no event
	NoVerdicts Cause = "verdicts" // events, but no verdict
	NoKey      Cause = "key"      // the key of the judge or of the watch does not work
	NoModel    Cause = "model"    // the model of the judge is not there any more
	NoBudget   Cause = "budget"   // the money of the day is spent
	NoRoom     Cause = "queue"    // more events wait than are evaluated
	NoDecision Cause = "errors"   // an assertion cannot be decided
)

// Alarm is what a watch says, as clients and webhooks get it.
type Alarm struct {
	ID        string     `json:"id"`
	Watch     string     `json:"watch"`
	Kind      Kind       `json:"kind"`
	Cause     Cause      `json:"cause,omitempty"` // of a silent alarm
	Assertion string     `json:"assertion"`
	State     State      `json:"state"`
	Opened    time.Time  `json:"opened"`
	Closed    *time.Time `json:"closed"`
	Reason    string     `json:"reason"` // in words
	Since     *Span      `json:"since"`
	Baseline  *Baseline  `json:"baseline"`
	Now       *Now       `json:"now"`
	Statistic *Statistic `json:"statistic"`
	Version   string     `json:"version"`
	Judge     string     `json:"judge"`
	Changed   []Change   `json:"changed"`
	Examples  []string   `json:"examples"` // ids of events that failed, newest first
}

// Span is the time in which something changed.
type Span struct {
	Low  time.Time `json:"low"`
	High time.Time `json:"high"`
}

// Baseline is the failure rate that a chart is held against. With an objective, N is 0 and
// Upper is the objective.
type Baseline struct {
	Rate  float64 `json:"rate"`
	Upper float64 `json:"upper"` // what may fail in control, on average
	N     int     `json:"n"`
}

// Now is the failure rate since the change, weighted by the probabilities of sampling.
type Now struct {
	Rate      float64  `json:"rate"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	N         int      `json:"n"`
	Corrected *float64 `json:"corrected"` // by labels of people, null without
}

// Statistic is how strong the evidence is, in evaluations without a false alarm.
type Statistic struct {
	Value     float64 `json:"value"`
	Threshold float64 `json:"threshold"`
	ARL0Days  float64 `json:"arl0_days"` // days to a false alarm of the project, on average
}

// Change is something else that changed at that time.
type Change struct {
	What string    `json:"what"` // version, model, prompt, judge or segment
	From string    `json:"from"`
	To   string    `json:"to"`
	At   time.Time `json:"at"`
}

// realised is how many times longer than designed it takes to a false alarm, in the
// simulations of docs/monitor-simulations.md.
const realised = 1.35

// FalseMonths is the share of months with a false alarm, although nothing has changed, of a
// project that allows one in perDays days.
func FalseMonths(perDays float64) float64 { return 1 - math.Exp(-30/(realised*perDays)) }
