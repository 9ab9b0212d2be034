package monitor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// MaxCharts bounds the charts of a watch. Beyond it, the chart that has been idle for
	// the longest time is dropped.
	MaxCharts = 200
	// A chart without an evaluation for idle no longer counts for the project's false
	// alarms. Its alarm is closed after superseded if another chart of the assertion gets
	// evaluations.
	idle, superseded = 7 * day, day
	// stateFormat is the format version of saved charts.
	stateFormat = 1
)

// Charts holds the charts of one watch, with its open alarms. It is not safe for
// concurrent use.
type Charts struct {
	watch *Watch
	o     Options
	state state
	ended []*Alarm // alarms closed outside of a call that returns alarms
}

// state is the saved part of [Charts].
type state struct {
	Format     int                  `json:"format"`
	Charts     []*chart             `json:"charts"`
	Open       []*Alarm             `json:"open,omitempty"` // includes acked alarms
	History    [len(whats)]history  `json:"history"`        // in the order of whats
	Objectives map[string]Objective `json:"objectives,omitempty"`
	Clock      time.Time            `json:"clock"`
	Started    time.Time            `json:"started"`
	Waiting    time.Time            `json:"waiting"`            // since when a sampled event has had no verdict
	MixDay     time.Time            `json:"mix_day"`            // last day that was compared
	Anchored   map[string]string    `json:"anchored,omitempty"` // judge of the last round by assertion
	Dropped    int                  `json:"dropped,omitempty"`  // number of charts dropped because of MaxCharts
}

// NewCharts returns empty charts for a watch.
func NewCharts(w *Watch, o Options) *Charts {
	return &Charts{watch: w, o: o, state: state{Format: stateFormat, Objectives: w.Objectives}}
}

// LoadCharts reads charts that [Charts.Save] wrote. An assertion whose objective has
// changed since then learns its baseline again, and its open alarm ends: the next call of
// [Charts.Observe] or [Charts.Check] returns it as closed.
func LoadCharts(w *Watch, saved []byte, o Options) (*Charts, error) {
	c := &Charts{watch: w, o: o}
	if err := json.Unmarshal(saved, &c.state); err != nil {
		return nil, fmt.Errorf("read the charts of the watch %s: %w", w.Name, err)
	}
	if c.state.Format != stateFormat || slices.Contains(c.state.Charts, nil) || slices.Contains(c.state.Open, nil) {
		return nil, fmt.Errorf("read the charts of the watch %s: %w", w.Name, errDamaged)
	}
	for _, one := range c.state.Charts {
		before, had := c.state.Objectives[one.Assertion]
		now, has := w.Objectives[one.Assertion]
		if had != has || before != now {
			c.relearn(one)
			c.begin(one, now, has, nil)
		}
	}
	c.state.Objectives = w.Objectives
	return c, nil
}

// relearn restarts a chart under a new objective: counts under the old one are not
// comparable. Only the data about errors is kept, because errors have no objective.
func (c *Charts) relearn(one *chart) {
	if r := one.Recovery; r != nil {
		c.end(r.Alarm, "the objective has changed, and its charts learn again")
	}
	*one = chart{
		Assertion: one.Assertion, Version: one.Version, Judge: one.Judge, Errors: one.Errors, Skipped: one.Skipped,
		Last: one.Last, Seen: one.Seen, Undecide: one.Undecide, Mended: one.Mended,
	}
}

// end closes an alarm between two calls that return alarms; the next call returns it.
func (c *Charts) end(id, why string) {
	if a := c.closeID(id, c.state.Clock, why); a != nil {
		c.ended = append(c.ended, a)
	}
}

// Save returns the charts as JSON of bounded size.
func (c *Charts) Save() []byte {
	data, err := json.Marshal(&c.state)
	if err != nil { // NaN or infinity, which the arithmetic here does not produce
		panic(err)
	}
	return data
}

// Live returns the number of charts that can raise an alarm and had evaluations in the
// last days. Other watches count them in [Options.Others].
func (c *Charts) Live() int {
	n := 0
	for _, one := range c.state.Charts {
		if one.live() && c.state.Clock.Sub(one.Last) < idle {
			n++
		}
	}
	return n
}

