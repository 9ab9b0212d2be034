package server

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/proviso-eval/proviso/store"
)

// runQueue is the queue of runs as metrics. All processes on one store show the same.
type runQueue struct {
	read func(context.Context) ([]store.Waiting, error)
	rows []queueMetric

	mu   sync.Mutex
	seen map[store.Project]bool // a queue that became empty is 0
}

// queueMetric is one metric of a queue.
type queueMetric struct {
	desc *prometheus.Desc
	of   func(*store.Waiting) float64
}

func newRunQueue(read func(context.Context) ([]store.Waiting, error), now func() time.Time) *runQueue {
	row := func(name, help string, of func(w *store.Waiting) float64) queueMetric {
		return queueMetric{prometheus.NewDesc(name, help, []string{projectLabel}, nil), of}
	}
	return &runQueue{read: read, seen: map[store.Project]bool{}, rows: []queueMetric{
		row("proviso_run_queue", "Runs that wait for a worker.", func(w *store.Waiting) float64 { return float64(w.Queued) }),
		row("proviso_run_queue_waiting", "Those of them that no worker that lives can execute.", func(w *store.Waiting) float64 { return float64(w.Unmet) }),
		row("proviso_run_queue_age_seconds", "How long the run waits that has waited longest.", func(w *store.Waiting) float64 { return ageOf(w.Oldest, now()) }),
		row("proviso_runs_running", "Runs that are executed by any process.", func(w *store.Waiting) float64 { return float64(w.Running) }),
		row("proviso_runs_overdue", "Runs whose worker is silent, and that no other has taken up.", func(w *store.Waiting) float64 { return float64(w.Overdue) }),
		row("proviso_run_still_seconds", "How long the running run has had no new row that has had none for longest.", func(w *store.Waiting) float64 { return ageOf(w.Still, now()) }),
	}}
}

// Describe implements prometheus.Collector.
func (q *runQueue) Describe(to chan<- *prometheus.Desc) {
	for _, m := range q.rows {
		to <- m.desc
	}
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
	now := map[store.Project]*store.Waiting{}
	for i, w := range list {
		now[w.Project], q.seen[w.Project] = &list[i], true
	}
	for p := range q.seen {
		w := cmp.Or(now[p], &store.Waiting{})
		for _, m := range q.rows {
			to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, m.of(w), string(p))
		}
	}
}
