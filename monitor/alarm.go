package monitor

import (
	"math"
	"time"
)

// Kind is the subject of an alarm.
type Kind string

// The kinds of alarms.
const (
	KindAgent  Kind = "agent"  // an assertion fails more often
	KindJudge  Kind = "judge"  // the judge decides anchors differently
	KindMix    Kind = "mix"    // the traffic shares of the segments changed
	KindSilent Kind = "silent" // nothing is known, for the reason in Cause
)

// State is the state of an alarm.
type State string

// The states of alarms.
const (
	StateOpen   State = "open"
	StateAcked  State = "acked"
	StateClosed State = "closed"
)

// Cause is the reason why nothing is known.
type Cause string

// The causes of silence.
const (
	NoTraffic  Cause = "traffic"  // no events
	NoVerdicts Cause = "verdicts" // events, but no verdicts
	NoKey      Cause = "key"      // the judge's or the watch's key does not work
	NoModel    Cause = "model"    // the judge's model is no longer available
	NoBudget   Cause = "budget"   // the day's budget is spent
	NoRoom     Cause = "queue"    // more events arrive than are evaluated
	NoDecision Cause = "errors"   // an assertion cannot be decided
)

// Alarm is an alarm of a watch, as clients and webhooks receive it.
type Alarm struct {
	ID        string     `json:"id"`
	Watch     string     `json:"watch"`
	Kind      Kind       `json:"kind"`
	Cause     Cause      `json:"cause,omitempty"` // set for a silent alarm
	Assertion string     `json:"assertion"`
	State     State      `json:"state"`
	Opened    time.Time  `json:"opened"`
	Closed    *time.Time `json:"closed"`
	Reason    string     `json:"reason"` // explanation for people
	Since     *Span      `json:"since"`
	Baseline  *Baseline  `json:"baseline"`
	Now       *Now       `json:"now"`
	Statistic *Statistic `json:"statistic"`
	Version   string     `json:"version"`
	Judge     string     `json:"judge"`
	Changed   []Change   `json:"changed"`
	Examples  []string   `json:"examples"` // ids of events that failed, newest first
}

// Span is the interval in which something changed.
type Span struct {
	Low  time.Time `json:"low"`
	High time.Time `json:"high"`
}

// Baseline is the failure rate that a chart compares with. With an objective, N is 0 and
// Upper is the objective.
type Baseline struct {
	Rate  float64 `json:"rate"`
	Upper float64 `json:"upper"` // expected failure rate in control
	N     int     `json:"n"`
}

// Now is the failure rate since the change, weighted by the inverse sampling
// probabilities.
type Now struct {
	Rate      float64  `json:"rate"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	N         int      `json:"n"`
	Corrected *float64 `json:"corrected"` // corrected by human labels, null without labels
}

// Statistic is the strength of the evidence. Value and Threshold are in evaluations
// without a false alarm.
type Statistic struct {
	Value     float64 `json:"value"`
	Threshold float64 `json:"threshold"`
	ARL0Days  float64 `json:"arl0_days"` // mean number of days to a false alarm in the project
}

// Change is something else that changed at about the same time.
type Change struct {
	What string    `json:"what"` // version, model, prompt, judge or segment
	From string    `json:"from"`
	To   string    `json:"to"`
	At   time.Time `json:"at"`
}

// realised is the factor by which the mean time to a false alarm exceeds the designed
// one, in the simulations of docs/monitor-simulations.md.
const realised = 1.35

// FalseMonths returns the share of months with a false alarm, although nothing has
// changed, for a project that allows one per perDays days.
func FalseMonths(perDays float64) float64 { return 1 - math.Exp(-30/(realised*perDays)) }
