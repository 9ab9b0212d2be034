package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// metrics are the Prometheus metrics. No label contains client text. Except for those of the
// process, each has the label project, which is empty for requests without a key.
type metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	server      *prometheus.HistogramVec
	wait        *prometheus.HistogramVec
	evaluations *prometheus.CounterVec
	assertions  *prometheus.CounterVec
	rows        *prometheus.CounterVec
	runs        *prometheus.CounterVec
	running     *prometheus.GaugeVec
	streams     *prometheus.GaugeVec
	streamed    *prometheus.HistogramVec
	spans       *prometheus.CounterVec
	events      *prometheus.CounterVec
	cost        *prometheus.CounterVec
	tokens      *prometheus.CounterVec
	watchMetrics
}

// registry creates and registers metrics.
type registry struct{ *prometheus.Registry }

func withProject(labels []string) []string { return append([]string{projectLabel}, labels...) }

func (r registry) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, withProject(labels))
	r.MustRegister(v)
	return v
}

func (r registry) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, withProject(labels))
	r.MustRegister(v)
	return v
}

func (r registry) seconds(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, withProject(labels))
	r.MustRegister(v)
	return v
}

func newMetrics() *metrics {
	r := registry{prometheus.NewRegistry()}
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &metrics{
		registry: r.Registry,
		requests: r.counter("proviso_http_requests_total", "Requests, by route, method and status.", "route", "method", "status"),
		server: r.seconds("proviso_http_server_seconds", "Time of the server for a request: without waiting for models, and for the client to send.",
			[]float64{.0001, .00025, .0005, .00075, .001, .0015, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}, "route"),
		wait: r.seconds("proviso_http_wait_seconds", "Time that a request waited for models, and for the client to send.",
			[]float64{.001, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}, "route"),
		evaluations: r.counter("proviso_evaluations_total", "Evaluations, by status.", "status"),
		assertions:  r.counter("proviso_evaluated_assertions_total", "Assertions of evaluations, by status.", "status"),
		rows:        r.counter("proviso_run_rows_total", "Finished rows of runs, by status.", "status"),
		runs:        r.counter("proviso_run_attempts_total", "Executions of runs that ended, by how.", "end"),
		running:     r.gauge("proviso_runs_executing", "Runs that are being executed."),
		streams:     r.gauge("proviso_event_streams", "Event streams that are open."),
		streamed: r.seconds("proviso_streamed_evaluation_seconds", "Time from a request for a streamed evaluation to its last verdict.",
			[]float64{.01, .05, .1, .25, .5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 300}),
		spans:        r.counter("proviso_spans_total", "Spans that were received, by status.", "status"),
		events:       r.counter("proviso_events_total", "Events of production that were received, by result.", "result"),
		cost:         r.counter("proviso_cost_dollars_total", "What models cost, in US dollars, where the price is known."),
		tokens:       r.counter("proviso_tokens_total", "Tokens of models, by kind.", "kind"),
		watchMetrics: newWatchMetrics(r),
	}
}

// holds registers the number of held spans as a metric.
func (m *metrics) holds(s *spans) {
	m.registry.MustRegister(heldSpans{s, prometheus.NewDesc("proviso_spans_held", "Spans that are held for runs and evaluations.", []string{projectLabel}, nil)})
}

// heldSpans exports the number of held spans as a metric.
type heldSpans struct {
	*spans
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (h heldSpans) Describe(to chan<- *prometheus.Desc) { to <- h.desc }

// Collect implements prometheus.Collector.
func (h heldSpans) Collect(to chan<- prometheus.Metric) {
	for p, n := range h.perProject() {
		to <- prometheus.MustNewConstMetric(h.desc, prometheus.GaugeValue, float64(n), string(p))
	}
}

// projectLabel is the label for the project of a metric.
const projectLabel = "project"

// handler serves the metrics of a project, or all metrics.
func (m *metrics) handler(of store.Project, all bool) http.Handler {
	m.running.WithLabelValues(string(of)) // 0 until there is one
	m.streams.WithLabelValues(string(of))
	if all {
		return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	}
	return promhttp.HandlerFor(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := m.registry.Gather()
		var own []*dto.MetricFamily
		for _, family := range all {
			family.Metric = slices.DeleteFunc(family.Metric, func(m *dto.Metric) bool {
				return !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == projectLabel && l.GetValue() == string(of) })
			})
			if len(family.Metric) > 0 {
				own = append(own, family)
			}
		}
		return own, err
	}), promhttp.HandlerOpts{})
}

// request counts one request. Routes and methods come from the table.
func (m *metrics) request(r *route, p store.Project, method string, status int, server, wait time.Duration) {
	if r.Method != method {
		method = "other"
	}
	m.requests.WithLabelValues(string(p), r.Path, method, strconv.Itoa(status)).Inc()
	if r.Stream {
		return // its duration depends on the client
	}
	m.server.WithLabelValues(string(p), r.Path).Observe(max(0, server).Seconds())
	m.wait.WithLabelValues(string(p), r.Path).Observe(wait.Seconds())
}

