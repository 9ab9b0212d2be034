package server

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/notify"
	"github.com/proviso-eval/proviso/store"
)

// observedAtOnce is the number of verdicts that charts process before their state is stored.
const observedAtOnce = 5000

// chart updates the charts of all watches every [Options.ChartEvery], until ctx ends. Projects
// are charted separately, so that a slow one does not delay the others; a project that is still
// in progress is skipped.
func (m *monitoring) chart(ctx context.Context) {
	var underWay sync.WaitGroup
	defer underWay.Wait()
	var busy sync.Map // projects in progress
	m.every(ctx, nil, m.s.o.ChartEvery, func(ctx context.Context) {
		for _, p := range m.projects(ctx) {
			if _, charting := busy.LoadOrStore(p, true); charting {
				continue
			}
			underWay.Go(func() {
				defer busy.Delete(p)
				m.guarded(ctx, func(ctx context.Context) { m.chartProject(ctx, p) })
			})
		}
	})
}

// chartProject updates the charts of a project's watches.
func (m *monitoring) chartProject(ctx context.Context, p store.Project) {
	list, err := m.of(ctx, p)
	if err != nil {
		m.failed(ctx, "read watches", p, err)
		return
	}
	for _, live := range list {
		if ctx.Err() != nil {
			return
		}
		m.guarded(ctx, func(ctx context.Context) {
			if err := m.chartWatch(ctx, live, m.othersOf(live, list)); err != nil {
				m.failed(ctx, "bring charts up to date: "+live.Name, p, err)
			}
		})
	}
	m.gauges(ctx, p, list)
}

// charting updates the charts of one watch.
type charting struct {
	m      *monitoring
	live   *liveWatch
	in     store.ProjectStore
	state  store.ChartState
	charts *monitor.Charts
}

// chartWatch updates the charts of one watch.
func (m *monitoring) chartWatch(ctx context.Context, live *liveWatch, others int) error {
	x, err := m.openCharts(ctx, live, others)
	if err != nil {
		return err
	}
	if err := x.observe(ctx); err != nil {
		return err
	}
	var alarms []*monitor.Alarm
	round, results := m.anchorRound(ctx, live)
	if round != nil {
		alarms = x.charts.Anchored(results, m.now())
	}
	health, err := m.health(ctx, live)
	if err != nil {
		return err
	}
	alarms = append(alarms, x.charts.Check(health, m.now())...)
	m.workOf(live.key).change(func(w *watchState) { w.charts, w.states = x.charts.Live(), countStates(x.charts.View()) })
	if len(alarms) > 0 || round != nil || !bytes.Equal(x.charts.Save(), x.state.State) {
		if err := x.save(ctx, x.state.Cursor, alarms, round); err != nil {
			return err
		}
	}
	m.anchored(live, round)
	m.plan(ctx, live)
	return m.backfill(ctx, live)
}

// openCharts reads the charts of a watch, including acknowledgements made since they were
// saved.
func (m *monitoring) openCharts(ctx context.Context, live *liveWatch, others int) (*charting, error) {
	x := &charting{m: m, live: live, in: m.s.o.Store.In(live.key.project)}
	var err error
	if x.state, err = x.in.Charts(ctx, live.Name); err != nil {
		return nil, err
	}
	o := monitor.Options{Others: others, Corrected: func(assertion, version, judge string, since monitor.Span) *float64 {
		return m.correctedRate(ctx, live, assertion, version, judge, since)
	}}
	if len(x.state.State) == 0 {
		x.charts = monitor.NewCharts(&live.conf, o)
		return x, nil
	}
	if x.charts, err = monitor.LoadCharts(&live.conf, x.state.State, o); err != nil {
		return nil, err
	}
	acked, err := x.in.ListAlarms(ctx, store.AlarmFilter{Watch: live.Name, State: []store.AlarmState{store.AlarmAcked}}, store.Page{Limit: store.MaxPage})
	for _, a := range acked.Items {
		x.charts.Ack(a.ID)
	}
	return x, err
}

// observe feeds new verdicts to the charts.
func (x *charting) observe(ctx context.Context) error {
	for {
		verdicts, err := x.in.Observations(ctx, x.live.Name, x.state.Cursor, observedAtOnce)
		if err != nil || len(verdicts) == 0 {
			return err
		}
		alarms := x.charts.Observe(observationsOf(verdicts), x.m.now())
		if err := x.save(ctx, verdicts[len(verdicts)-1].Sequence, alarms, nil); err != nil {
			return err
		}
		if len(verdicts) < observedAtOnce {
			return nil
		}
	}
}

