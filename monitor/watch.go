package monitor

import "time"

// Watch configures whose traffic is checked with which assertions, and when to notify
// whom.
type Watch struct {
	Name        string
	Match       Match
	Assertions  string // set:NAME, set:NAME@VERSION or file://PATH
	Sample      Sample
	Objectives  map[string]Objective // by assertion name
	FalseAlarms FalseAlarms
	Anchors     Anchors
	Silence     Silence
	Notify      []string // names of targets, such as slack:oncall
}

// Match selects events.
type Match struct {
	Agent string
	Where string // CEL condition over the event, "" for all events of the agent
}

// Sample configures how many of the matching events are evaluated.
type Sample struct {
	Rate         float64 // share of conversations
	Floor        int     // evaluations per day for each segment, if there is enough traffic
	Segment      string  // member of segment that defines the segments, "" for none
	BudgetPerDay float64 // US dollars per day (UTC), 0 for no limit
}

// Objective is what an assertion must meet until there is a baseline.
type Objective struct {
	MaxFail float64 // maximum share of failures
}

// FalseAlarms configures the rate of false alarms.
type FalseAlarms struct {
	PerDays float64 // mean number of days of the project per false alarm
}

// Anchors are outputs that are judged again, to distinguish a change of the judge from a
// change of the agent.
type Anchors struct {
	File  string
	Every time.Duration
}

// Silence sets how long nothing may happen before an alarm; 0 means no alarm.
type Silence struct {
	Traffic  time.Duration // time without an event
	Verdicts time.Duration // time without a verdict, while there are events
}
