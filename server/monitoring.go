package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
)

// monitoring is the background work of a server for its watches: it evaluates sampled events,
// updates charts, judges anchors again, and notifies people of alarms. Its state is in the
// store, so that a killed server continues where it was.
type monitoring struct {
	s      *Server
	now    func() time.Time
	began  time.Time
	wake   chan struct{} // signals new jobs
	outbox chan struct{} // signals new notices
	watches
	settler

	mu     sync.Mutex
	work   map[watchKey]*watchWork
	alarms *recent.Cache[string, struct{}] // alarms that were opened or updated, by id

	loops sync.WaitGroup
}

// watchKey identifies a watch.
type watchKey struct {
	project store.Project
	name    string
}

func newMonitoring(s *Server) *monitoring {
	m := &monitoring{
		s: s, now: s.o.Now, began: s.o.Now(), wake: make(chan struct{}, 1), outbox: make(chan struct{}, 1), work: map[watchKey]*watchWork{},
	}
	m.watches = watches{m: m, lists: map[store.Project]*watchList{}, sets: recent.New[string, *watchedSet](recent.Options[*watchedSet]{Entries: 200})}
	m.alarms = recent.New[string, struct{}](recent.Options[struct{}]{Entries: 10_000})
	m.settler = settler{m: m, results: make(chan settlement, 4*s.o.WatchWorkers)}
	return m
}

// start starts the work; stop ends it and waits. A server without workers watches nothing.
func (m *monitoring) start(ctx context.Context) (stop func()) {
	if m.s.o.WatchWorkers <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	evaluating := make(chan struct{})
	m.loops.Go(func() {
		defer close(evaluating)
		m.evaluateEvents(ctx)
	})
	m.loops.Go(func() { m.settle(evaluating) })
	m.loops.Go(func() { m.chart(ctx) })
	if m.s.o.Notifier != nil {
		m.loops.Go(func() { m.sendNotices(ctx) })
	}
	if m.s.o.Verdicts != nil {
		m.loops.Go(func() { m.flushVerdicts(ctx) })
	}
	return func() {
		cancel()
		m.loops.Wait()
	}
}

// signal wakes a waiting loop. One pending signal is enough for several events.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// projects returns the projects that may have watches.
func (m *monitoring) projects(ctx context.Context) []store.Project {
	list, err := m.s.o.Store.Projects(ctx)
	if err != nil {
		m.failed(ctx, "look for watches", "", err)
	}
	return list
}

// every calls do at each signal and after each pause, until ctx ends. A panic ends only that
// call.
func (m *monitoring) every(ctx context.Context, when <-chan struct{}, pause time.Duration, do func(context.Context)) {
	every(ctx, when, pause, func(time.Time) { m.guarded(ctx, do) })
}

// every calls do now, at each signal and after each pause, until ctx ends.
func every(ctx context.Context, when <-chan struct{}, pause time.Duration, do func(now time.Time)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for now := time.Now(); ; {
		do(now)
		select {
		case <-ctx.Done():
			return
		case <-when:
			now = time.Now()
		case now = <-tick.C:
		}
	}
}

// guarded calls do, and logs a panic as a defect.
func (m *monitoring) guarded(ctx context.Context, do func(context.Context)) {
	defer func() {
		if v := recover(); v != nil {
			m.defect(v)
		}
	}()
	do(ctx)
}

// defect logs a panic.
func (m *monitoring) defect(v any) {
	m.s.o.Log.Error("defect", "doing", "monitor", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
}

// forget drops the work of a removed watch.
func (m *monitoring) forget(key watchKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.work, key)
}

// flushVerdicts forwards verdicts to a collector, every second.
func (m *monitoring) flushVerdicts(ctx context.Context) {
	m.every(ctx, nil, time.Second, func(context.Context) { m.s.o.Verdicts.Flush() })
	m.s.o.Verdicts.Flush()
}

// chartsOf returns the charts of a watch for clients, and a sentence about its false alarm
// rate.
func (m *monitoring) chartsOf(ctx context.Context, live *liveWatch) ([]monitor.ChartView, string, error) {
	list, err := m.of(ctx, live.key.project)
	if err != nil {
		return nil, "", err
	}
	x, err := m.openCharts(ctx, live, m.othersOf(live, list))
	if err != nil {
		return nil, "", err
	}
	return x.charts.View(), falseAlarms(live.conf.FalseAlarms.PerDays), nil
}

// chartStates counts the charts of a watch by state, as of their last update.
func (m *monitoring) chartStates(ctx context.Context, live *liveWatch) (map[string]int, error) {
	if states := m.workOf(live.key).now().states; states != nil {
		return states, nil
	}
	charts, _, err := m.chartsOf(ctx, live)
	return countStates(charts), err
}

func countStates(charts []monitor.ChartView) map[string]int {
	states := map[string]int{}
	for _, c := range charts {
		states[c.State]++
	}
	return states
}

// falseAlarms explains a rate of false alarms as a chance per month.
func falseAlarms(days float64) string {
	if !(days > 0) {
		return ""
	}
	in := fmt.Sprintf("in %.4g days", days)
	if days == 1 {
		in = "a day"
	}
	return fmt.Sprintf("At most one false alarm %s, on average, over all charts of the project: if nothing changes, %.0f %% of all months have at least one.", in, 100*monitor.FalseMonths(days))
}
