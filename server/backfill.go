package server

import (
	"context"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
)

const (
	backfillSpan   = 7 * 24 * time.Hour // how far back stored traffic is evaluated for a new assertion
	backfillEvents = 400                // of one conversation each: enough for a baseline
	backfillSeen   = 20_000             // events that are looked at
)

// backfill enqueues stored events for the assertions of a watch that have no verdict yet, so
// that they have a baseline on their first day. It does so once for each version of a set.
func (m *monitoring) backfill(ctx context.Context, live *liveWatch) error {
	set, err := m.setOf(ctx, live)
	if err != nil {
		return nil // the watch is in trouble, and says so
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

// storedEvents selects stored events as the watch would have sampled them, one of each
// conversation: the newest, in the order of their time.
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

// event reads an event that is to be evaluated.
func (m *monitoring) event(ctx context.Context, p store.Project, id string) (*ingest.Event, error) {
	e, err := m.s.o.Store.In(p).Event(ctx, id)
	if err == nil && !e.Kept {
		err = proviso.Errorf(proviso.NotFound, "its texts are not kept any more")
	}
	return &e.Event, err
}
