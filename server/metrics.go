package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// metrics are the Prometheus metrics. No label holds text of a client. Except
// for those of the process, each has the label project, which is empty for
// requests without a key.
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

// registry makes metrics and registers them.
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

// heldSpans is the number of held spans, as a metric.
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

// handler writes the metrics of a project, or all of them.
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

// request counts one request. Routes and methods are those of the table.
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

// spent counts cost and tokens of models.
func (m *metrics) spent(p store.Project, cost float64, u proviso.Usage) {
	m.cost.WithLabelValues(string(p)).Add(max(0, cost))
	m.tokens.WithLabelValues(string(p), "prompt").Add(float64(max(0, u.Prompt)))
	m.tokens.WithLabelValues(string(p), "completion").Add(float64(max(0, u.Completion)))
	m.tokens.WithLabelValues(string(p), "cached").Add(float64(max(0, u.Cached)))
}
