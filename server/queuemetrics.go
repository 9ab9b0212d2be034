package server

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/proviso-eval/proviso/store"
)

// runQueue is the queue of runs as metrics. All processes on one store show the same.
type runQueue struct {
	read                    func(context.Context) ([]store.Waiting, error)
	now                     func() time.Time
	queued, unmet, age, run *prometheus.Desc
	overdue, still          *prometheus.Desc

	mu   sync.Mutex
	seen map[store.Project]bool // a queue that became empty is 0
}

func newRunQueue(read func(context.Context) ([]store.Waiting, error), now func() time.Time) *runQueue {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{projectLabel}, nil)
	}
	return &runQueue{read: read, now: now, seen: map[store.Project]bool{},
		queued:  desc("proviso_run_queue", "Runs that wait for a worker."),
		unmet:   desc("proviso_run_queue_waiting", "Those of them that no worker that lives can execute."),
		age:     desc("proviso_run_queue_age_seconds", "How long the run waits that has waited longest."),
		run:     desc("proviso_runs_running", "Runs that are executed by any process."),
		overdue: desc("proviso_runs_overdue", "Runs whose worker is silent, and that no other has taken up."),
		still:   desc("proviso_run_still_seconds", "How long the running run has had no new row that has had none for longest.")}
}

// Describe implements prometheus.Collector.
func (q *runQueue) Describe(to chan<- *prometheus.Desc) {
	to <- q.queued
	to <- q.unmet
	to <- q.age
	to <- q.run
	to <- q.overdue
	to <- q.still
}

// Collect implements prometheus.Collector. While the store cannot be reached, there are no
// such metrics.
func (q *runQueue) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	list, err := q.read(ctx)
	if err != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := map[store.Project]store.Waiting{}
	for _, w := range list {
		now[w.Project], q.seen[w.Project] = w, true
	}
	for p := range q.seen {
		w := now[p]
		to <- prometheus.MustNewConstMetric(q.queued, prometheus.GaugeValue, float64(w.Queued), string(p))
		to <- prometheus.MustNewConstMetric(q.unmet, prometheus.GaugeValue, float64(w.Unmet), string(p))
		to <- prometheus.MustNewConstMetric(q.age, prometheus.GaugeValue, ageOf(w.Oldest, q.now()), string(p))
		to <- prometheus.MustNewConstMetric(q.run, prometheus.GaugeValue, float64(w.Running), string(p))
		to <- prometheus.MustNewConstMetric(q.overdue, prometheus.GaugeValue, float64(w.Overdue), string(p))
		to <- prometheus.MustNewConstMetric(q.still, prometheus.GaugeValue, ageOf(w.Still, q.now()), string(p))
	}
}
