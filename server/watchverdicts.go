package server

import (
	"time"

	"github.com/proviso-eval/proviso/store"
)

// WatchVerdictView is a verdict on one assertion for one event.
type WatchVerdictView struct {
	Event        string    `json:"event"`
	Conversation string    `json:"conversation,omitempty"`
	Agent        string    `json:"agent"`
	Assertion    string    `json:"assertion"`
	Set          string    `json:"assertion_set_version"`
	Version      string    `json:"version,omitempty" doc:"Of the agent"`
	Judge        string    `json:"judge,omitempty"`
	Segment      string    `json:"segment,omitempty"`
	Time         time.Time `json:"time" doc:"Of the event"`
	At           time.Time `json:"at" doc:"When the verdict was stored"`
	Probability  float64   `json:"probability" doc:"With which the event was sampled"`
	Backfill     bool      `json:"backfill,omitempty" doc:"It is of the baseline of a new assertion"`
	Status       string    `json:"status" enum:"pass,fail,error,skip"`
	Score        *float64  `json:"score,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Cost         float64   `json:"cost,omitempty" doc:"US dollars"`
}

// WatchVerdictList is a page of verdicts.
type WatchVerdictList List[WatchVerdictView]

func watchVerdictOf(v *store.WatchVerdict) WatchVerdictView {
	return WatchVerdictView{
		Event: v.Event, Conversation: v.Conversation, Agent: v.Agent, Assertion: v.Assertion, Set: v.Set, Version: v.Version, Judge: v.Judge, Segment: v.Segment,
		Time: v.Time, At: v.At, Probability: v.Probability, Backfill: v.Backfill, Status: v.Status.String(), Score: v.Score, Reason: v.Reason, Cost: v.Cost,
	}
}

// listWatchVerdicts lists verdicts of a watch.
func (s *Server) listWatchVerdicts(c *call) error {
	f := store.VerdictFilter{Watch: c.r.PathValue("watch"), Assertion: c.q.Get("assertion"), Version: c.q.Get("version"), Segment: c.q.Get("segment"),
		Status: c.q.status(), Since: c.q.time("from"), Until: c.q.time("to")}
	if event := c.q.Get("event"); event != "" {
		f.Events = []string{event}
	}
	return c.nearestWatch(f.Watch, sendList(c, c.kept.ListVerdicts, f, watchVerdictOf))
}