// Observe processes verdicts in commit order, and returns the alarms that were opened,
// updated or closed, in their state after the last verdict.
func (c *Charts) Observe(list []Observation, now time.Time) []*Alarm {
	touched := &changes{c: c, now: now.UTC()}
	touched.closed()
	for i := range list {
		o := &list[i]
		if at := o.clock(); at.After(c.state.Clock) && !o.Backfill {
			c.state.Clock = at
		}
		c.state.saw(o)
		one := c.chart(o)
		family := c.o.Others + c.Live()
		h := one.observe(o, family, c.watch.FalseAlarms.PerDays)
		if h.broken {
			touched.add(c.breaks(one, o))
		}
		if h.decidable {
			touched.add(c.closeID(one.Mended.Alarm, o.clock(), "it can be decided again"))
			one.Mended, one.Undecide = nil, newDetector
		}
		if h.risen {
			touched.add(c.rises(one, family, o))
		}
		if h.recovered {
			id, over := one.Recovery.Alarm, one.Recovery.risen(one.Recovery.Model.Upper)
			c.refresh(one)
			touched.add(c.closeID(id, o.clock(), "the rate is surely below "+percent(over)+" again"))
			one.Recovery = nil
			one.restart(o.Time)
		}
		if one.Recovery != nil && !h.risen {
			touched.mark(one)
		}
	}
	touched.refresh()
	touched.add(c.closeSuperseded(now)...)
	for _, one := range c.state.Charts {
		if c.state.Clock.Sub(one.Last) >= idle {
			one.forget()
		}
	}
	return touched.list
}

// chart returns the chart of an observation.
func (c *Charts) chart(o *Observation) *chart {
	for _, one := range c.state.Charts {
		if one.is(o) {
			return one
		}
	}
	if len(c.state.Charts) >= MaxCharts {
		c.drop()
	}
	one := &chart{Assertion: o.Assertion, Version: o.Version, Judge: o.Judge}
	objective, has := c.watch.Objectives[o.Assertion]
	c.begin(one, objective, has, c.earlier(o))
	c.state.Charts = append(c.state.Charts, one)
	return one
}

// begin sets the rate that a new chart compares with until it has a baseline.
func (c *Charts) begin(one *chart, objective Objective, has bool, earlier *chart) {
	switch {
	case earlier != nil:
		one.Model = earlier.Model
		one.Model.Source = FromEarlier
	case has:
		one.Model = model{Source: FromObjective, Rate: objective.MaxFail, Upper: objective.MaxFail}
	}
}

// earlier returns the chart of the previous version under the same judge, if it has a
// baseline, its own or an earlier version's.
func (c *Charts) earlier(o *Observation) *chart {
	var best *chart
	for _, one := range c.state.Charts {
		known := one.Model.Source == FromBaseline || one.Model.Source == FromEarlier
		if one.Assertion == o.Assertion && one.Judge == o.Judge && known && (best == nil || one.Last.After(best.Last)) {
			best = one
		}
	}
	return best
}

// drop removes the chart that has been idle for the longest time, among those without an
// open alarm. If all have one, it removes the first chart.
func (c *Charts) drop() {
	at := -1
	for i, one := range c.state.Charts {
		if one.Recovery == nil && one.Mended == nil && (at < 0 || one.Last.Before(c.state.Charts[at].Last)) {
			at = i
		}
	}
	if at < 0 {
		at = 0
		for _, r := range []*recovery{c.state.Charts[0].Recovery, c.state.Charts[0].Mended} {
			if r != nil {
				c.end(r.Alarm, "there are too many charts")
			}
		}
	}
	c.state.Charts = slices.Delete(c.state.Charts, at, at+1)
	c.state.Dropped++
}

// alarm returns the id of the chart's open alarm, "" if there is none.
func (c *chart) alarm() string {
	if c.Recovery != nil {
		return c.Recovery.Alarm
	}
	return ""
}

// Ack marks an alarm as acknowledged; false if it is not open.
func (c *Charts) Ack(id string) bool {
	for _, a := range c.state.Open {
		if a.ID == id {
			a.State = StateAcked
			return true
		}
	}
	return false
}

// Open returns the alarms that are open or acked, oldest first.
func (c *Charts) Open() []*Alarm { return copies(c.state.Open) }

func copies(list []*Alarm) []*Alarm {
	out := make([]*Alarm, len(list))
	for i, a := range list {
		one := *a
		one.Changed, one.Examples = slices.Clone(a.Changed), slices.Clone(a.Examples)
		out[i] = &one
	}
	return out
}

// alarmID returns an id that depends only on its arguments, so that every process
// computes the same one.
func alarmID(watch string, kind Kind, about string, at time.Time) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{watch, string(kind), about, at.UTC().Format(time.RFC3339Nano)}, "\x00")))
	return "alarm_" + hex.EncodeToString(sum[:12])
}
