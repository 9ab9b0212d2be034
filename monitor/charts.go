package monitor

import (
	"encoding/json"
	"time"
)

// Charts are the charts of one watch. They are not safe for concurrent use.
type Charts struct {
	watch *Watch
	o     Options
	state state
}

type state struct{}

// NewCharts makes the charts of a watch that has seen nothing yet.
func NewCharts(w *Watch, o Options) *Charts { return &Charts{watch: w, o: o} }

// LoadCharts reads charts that were saved.
func LoadCharts(w *Watch, saved []byte, o Options) (*Charts, error) {
	c := NewCharts(w, o)
	return c, json.Unmarshal(saved, &c.state)
}

// Save returns the charts as JSON.
func (c *Charts) Save() []byte {
	data, _ := json.Marshal(&c.state)
	return data
}

// Observe takes verdicts in the order of their commits, and returns the alarms that were
// opened, updated or closed.
func (c *Charts) Observe(list []Observation, now time.Time) []*Alarm { return nil }

// Check looks for silence and for a change of the mix of segments.
func (c *Charts) Check(h Health, now time.Time) []*Alarm { return nil }

// Anchored takes the results of a round of anchors.
func (c *Charts) Anchored(results []AnchorResult, now time.Time) []*Alarm { return nil }

// Ack says that somebody looks after an alarm; false if it is not open.
func (c *Charts) Ack(id string) bool { return false }
