package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/proviso-eval/proviso"
)

// metrics are what Prometheus is told. No label holds what a client wrote.
type metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	server      *prometheus.HistogramVec
	wait        *prometheus.HistogramVec
	evaluations *prometheus.CounterVec
	assertions  *prometheus.CounterVec
	rows        *prometheus.CounterVec
	runs        *prometheus.CounterVec
	running     prometheus.Gauge
	streams     prometheus.Gauge
	spans       *prometheus.CounterVec
	cost        prometheus.Counter
	tokens      *prometheus.CounterVec
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	seconds := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"route"})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("proviso_http_requests_total", "Requests, by route, method and status.", "route", "method", "status"),
		server: seconds("proviso_http_server_seconds", "Time of the server for a request: without waiting for models, and for the client to send.",
			[]float64{.0001, .00025, .0005, .00075, .001, .0015, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}),
		wait: seconds("proviso_http_wait_seconds", "Time that a request waited for models, and for the client to send.",
			[]float64{.001, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}),
		evaluations: counter("proviso_evaluations_total", "Evaluations, by what became of them.", "status"),
		assertions:  counter("proviso_evaluated_assertions_total", "Assertions of evaluations, by what became of them.", "status"),
		rows:        counter("proviso_run_rows_total", "Finished rows of runs, by what became of them.", "status"),
		runs:        counter("proviso_run_attempts_total", "Executions of runs that ended, by how.", "end"),
		running:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "proviso_runs_executing", Help: "Runs that are being executed."}),
		streams:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "proviso_event_streams", Help: "Event streams that are open."}),
		spans:       counter("proviso_spans_total", "Spans that were received, by what became of them.", "status"),
		cost:        prometheus.NewCounter(prometheus.CounterOpts{Name: "proviso_cost_dollars_total", Help: "What models cost, in US dollars, where the price is known."}),
		tokens:      counter("proviso_tokens_total", "Tokens of models, by kind.", "kind"),
	}
	m.registry.MustRegister(m.requests, m.server, m.wait, m.evaluations, m.assertions, m.rows, m.runs, m.running, m.streams, m.spans, m.cost, m.tokens,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// holds has the metrics say how many spans are held.
func (m *metrics) holds(s *spans) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "proviso_spans_held", Help: "Spans that are held for runs and evaluations."}, s.total))
}

// handler writes the metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// request counts one request. A route is one of the table, and so are methods.
func (m *metrics) request(r *route, method string, status int, server, wait time.Duration) {
	if r.Method != method {
		method = "other"
	}
	m.requests.WithLabelValues(r.Path, method, strconv.Itoa(status)).Inc()
	if r.Stream {
		return // it lasts as long as its client likes
	}
	m.server.WithLabelValues(r.Path).Observe(max(0, server).Seconds())
	m.wait.WithLabelValues(r.Path).Observe(wait.Seconds())
}

// evaluated counts an evaluation.
func (m *metrics) evaluated(status string, byStatus map[string]int) {
	m.evaluations.WithLabelValues(status).Inc()
	for status, n := range byStatus {
		m.assertions.WithLabelValues(status).Add(float64(n))
	}
}

// spent counts what models took.
func (m *metrics) spent(cost float64, u proviso.Usage) {
	m.cost.Add(max(0, cost))
	m.tokens.WithLabelValues("prompt").Add(float64(max(0, u.Prompt)))
	m.tokens.WithLabelValues("completion").Add(float64(max(0, u.Completion)))
	m.tokens.WithLabelValues("cached").Add(float64(max(0, u.Cached)))
}
