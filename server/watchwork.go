package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// watchWork is this process's state of the work for a watch. It is safe for concurrent use.
type watchWork struct {
	mu sync.Mutex
	watchState
}

type watchState struct {
	largest float64 // highest cost of an event, in US dollars
	paid    float64 // cost of all events, in US dollars
	events  int     // evaluated events
	leased  int     // leased events in this process
	trouble provider.Trouble
	why     string         // description of the trouble, for people
	until   time.Time      // when to retry after a trouble
	filled  string         // hash of the set whose new assertions were backfilled
	matched time.Time      // when the last matching event arrived
	planned string         // hash of the watch and hour of the last plan
	sampled time.Time      // when the last sampled event arrived
	charts  int            // number of charts that can raise an alarm
	states  map[string]int // states of the charts, by name; nil if unknown
	mixed   time.Time      // hour in which days was read
	days    []monitor.MixDay

	judging bool // anchors are being judged
	round   *store.AnchorRound
	results []monitor.AnchorResult // results of round, which the charts do not contain yet
	tried   time.Time              // when to retry a round of anchors that ended early
}

// workOf returns the work of a watch.
func (m *monitoring) workOf(key watchKey) *watchWork {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.work[key]
	if w == nil {
		w = &watchWork{watchState: watchState{charts: 1}}
		m.work[key] = w
	}
	return w
}

// now returns a snapshot of the state.
func (w *watchWork) now() watchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watchState
}

// change changes the state with f.
func (w *watchWork) change(f func(*watchState)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.watchState)
}

// mayLease reports whether another event may be evaluated: not while the watch is in trouble,
// or while the cost of the first event is unknown.
func (w *watchState) mayLease(now time.Time) bool {
	return !now.Before(w.until) && (w.events > 0 || w.leased == 0)
}

// stuck records a trouble.
func (w *watchWork) stuck(t provider.Trouble, why string, now time.Time) {
	w.change(func(x *watchState) { x.trouble, x.why, x.until = t, why, now.Add(troublePause) })
}

// leave leaves the events to other processes for [troublePause].
func (w *watchWork) leave(now time.Time) { w.stuck(provider.NoTrouble, "", now) }

// ended records that an event was evaluated.
func (w *watchWork) ended(cost float64, t provider.Trouble, why string, now time.Time) {
	w.change(func(x *watchState) {
		x.leased--
		x.events, x.paid, x.largest = x.events+1, x.paid+cost, max(x.largest, cost)
		x.trouble, x.why, x.until = t, why, time.Time{}
		if t != provider.NoTrouble {
			x.until = now.Add(troublePause)
		}
	})
}

// saw records that a matching event arrived, and whether it was sampled.
func (w *watchWork) saw(now time.Time, sampled bool) {
	w.change(func(x *watchState) {
		if x.matched = now; sampled {
			x.sampled = now
		}
	})
}

// plans reports whether a watch has no plan for an hour yet, and records that it has one now.
func (w *watchWork) plans(hash string, hour time.Time) (due bool) {
	of := hash + hour.UTC().Format(time.RFC3339)
	w.change(func(x *watchState) { due, x.planned = x.planned != of, of })
	return due
}

const (
	backfillSpan   = 7 * 24 * time.Hour // how far back stored traffic is evaluated for a new assertion
	backfillEvents = 400                // each from a different conversation: enough for a baseline
	backfillSeen   = 20_000             // events that are read
)

// backfill enqueues stored events for the assertions of a watch without verdicts, so that they
// have a baseline on their first day. It does so once for each version of a set.
func (m *monitoring) backfill(ctx context.Context, live *liveWatch) error {
	set, err := m.setOf(ctx, live)
	if err != nil {
		return nil // the watch is in trouble, and reports it
	}
	work := m.workOf(live.key)
	if work.now().filled == set.hash {
		return nil
	}
	in := m.s.o.Store.In(live.key.project)
	now := m.now()
	known, err := in.Series(ctx, store.SeriesFilter{Watch: live.Name, From: now.Add(-4 * backfillSpan), To: now.Add(time.Hour), Step: 24 * time.Hour})
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(set.ids), func(id string) bool {
		return slices.ContainsFunc(known, func(b store.Bucket) bool { return b.Assertion == id })
	})
	if len(added) > 0 {
		jobs, err := m.storedEvents(ctx, live)
		if err != nil {
			return err
		}
		if n, err := in.EnqueueEvents(ctx, live.Name, jobs, added...); err != nil {
			return err
		} else if n > 0 {
			m.s.o.Log.Info("stored traffic is evaluated for new assertions", "project", live.key.project, "watch", live.Name, "events", n)
			signal(m.wake)
		}
	}
	work.change(func(x *watchState) { x.filled = set.hash })
	return nil
}

