package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

const (
	// eventChunk is the number of events that one worker leases at once if no model is called.
	// With a model it leases 1, so that few calls are in flight.
	eventChunk = 16
	eventTries = 3                // attempts for an event whose assertions are undecided
	firstPause = 15 * time.Second // pause before the second attempt; it doubles
	// troublePause is how long a watch waits after a judge failure that somebody must fix.
	troublePause = time.Minute
)

// evaluateEvents leases jobs and evaluates them until ctx ends. Then it waits for the events in
// progress, and releases those that have not started.
func (m *monitoring) evaluateEvents(ctx context.Context) {
	var workers sync.WaitGroup
	defer workers.Wait()
	slots := make(chan struct{}, m.s.o.WatchWorkers)
	// Events in progress may end after ctx, because they are paid for.
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(m.s.o.StopTimeout/2, cancel)
	})()
	// A round takes a little of each watch, so that a long queue of one project does not delay
	// the others.
	round := func(ctx context.Context) (busy bool) {
		for _, p := range m.projects(ctx) {
			list, err := m.of(ctx, p)
			if err != nil {
				m.failed(ctx, "read watches", p, err)
			}
			for _, live := range list {
				c, err := m.leaseChunk(ctx, live, slots)
				if err != nil {
					m.failed(ctx, "lease events of "+live.Name, p, err)
				}
				if len(c.leases) == 0 {
					continue
				}
				busy = true
				workers.Go(func() {
					defer func() { <-slots }()
					m.guarded(working, func(working context.Context) { m.evaluateChunk(working, ctx, c) })
				})
			}
		}
		return busy
	}
	m.every(ctx, m.wake, m.s.o.Poll, func(ctx context.Context) {
		for ctx.Err() == nil && round(ctx) {
		}
	})
}

// chunk is the work of one worker.
type chunk struct {
	live   *liveWatch
	set    *watchedSet
	key    store.Key
	leases []store.EventLease
	repeat int // of an anchor round
}

// leaseChunk waits for a free worker and leases jobs for it. Without jobs, it frees the worker
// again.
func (m *monitoring) leaseChunk(ctx context.Context, live *liveWatch, slots chan struct{}) (c chunk, err error) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return c, nil
	}
	defer func() {
		if len(c.leases) == 0 {
			<-slots
		}
	}()
	work := m.workOf(live.key)
	is := work.now()
	if !is.mayLease(m.now()) {
		return c, nil
	}
	c.live = live
	if c.set, c.key, err = m.opened(ctx, live, work); err != nil || c.set == nil {
		return c, err
	}
	if len(c.set.judged) > 0 && !m.s.abilities.can(engine.NeedsJudge) && m.s.somebodyCan(ctx, engine.NeedsJudge) {
		work.leave(m.now())
		return c, nil
	}
	if len(c.set.judged) > 0 && m.s.replays() { // recorded verdicts are only for a fleet in which every process replays
		if n, err := m.s.mixed(ctx); n > 0 || err != nil {
			work.leave(m.now())
			return c, err
		}
	}
	limit := eventChunk
	if len(c.set.judged) > 0 {
		limit = 1
	}
	c.leases, err = m.s.o.Store.In(live.key.project).LeaseEvents(ctx, store.LeaseEvents{
		Watch: live.Name, Limit: limit, Lease: time.Duration(limit)*m.s.o.EvaluateLimit + time.Minute, Reserve: is.largest, Budget: live.conf.Sample.BudgetPerDay,
	})
	if errors.Is(err, store.ErrSealed) {
		work.leave(m.now())
	}
	work.change(func(x *watchState) { x.leased += len(c.leases) })
	if err != nil || len(c.leases) == 0 {
		return c, err
	}
	// Events that came after the key was revoked may be among these, so it is read again.
	if c.key, err = m.s.keyOf(ctx, store.Run{CreatedBy: live.CreatedBy}); err != nil {
		m.release(ctx, &c, 0)
		c.leases, err = nil, m.lacks(ctx, work, err)
	}
	return c, err
}

// opened returns the set and the key of a watch. If one is missing, it records a trouble of the
// watch.
func (m *monitoring) opened(ctx context.Context, live *liveWatch, work *watchWork) (*watchedSet, store.Key, error) {
	set, err := m.setOf(ctx, live)
	var key store.Key
	if err == nil {
		key, err = m.s.keyOf(ctx, store.Run{CreatedBy: live.CreatedBy})
	}
	if err != nil {
		return nil, key, m.lacks(ctx, work, err)
	}
	return set, key, nil
}

// lacks notes an error as a trouble of a watch, or returns it if it may pass by itself.
func (m *monitoring) lacks(ctx context.Context, work *watchWork, err error) error {
	var e *proviso.Error
	if ctx.Err() == nil && errors.As(err, &e) && e.Code != proviso.Unavailable {
		work.stuck(provider.KeyTrouble, e.Error(), m.now())
		return nil
	}
	return err
}

// evaluateChunk evaluates events one after the other. When stopping ends, it releases the
// events that it has not started. It also releases events that only other processes can read.
func (m *monitoring) evaluateChunk(ctx, stopping context.Context, c chunk) {
	for i, l := range c.leases {
		if stopping.Err() != nil {
			m.release(ctx, &c, i)
			return
		}
		r := m.evaluateEvent(ctx, &c, l)
		if r.left {
			m.release(ctx, &c, i)
			return
		}
		if len(c.set.judged) == 0 {
			m.results <- r
			continue
		}
		// Store the result before the next paid call: a killed process loses at most one call
		// per worker.
		kept := make(chan struct{})
		r.kept = kept
		m.results <- r
		<-kept
	}
}

// release returns the events from index from on to the queue, for other processes. They do not
// count as attempts.
func (m *monitoring) release(ctx context.Context, c *chunk, from int) {
	leases := c.leases[from:]
	m.workOf(c.live.key).change(func(x *watchState) { x.leased -= len(leases) })
	if err := m.s.o.Store.In(c.live.key.project).ReleaseEvents(context.WithoutCancel(ctx), c.live.Name, leases); err != nil {
		m.s.o.Log.Error("monitor", "doing", "release events", "error", err)
	}
}