// evaluated counts an evaluation.
func (m *metrics) evaluated(p store.Project, status string, byStatus map[string]int) {
	m.evaluations.WithLabelValues(string(p), status).Inc()
	for status, n := range byStatus {
		m.assertions.WithLabelValues(string(p), status).Add(float64(n))
	}
}

// spent adds the cost and tokens of model calls.
func (m *metrics) spent(p store.Project, cost float64, u proviso.Usage) {
	m.cost.WithLabelValues(string(p)).Add(max(0, cost))
	m.tokens.WithLabelValues(string(p), "prompt").Add(float64(max(0, u.Prompt)))
	m.tokens.WithLabelValues(string(p), "completion").Add(float64(max(0, u.Completion)))
	m.tokens.WithLabelValues(string(p), "cached").Add(float64(max(0, u.Cached)))
}

// watchMetrics are the metrics of watches, summed over all watches of a project.
type watchMetrics struct {
	jobs      *prometheus.CounterVec
	verdicts  *prometheus.CounterVec
	spentOn   *prometheus.CounterVec
	evaluated *prometheus.HistogramVec
	delay     *prometheus.HistogramVec
	watches   *prometheus.GaugeVec
	queue     *prometheus.GaugeVec
	age       *prometheus.GaugeVec
	budget    *prometheus.GaugeVec
	charts    *prometheus.GaugeVec
	alarms    *prometheus.GaugeVec
	opened    *prometheus.CounterVec
	silent    *prometheus.GaugeVec
	notices   *prometheus.CounterVec
}

func newWatchMetrics(r registry) watchMetrics {
	return watchMetrics{
		jobs:      r.counter("proviso_watch_jobs_total", "Evaluations of events by watches that ended, by how.", "end"),
		verdicts:  r.counter("proviso_watch_verdicts_total", "Verdicts of watches, by status.", "status"),
		spentOn:   r.counter("proviso_watch_cost_dollars_total", "What evaluations by watches cost, in US dollars, where the price is known."),
		evaluated: r.seconds("proviso_watch_evaluation_seconds", "Time of the evaluation of one event by a watch.", []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}),
		delay:     r.seconds("proviso_watch_delay_seconds", "Time from an event to its verdicts, without those of a backfill.", []float64{.1, .5, 1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}),
		watches:   r.gauge("proviso_watches", "Watches."),
		queue:     r.gauge("proviso_watch_queue", "Events that wait to be evaluated."),
		age:       r.gauge("proviso_watch_queue_age_seconds", "How long the oldest waiting event has waited."),
		budget:    r.gauge("proviso_watch_budget_used_ratio", "What the watch with the least budget left has used of its daily budget."),
		charts:    r.gauge("proviso_watch_charts", "Charts of watches, by state.", "state"),
		alarms:    r.gauge("proviso_alarms", "Alarms that are not closed, by kind and state.", "kind", "state"),
		opened:    r.counter("proviso_alarms_opened_total", "Alarms that were opened, by kind.", "kind"),
		silent:    r.gauge("proviso_watch_silent", "Watches that know nothing, by cause.", "cause"),
		notices:   r.counter("proviso_notices_total", "Messages to people on alarms, by how sending them ended.", "end"),
	}
}

// evaluatedSeconds counts the evaluation of an event.
func (m *watchMetrics) evaluatedSeconds(p store.Project, took time.Duration, cost float64) {
	m.evaluated.WithLabelValues(string(p)).Observe(took.Seconds())
	m.spentOn.WithLabelValues(string(p)).Add(max(0, cost))
}

// runQueue exports the queue of runs as metrics. All processes on one store export the same
// values.
type runQueue struct {
	read func(context.Context) ([]store.Waiting, error)
	rows []queueMetric

	mu   sync.Mutex
	seen map[store.Project]bool // an empty queue is exported as 0
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
		row("proviso_run_queue_waiting", "Queued runs that no living worker can execute.", func(w *store.Waiting) float64 { return float64(w.Unmet) }),
		row("proviso_run_queue_age_seconds", "Age of the oldest queued run.", func(w *store.Waiting) float64 { return ageOf(w.Oldest, now()) }),
		row("proviso_runs_running", "Runs that are executed by any process.", func(w *store.Waiting) float64 { return float64(w.Running) }),
		row("proviso_runs_overdue", "Running runs whose worker is silent and that no other worker has taken over.", func(w *store.Waiting) float64 { return float64(w.Overdue) }),
		row("proviso_run_still_seconds", "Longest time that a running run has had no new row.", func(w *store.Waiting) float64 { return ageOf(w.Still, now()) }),
	}}
}

// Describe implements prometheus.Collector.
func (q *runQueue) Describe(to chan<- *prometheus.Desc) {
	for _, m := range q.rows {
		to <- m.desc
	}
}

// Collect implements prometheus.Collector. It exports nothing while the store is unreachable.
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