// observationsOf converts verdicts for the charts.
func observationsOf(list []store.WatchVerdict) []monitor.Observation {
	out := make([]monitor.Observation, len(list))
	for i := range list {
		v := &list[i]
		out[i] = monitor.Observation{
			Sequence: v.Sequence, Event: v.Event, Conversation: v.Conversation, Assertion: v.Assertion, Version: v.Version, Judge: v.Judge, Model: v.Model, Prompt: v.Prompt,
			Segment: v.Segment, Time: v.Time, At: v.At, Probability: v.Probability, Backfill: v.Backfill, Status: v.Status,
		}
	}
	return out
}

// save stores the state of the charts with the resulting alarms and notices, and wakes the
// sender of notices.
func (x *charting) save(ctx context.Context, cursor int64, alarms []*monitor.Alarm, round *store.AnchorRound) error {
	save := store.ChartSave{From: x.state.Cursor, Cursor: cursor, State: x.charts.Save(), Anchors: round}
	opened := map[string]string{}
	for _, a := range alarms {
		body, err := json.Marshal(a)
		if err != nil {
			return err
		}
		stored := store.Alarm{ID: a.ID, Watch: x.live.Name, Kind: string(a.Kind), Assertion: a.Assertion, State: store.AlarmState(a.State), Opened: a.Opened, Body: body}
		event := notify.Opened
		if stored.State == store.AlarmClosed {
			if event = notify.Closed; a.Closed != nil {
				stored.Closed = *a.Closed
			}
		} else if x.m.isNew(a) {
			opened[a.ID] = string(a.Kind)
		}
		save.Alarms = append(save.Alarms, stored)
		for _, target := range x.live.conf.Notify { // the store drops duplicates
			save.Notices = append(save.Notices, store.NewNotice{Alarm: a.ID, Target: target, Event: event, Body: body})
		}
	}
	err := x.in.SaveCharts(ctx, x.live.Name, save)
	if proviso.CodeOf(err) == proviso.NotFound { // the watch was removed meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	x.state = store.ChartState{Cursor: cursor, State: save.State, Saved: x.m.now()}
	for id, kind := range opened {
		x.m.told(id)
		x.m.s.metrics.opened.WithLabelValues(string(x.live.key.project), kind).Inc()
	}
	if len(save.Notices) > 0 {
		signal(x.m.outbox)
	}
	return nil
}

// isNew reports whether this process opens an alarm, rather than updating it.
func (m *monitoring) isNew(a *monitor.Alarm) bool {
	_, seen := m.alarms.Get(a.ID)
	return !seen && !a.Opened.Before(m.began)
}

func (m *monitoring) told(id string) { m.alarms.Add(id, struct{}{}) }

// othersOf counts the charts of the other watches of a project.
func (m *monitoring) othersOf(live *liveWatch, list []*liveWatch) int {
	n := 0
	for _, other := range list {
		if other.Name != live.Name {
			n += m.workOf(other.key).now().charts
		}
	}
	return n
}

// health returns the state of a watch's work.
func (m *monitoring) health(ctx context.Context, live *liveWatch) (monitor.Health, error) {
	now := m.now()
	in := m.s.o.Store.In(live.key.project)
	h, err := in.WatchHealth(ctx, live.Name, now)
	if err != nil {
		return monitor.Health{}, err
	}
	out := monitor.Health{
		LastVerdict: h.LastVerdict, Pending: h.Pending, Oldest: h.Oldest, Dropped: h.Dropped, Spent: h.Spend.Spent + h.Spend.Uncertain,
	}
	work := m.workOf(live.key).now()
	if budget := live.conf.Sample.BudgetPerDay; budget > 0 && h.Pending > h.Leased {
		out.Refused = h.Spend.Spent+h.Spend.Uncertain+h.Spend.Reserved+work.largest > budget
	}
	switch work.trouble {
	case "":
	case "model":
		out.Trouble, out.Why = monitor.NoModel, work.why
	default: // the key does not work, or has no money left
		out.Trouble, out.Why = monitor.NoKey, work.why
	}
	out.LastSampled = work.sampled
	if out.LastEvent, err = m.lastEvent(ctx, live); err != nil {
		return out, err
	}
	out.Mix, err = m.mix(ctx, live, now)
	return out, err
}

// eventsSeen is the number of an agent's recent events in which lastEvent searches.
const eventsSeen = 200

// lastEvent returns when the last matching event was received.
func (m *monitoring) lastEvent(ctx context.Context, live *liveWatch) (time.Time, error) {
	last := m.workOf(live.key).now().matched
	list, err := m.s.o.Store.In(live.key.project).ListEvents(ctx, store.EventFilter{Agent: live.conf.Match.Agent}, store.Page{Limit: eventsSeen})
	if err != nil {
		return last, err
	}
	for i := range list.Items {
		e := &list.Items[i]
		// A condition on texts, which this list lacks, may fail.
		if match, err := live.matcher.Match(&e.Event); err == nil && !match {
			continue
		}
		if e.Received.After(last) {
			last = e.Received
		}
	}
	return last, nil
}

// mix counts complete days of traffic by segment. It is reread every hour.
func (m *monitoring) mix(ctx context.Context, live *liveWatch, now time.Time) ([]monitor.MixDay, error) {
	segment := live.conf.Sample.Segment
	if segment == "" {
		return nil, nil
	}
	work := m.workOf(live.key)
	if is := work.now(); is.mixed.Equal(now.Truncate(time.Hour)) {
		return is.days, nil
	}
	const day = 24 * time.Hour
	to := now.UTC().Truncate(day)
	list, err := m.s.o.Store.In(live.key.project).CountTraffic(ctx, store.TrafficFilter{
		Agent: live.conf.Match.Agent, By: store.BySegmentOf(segment), From: to.Add(-monitor.MaxMixDays * day), To: to, Step: day,
	})
	if err != nil {
		return nil, err
	}
	var days []monitor.MixDay
	for _, c := range list { // ordered by start
		if len(days) == 0 || !days[len(days)-1].Day.Equal(c.Start) {
			days = append(days, monitor.MixDay{Day: c.Start, Counts: map[string]int{}})
		}
		days[len(days)-1].Counts[c.Value] += c.Events
	}
	work.change(func(x *watchState) { x.mixed, x.days = now.Truncate(time.Hour), days })
	return days, nil
}

// gauges sets the metrics of the watches of a project.
func (m *monitoring) gauges(ctx context.Context, p store.Project, list []*liveWatch) {
	in, now, w := m.s.o.Store.In(p), m.now(), &m.s.metrics.watchMetrics
	of := string(p)
	pending, oldest, used := 0, 0.0, 0.0
	for _, live := range list {
		h, err := in.WatchHealth(ctx, live.Name, now)
		if err != nil {
			continue
		}
		pending += h.Pending
		if !h.Oldest.IsZero() {
			oldest = max(oldest, now.Sub(h.Oldest).Seconds())
		}
		if b := live.conf.Sample.BudgetPerDay; b > 0 {
			used = max(used, (h.Spend.Spent+h.Spend.Uncertain)/b)
		}
	}
	states := map[string]int{}
	for _, live := range list {
		for state, n := range m.workOf(live.key).now().states {
			states[state] += n
		}
	}
	for _, state := range []string{"learning", "watching", "alarm"} {
		w.charts.WithLabelValues(of, state).Set(float64(states[state]))
	}
	w.watches.WithLabelValues(of).Set(float64(len(list)))
	w.queue.WithLabelValues(of).Set(float64(pending))
	w.age.WithLabelValues(of).Set(oldest)
	w.budget.WithLabelValues(of).Set(used)
	alarms, err := in.ListAlarms(ctx, store.AlarmFilter{State: []store.AlarmState{store.AlarmOpen, store.AlarmAcked}}, store.Page{Limit: store.MaxPage})
	if err != nil {
		m.failed(ctx, "count alarms", p, err)
		return
	}
	counts, silent := map[[2]string]int{}, map[string]int{}
	for i := range alarms.Items {
		a := &alarms.Items[i]
		counts[[2]string{a.Kind, string(a.State)}]++
		if a.Kind == string(monitor.KindSilent) {
			silent[causeOf(a)]++
		}
	}
	for _, kind := range []monitor.Kind{monitor.KindAgent, monitor.KindJudge, monitor.KindMix, monitor.KindSilent} {
		for _, state := range []store.AlarmState{store.AlarmOpen, store.AlarmAcked} {
			w.alarms.WithLabelValues(of, string(kind), string(state)).Set(float64(counts[[2]string{string(kind), string(state)}]))
		}
	}
	for _, cause := range []monitor.Cause{monitor.NoTraffic, monitor.NoVerdicts, monitor.NoKey, monitor.NoModel, monitor.NoBudget, monitor.NoRoom, monitor.NoDecision} {
		w.silent.WithLabelValues(of, string(cause)).Set(float64(silent[string(cause)]))
	}
}

// causeOf returns the cause of a silent alarm.
func causeOf(a *store.Alarm) string {
	var body struct {
		Cause string `json:"cause"`
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return ""
	}
	return body.Cause
}
