package monitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/internal/usd"
)

// queueAge is the waiting time of sampled events that raises an alarm; the alarm closes
// at half of it.
const queueAge = time.Hour

// Health is the state of a watch's work, as the caller knows it.
type Health struct {
	LastEvent   time.Time // time of the last matching event, zero if there was none
	LastSampled time.Time // time of the last event to evaluate; zero means LastEvent
	LastVerdict time.Time // time of the last pass or fail, zero if there was none
	Oldest      time.Time // since when the oldest sampled event has waited, zero if none waits
	Pending     int       // waiting sampled events
	Dropped     int       // events today that were not evaluated because too many waited
	Spent       float64   // US dollars spent today (UTC)
	Refused     bool      // events wait because the day's budget is spent
	Trouble     Cause     // NoKey or NoModel, "" if the judge can be called
	Why         string    // explanation of Trouble
	Mix         []MixDay  // complete days of traffic, oldest first: see [MaxMixDays]
}

// Check looks for silence and for a change in the mix of segments. It returns the alarms
// that were opened, updated or closed: one per cause, and none for a cause that another
// one explains.
func (c *Charts) Check(h Health, now time.Time) []*Alarm {
	now = now.UTC()
	if c.state.Started.IsZero() || now.Before(c.state.Started) {
		c.state.Started = now
	}
	touched := &changes{c: c, now: now}
	touched.closed()
	reasons := c.silences(&h, now)
	for _, cause := range []Cause{NoTraffic, NoKey, NoModel, NoBudget, NoRoom, NoVerdicts} {
		open := c.openSilent(cause)
		reason, is := reasons[cause]
		switch {
		case is && open == nil:
			touched.add(c.silent(cause, "", "", reason, now))
		case is:
			open.Reason = reason
		case open != nil:
			touched.add(c.closeID(open.ID, now, "it is over"))
		}
	}
	touched.add(c.closeSuperseded(now)...)
	touched.add(c.mixed(h.Mix, now)...)
	return touched.list
}

// silences returns the causes for which nothing is known, each with an explanation.
func (c *Charts) silences(h *Health, now time.Time) map[Cause]string {
	reasons := map[Cause]string{}
	s := c.watch.Silence
	if last := latest(h.LastEvent, c.state.Started); s.Traffic > 0 && now.Sub(last) >= s.Traffic {
		reasons[NoTraffic] = fmt.Sprintf("no event of %s since %s", c.watch.Match.Agent, last.UTC().Format("2006-01-02 15:04"))
	}
	why := h.Why
	switch {
	case h.Trouble == NoKey:
		reasons[NoKey] = "the key does not work"
	case h.Trouble == NoModel:
		reasons[NoModel] = "the model of the judge cannot be asked"
	case h.Trouble != "":
		reasons[NoKey] = "the judge cannot be asked"
	case h.Refused:
		reasons[NoBudget] = fmt.Sprintf("%s were spent today, and the budget is %s a day", usd.Cents(h.Spent), usd.Cents(c.watch.Sample.BudgetPerDay))
		why = ""
	default:
		why = ""
		c.waiting(h, now, reasons)
	}
	if why != "" {
		for _, cause := range []Cause{NoKey, NoModel} {
			if reasons[cause] != "" {
				reasons[cause] += ": " + why
			}
		}
	}
	return reasons
}

// waiting detects a growing queue, and missing verdicts that nothing else explains.
func (c *Charts) waiting(h *Health, now time.Time, reasons map[Cause]string) {
	age := time.Duration(0)
	if h.Pending > 0 && !h.Oldest.IsZero() {
		age = now.Sub(h.Oldest)
	}
	limit := queueAge
	if c.openSilent(NoRoom) != nil {
		limit /= 2
	}
	moving := !h.LastVerdict.IsZero() && now.Sub(h.LastVerdict) < limit
	switch {
	case h.Dropped > 0 && h.Pending > 0:
		reasons[NoRoom] = fmt.Sprintf("%s, and %d of today are not evaluated because too many waited", waits(h.Pending), h.Dropped)
	case age >= limit && moving:
		reasons[NoRoom] = fmt.Sprintf("%s, the oldest since %s", waits(h.Pending), h.Oldest.UTC().Format("2006-01-02 15:04"))
	}
	sampled := h.LastSampled
	if sampled.IsZero() {
		sampled = h.LastEvent
	}
	switch {
	case age == 0 && !sampled.After(h.LastVerdict):
		c.state.Waiting = time.Time{}
	case c.state.Waiting.IsZero() || c.state.Waiting.Before(h.LastVerdict):
		c.state.Waiting = latest(h.LastVerdict, earliest(sampled, now))
	}
	w, d := c.state.Waiting, c.watch.Silence.Verdicts
	if c.openSilent(NoDecision) != nil {
		return // this explains it
	}
	if _, queue := reasons[NoRoom]; !queue && d > 0 && !w.IsZero() && now.Sub(w) >= d {
		reasons[NoVerdicts] = fmt.Sprintf("events are sampled, but there is no verdict since %s", w.UTC().Format("2006-01-02 15:04"))
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// openSilent returns the watch's open alarm for a cause, nil if there is none.
func (c *Charts) openSilent(cause Cause) *Alarm {
	i := slices.IndexFunc(c.state.Open, func(a *Alarm) bool { return a.Kind == KindSilent && a.Cause == cause })
	if i < 0 {
		return nil
	}
	return c.state.Open[i]
}

// silent opens an alarm that nothing is known.
func (c *Charts) silent(cause Cause, assertion, about, reason string, at time.Time) *Alarm {
	at = at.UTC()
	a := &Alarm{
		ID: alarmID(c.watch.Name, KindSilent, string(cause)+"\x00"+assertion+"\x00"+about, at), Watch: c.watch.Name, Kind: KindSilent, Cause: cause, Assertion: assertion,
		State: StateOpen, Opened: at, Reason: reason, Changed: []Change{}, Examples: []string{},
	}
	c.state.Open = append(c.state.Open, a)
	return a
}

// waits describes the number of waiting events.
func waits(n int) string {
	if n == 1 {
		return "1 event waits"
	}
	return fmt.Sprintf("%d events wait", n)
}
