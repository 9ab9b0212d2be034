package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/stats"
)

// confidence is the confidence level of the intervals in alarms and charts.
const confidence = 0.95

var newDetector stats.EDetector

// changes collects the alarms that a call touched, each once, in its final state.
type changes struct {
	c      *Charts
	now    time.Time
	list   []*Alarm
	marked []*chart
}

func (t *changes) add(list ...*Alarm) {
	for _, a := range list {
		if a == nil {
			continue
		}
		t.list = slices.DeleteFunc(t.list, func(b *Alarm) bool { return b.ID == a.ID })
		t.list = append(t.list, copies([]*Alarm{a})...)
	}
}

// closed adds the alarms that ended since the last call. Their closing time is now, when
// clients learn of it.
func (t *changes) closed() {
	for _, a := range t.c.ended {
		if at := t.now; at.After(*a.Closed) {
			a.Closed = &at
		}
		t.add(a)
	}
	t.c.ended = nil
}

// mark records that a chart's open alarm has changed.
func (t *changes) mark(one *chart) {
	if !slices.Contains(t.marked, one) {
		t.marked = append(t.marked, one)
	}
}

// refresh updates the alarms of marked charts.
func (t *changes) refresh() {
	for _, one := range t.marked {
		if one.Recovery != nil {
			t.add(t.c.refresh(one))
		}
	}
}

// rises opens the alarm of a chart.
func (c *Charts) rises(one *chart, family int, o *Observation) *Alarm {
	from, early, since := one.rise()
	at := o.clock().UTC()
	scale := float64(family) * one.perDay() // evaluations of the chart per day of the project
	a := &Alarm{
		ID: alarmID(c.watch.Name, KindAgent, one.Assertion+"\x00"+one.Version+"\x00"+one.Judge, at), Watch: c.watch.Name, Kind: KindAgent, Assertion: one.Assertion,
		State: StateOpen, Opened: at, Since: &since, Version: one.Version, Judge: one.Judge, Changed: c.state.changed(since), Examples: []string{},
		Baseline:  &Baseline{Rate: one.Model.Rate, Upper: one.Model.Upper, N: one.Model.N},
		Statistic: &Statistic{Value: short(one.Detector.Value() * scale), Threshold: short(c.watch.FalseAlarms.PerDays * scale), ARL0Days: c.watch.FalseAlarms.PerDays},
	}
	one.Recovery = &recovery{Alarm: a.ID, Odds: leastChange, From: from, Early: early, Since: since, Model: one.Model, At: at}
	one.Detector = newDetector
	c.state.Open = append(c.state.Open, a)
	c.refresh(one)
	return a
}

func odds(p float64) float64 {
	p = min(0.98, max(1e-9, p))
	return p / (1 - p)
}

// refresh updates a chart's open alarm.
func (c *Charts) refresh(one *chart) *Alarm {
	i := slices.IndexFunc(c.state.Open, func(a *Alarm) bool { return a.ID == one.Recovery.Alarm })
	if i < 0 {
		return nil
	}
	a := c.state.Open[i]
	w := one.since(one.Recovery.From)
	e, err := w.Hajek(confidence)
	if err != nil {
		e = stats.Estimate{Interval: stats.Interval{Low: 0, High: 1}}
	}
	a.Now = &Now{Rate: short(e.Value), Low: short(e.Low), High: short(e.High), N: w.N}
	if c.o.Corrected != nil {
		a.Now.Corrected = c.o.Corrected(one.Assertion, one.Version, one.Judge, one.Recovery.Since)
	}
	a.Examples = slices.Clone(one.Latest)
	slices.Reverse(a.Examples)
	a.Reason = fmt.Sprintf("%s fails in %s of %s since %s; no more than %s was expected (%s)",
		a.Assertion, percent(a.Now.Rate), plural.Of(w.N, "evaluation"), one.Recovery.From.Time.Format("2006-01-02 15:04"), percent(a.Baseline.Upper), one.Recovery.Model.Source.words(&one.Recovery.Model))
	return a
}

// words describes the origin of an in-control rate.
func (s Source) words(m *model) string {
	switch s {
	case FromObjective:
		return "the objective"
	case FromEarlier:
		return fmt.Sprintf("the upper limit of the version before, of which %s of %d failed", percent(m.Rate), m.N)
	case FromBaseline:
		return fmt.Sprintf("the upper limit of the baseline, in which %s of %d failed", percent(m.Rate), m.N)
	}
	return "no baseline yet"
}

func percent(f float64) string { return strconv.FormatFloat(100*f, 'f', digits(f), 64) + " %" }

// digits returns the number of decimals for a percentage.
func digits(f float64) int {
	if f > 0 && f < 0.01 {
		return 2
	}
	return 1
}

// breaks opens the alarm for an assertion that cannot be decided.
func (c *Charts) breaks(one *chart, o *Observation) *Alarm {
	reason := fmt.Sprintf("%s cannot be decided: %d of %s gave an error", one.Assertion, one.Errors, plural.Of(one.Errors+one.All.N, "evaluation"))
	a := c.silent(NoDecision, one.Assertion, one.Version+"\x00"+one.Judge, reason, o.clock())
	a.Version, a.Judge = one.Version, one.Judge
	one.Mended = &recovery{Alarm: a.ID, Odds: 5, At: a.Opened}
	one.Undecide = newDetector
	return a
}

// closeID closes an alarm.
func (c *Charts) closeID(id string, at time.Time, why string) *Alarm {
	i := slices.IndexFunc(c.state.Open, func(a *Alarm) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	a := c.state.Open[i]
	c.state.Open = slices.Delete(c.state.Open, i, i+1)
	closed := at.UTC()
	if closed.Before(a.Opened) {
		closed = a.Opened
	}
	a.State, a.Closed = StateClosed, &closed
	if why != "" {
		a.Reason = strings.TrimSuffix(a.Reason, ".") + "; " + why
	}
	return a
}

// closeSuperseded closes the alarms of charts that no longer get evaluations while other
// charts of the assertion, or the watch, do.
func (c *Charts) closeSuperseded(now time.Time) []*Alarm {
	var list []*Alarm
	for _, one := range c.state.Charts {
		if one.Recovery == nil && one.Mended == nil {
			continue
		}
		quiet := c.state.Clock.Sub(one.Last)
		replaced := slices.ContainsFunc(c.state.Charts, func(b *chart) bool {
			return b != one && b.Assertion == one.Assertion && b.Last.Sub(one.Last) >= superseded
		})
		if quiet < idle && !replaced {
			continue
		}
		at := now
		if c.state.Clock.After(at) {
			at = c.state.Clock
		}
		for _, r := range []*recovery{one.Recovery, one.Mended} {
			if r == nil {
				continue
			}
			if a := c.closeID(r.Alarm, at, "there is no more traffic of this version and judge"); a != nil {
				list = append(list, a)
			}
		}
		one.Recovery, one.Mended, one.Undecide = nil, nil, newDetector
		one.restart(one.Last)
	}
	slices.SortFunc(list, func(a, b *Alarm) int { return cmp.Compare(a.ID, b.ID) })
	return list
}
