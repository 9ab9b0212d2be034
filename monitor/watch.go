package monitor

import "time"

// Watch says whose traffic is held against which assertions, and when to tell whom.
type Watch struct {
	Name        string
	Match       Match
	Assertions  string // set:NAME, set:NAME@VERSION or file://PATH
	Sample      Sample
	Objectives  map[string]Objective // by assertion
	FalseAlarms FalseAlarms
	Anchors     Anchors
	Silence     Silence
	Notify      []string // names of targets, such as slack:oncall
}

// Match selects events.
type Match struct {
	Agent string
	Where string // condition in CEL over the event, "" for all of the agent
}

// Sample says how many of the matching events are evaluated.
type Sample struct {
	Rate         float64 // share of the conversations
	Floor        int     // evaluations a day of each segment, if there is so much traffic
	Segment      string  // member of segment that is told apart, "" for none
	BudgetPerDay float64 // US dollars of a day (UTC), 0 for no limit
}

// Objective is what an assertion is held against until there is a baseline.
type Objective struct {
	MaxFail float64 // share of failures
}

// FalseAlarms is the design of the alarms.
type FalseAlarms struct {
	PerDays float64 // days of a project to one false alarm, on average
}

// Anchors are outputs that are judged again, to tell a change of the judge from one of the
// agent.
type Anchors struct {
	File  string
	Every time.Duration
}

// Silence says after how long nothing is an alarm; 0 is never.
type Silence struct {
	Traffic  time.Duration // without an event
	Verdicts time.Duration // without a verdict, while there are events
}