// storedEvents selects stored events as the watch would have sampled them, the newest of each
// conversation, in the order of their time.
func (m *monitoring) storedEvents(ctx context.Context, live *liveWatch) ([]store.Backfill, error) {
	in := m.s.o.Store.In(live.key.project)
	var jobs []store.Backfill
	groups := map[string]bool{}
	f := store.EventFilter{Agent: live.conf.Match.Agent, Since: m.now().Add(-backfillSpan), Kept: true, Contents: true}
	seen := 0
	for stored, err := range all(ctx, in.ListEvents, f) {
		if err != nil {
			return nil, err
		}
		if seen++; seen > backfillSeen || len(jobs) == backfillEvents {
			break
		}
		e := &stored.Event
		if groups[e.Group()] || e.Output == "" || !e.Answered() {
			continue
		}
		if match, err := live.matcher.Match(e); err != nil || !match {
			continue
		}
		if probability, taken := live.sampler.Take(e); taken {
			groups[e.Group()] = true
			jobs = append(jobs, store.Backfill{Event: e.ID, Probability: probability})
		}
	}
	slices.Reverse(jobs)
	return jobs, nil
}

// event reads an event for evaluation.
func (m *monitoring) event(ctx context.Context, p store.Project, id string) (*ingest.Event, error) {
	e, err := m.s.o.Store.In(p).Event(ctx, id)
	if err == nil && !e.Kept {
		err = proviso.Errorf(proviso.NotFound, "its texts are not kept any more")
	}
	return &e.Event, err
}

// plan fixes the sampling probabilities of an hour, from traffic and spend alone.
func (m *monitoring) plan(ctx context.Context, live *liveWatch) {
	now := m.now()
	work := m.workOf(live.key)
	if !work.plans(live.Hash, now.Truncate(time.Hour)) {
		return
	}
	f, err := m.forecast(ctx, live, now)
	if err != nil {
		m.failed(ctx, "plan the sampling of "+live.Name, live.key.project, err)
		return
	}
	live.sampler.Plan(f)
}

// forecast sums up the traffic of the last days.
func (m *monitoring) forecast(ctx context.Context, live *liveWatch, now time.Time) (monitor.Forecast, error) {
	in := m.s.o.Store.In(live.key.project)
	h, err := in.WatchHealth(ctx, live.Name, now)
	if err != nil {
		return monitor.Forecast{}, err
	}
	work := m.workOf(live.key).now()
	f := monitor.Forecast{Cost: work.paid / float64(max(work.events, 1)), Now: now, Traffic: map[string]float64{}, Spent: h.Spend.Spent + h.Spend.Uncertain}
	if f.Cost == 0 && h.Spend.Calls > 0 {
		f.Cost = h.Spend.Spent / float64(h.Spend.Calls)
	}
	by := store.ByAll
	if segment := live.conf.Sample.Segment; segment != "" {
		by = store.BySegmentOf(segment)
	}
	const span = 7 * 24 * time.Hour
	to := now.Truncate(time.Hour).Add(time.Hour)
	list, err := in.CountTraffic(ctx, store.TrafficFilter{Agent: live.conf.Match.Agent, By: by, From: to.Add(-span), To: to, Step: time.Hour})
	first := to
	for _, c := range list {
		f.Traffic[c.Value] += float64(c.Events)
		if c.Start.Before(first) {
			first = c.Start
		}
	}
	days := max(to.Sub(first).Hours()/24, 1.0/24) // the agent may be new
	for value := range f.Traffic {
		f.Traffic[value] /= days
	}
	return f, err
}
