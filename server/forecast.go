package server

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/store"
)

// plan fixes the probabilities of sampling of an hour, from traffic and spend alone.
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

// forecast adds up the traffic of the last days.
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
	days := max(to.Sub(first).Hours()/24, 1.0/24) // an agent may be new
	for value := range f.Traffic {
		f.Traffic[value] /= days
	}
	return f, err
}
