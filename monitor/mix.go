package monitor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/stats"
)

const (
	// MaxMixDays bounds the days of [Health.Mix] that are compared; earlier days are
	// ignored.
	MaxMixDays = 15
	// minMixDays is the minimum number of days before the last one.
	minMixDays = 5
	// mixDistance is the share of the traffic that must shift for an alarm, and mixShare
	// the share of the false alarms allotted to the mix.
	mixDistance, mixShare = 0.1, 0.02
	// maxShownSegments is the maximum number of segments that an alarm names.
	maxShownSegments = 5
)

// MixDay counts the matching events of a day by segment.
type MixDay struct {
	Day    time.Time // start of the day, in UTC
	Counts map[string]int
}

// mixed compares the mix of the last complete day with the days before it, once a day.
// Days differ by more than independent events would; the earlier days show by how much.
func (c *Charts) mixed(days []MixDay, now time.Time) []*Alarm {
	days = days[max(0, len(days)-MaxMixDays):]
	if len(days) <= minMixDays || !days[len(days)-1].Day.After(c.state.MixDay) {
		return nil
	}
	last, before := days[len(days)-1], days[:len(days)-1]
	c.state.MixDay = last.Day
	segments := segmentsOf(days)
	row := func(d MixDay) []int {
		counts := make([]int, len(segments))
		for name, n := range d.Counts {
			i := slices.Index(segments, name)
			if i < 0 {
				i = slices.Index(segments, otherSegment)
			}
			counts[i] += n
		}
		return counts
	}
	past := make([]int, len(segments))
	for _, d := range before {
		for i, n := range row(d) {
			past[i] += n
		}
	}
	m, err := stats.CompareMix(past, row(last), overdispersion(before, past, row))
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(c.state.Open, func(a *Alarm) bool { return a.Kind == KindMix })
	differs := m.Distance >= mixDistance && m.P <= mixShare/c.watch.FalseAlarms.PerDays
	switch {
	case differs && i < 0:
		return []*Alarm{c.mixAlarm(segments, past, row(last), last.Day, m, now)}
	case !differs && i >= 0:
		return []*Alarm{c.closeID(c.state.Open[i].ID, now, "the mix is again as on the days before")}
	}
	return nil
}

// segmentsOf returns the largest segments in days, and the one for the rest.
func segmentsOf(days []MixDay) []string {
	sum := map[string]float64{}
	for _, d := range days {
		for name, n := range d.Counts {
			sum[name] += float64(n)
		}
	}
	delete(sum, otherSegment)
	return append(largest(sum, maxSegments), otherSegment)
}

// overdispersion returns the factor by which the mix varies more between days than it
// would with independent events: the mean of χ² over its degrees of freedom, at least 1.
func overdispersion(days []MixDay, sum []int, row func(MixDay) []int) float64 {
	chi, freedom := 0.0, 0
	for _, d := range days {
		counts := row(d)
		rest := make([]int, len(sum))
		for i := range sum {
			rest[i] = sum[i] - counts[i]
		}
		if m, err := stats.CompareMix(rest, counts, 1); err == nil {
			chi, freedom = chi+m.ChiSquare, freedom+m.Freedom
		}
	}
	if freedom == 0 {
		return 1
	}
	return max(1, chi/float64(freedom))
}

func (c *Charts) mixAlarm(segments []string, past, last []int, on time.Time, m stats.Mix, now time.Time) *Alarm {
	on = on.UTC()
	since := Span{on, on.Add(day)}
	change := Change{What: "segment", From: shares(segments, past, last, past), To: shares(segments, past, last, last), At: on}
	a := &Alarm{
		ID: alarmID(c.watch.Name, KindMix, "", on), Watch: c.watch.Name, Kind: KindMix, State: StateOpen, Opened: now.UTC(), Since: &since, Examples: []string{},
		Reason:  fmt.Sprintf("%s of the traffic moved between segments on %s: %s before, %s then", percent(m.Distance), on.Format("2006-01-02"), change.From, change.To),
		Changed: append(c.state.changed(since), change),
	}
	c.state.Open = append(c.state.Open, a)
	return a
}

// shares formats the shares of the segments that changed most.
func shares(segments []string, past, last, of []int) string {
	total := func(list []int) (n float64) {
		for _, x := range list {
			n += float64(x)
		}
		return max(1, n)
	}
	n, m, all := total(past), total(last), total(of)
	moved := map[string]float64{}
	for i, name := range segments {
		if past[i]+last[i] > 0 {
			moved[name] = max(float64(past[i])/n-float64(last[i])/m, float64(last[i])/m-float64(past[i])/n)
		}
	}
	var list []string
	for _, name := range largest(moved, maxShownSegments) {
		label := name
		if label == "" {
			label = "(none)"
		}
		list = append(list, label+" "+percent(float64(of[slices.Index(segments, name)])/all))
	}
	return strings.Join(list, ", ")
}

// mixLog counts events by day and segment.
type mixLog struct {
	days []MixDay // the last day is incomplete
}

// add counts an event.
func (l *mixLog) add(at time.Time, segment string) {
	start := at.UTC().Truncate(day)
	i := slices.IndexFunc(l.days, func(d MixDay) bool { return d.Day.Equal(start) })
	if i < 0 {
		if len(l.days) > 0 && start.Before(l.days[len(l.days)-1].Day) {
			return // a late event from a day that was already compared
		}
		l.days = append(l.days[max(0, len(l.days)-MaxMixDays):], MixDay{start, map[string]int{}})
		i = len(l.days) - 1
	}
	counts := l.days[i].Counts
	if _, ok := counts[segment]; !ok && len(counts) >= maxSegments {
		segment = otherSegment
	}
	counts[segment]++
}

// complete returns the days that ended before now.
func (l *mixLog) complete(now time.Time) []MixDay {
	var list []MixDay
	for _, d := range l.days {
		if !d.Day.Add(day).After(now) {
			list = append(list, d)
		}
	}
	return list
}

// traffic returns the number of events per day by segment: for the last complete day, or,
// if there is none yet, extrapolated from the current day.
func (l *mixLog) traffic(now time.Time) map[string]float64 {
	out := map[string]float64{}
	if len(l.days) == 0 {
		return out
	}
	d, scale := l.days[0], 1.0
	if complete := l.complete(now); len(complete) > 0 {
		d = complete[len(complete)-1]
	} else {
		scale = 24 / max(1, now.Sub(d.Day).Hours())
	}
	for _, name := range slices.Sorted(maps.Keys(d.Counts)) {
		out[name] = scale * float64(d.Counts[name])
	}
	return out
}
