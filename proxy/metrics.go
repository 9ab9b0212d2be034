package proxy

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the Prometheus metrics. Labels hold names of the configuration and of this
// package, and nothing of a client.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	first    *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	open     prometheus.Gauge
	proxy    *Proxy
	events   *prometheus.Desc
	waiting  *prometheus.Desc
	used     *prometheus.Desc
	limit    *prometheus.Desc
	retries  *prometheus.Desc
}

func newMetrics(p *Proxy) *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("proviso_proxy_"+name, help, labels, nil)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(), proxy: p,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "proviso_proxy_requests_total", Help: "Requests, by upstream, API and status; 0 is a client that left before the reply."}, []string{"upstream", "api", "status"}),
		first: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "proviso_proxy_first_byte_seconds", Help: "Time from the request to the first byte of the body of the reply.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}, []string{"upstream", "api"}),
		bytes:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "proviso_proxy_bytes_total", Help: "Bytes of bodies, by direction."}, []string{"upstream", "direction"}),
		open:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "proviso_proxy_open_requests", Help: "Requests that are being passed."}),
		events:  desc("events_total", "Events, by what happened to them.", "result"),
		waiting: desc("waiting_events", "Events that wait to be sent."),
		used:    desc("buffer_used_bytes", "Bytes of the buffer that are in use."),
		limit:   desc("buffer_bytes", "Size of the buffer."),
		retries: desc("retries_total", "Batches of events that have to be sent again."),
	}
	m.registry.MustRegister(m.requests, m.first, m.bytes, m.open, m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.events, m.waiting, m.used, m.limit, m.retries} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	r := m.proxy.recorder
	if r == nil {
		return
	}
	for i := range results {
		to <- prometheus.MustNewConstMetric(m.events, prometheus.CounterValue, float64(r.counts[i].Load()), resultNames[i])
	}
	events, _ := r.pending()
	to <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, float64(events))
	to <- prometheus.MustNewConstMetric(m.used, prometheus.GaugeValue, float64(r.budget.used.Load()))
	to <- prometheus.MustNewConstMetric(m.limit, prometheus.GaugeValue, float64(r.budget.limit))
	to <- prometheus.MustNewConstMetric(m.retries, prometheus.CounterValue, float64(r.retries.Load()))
}

// exchange counts one that has ended. The caller holds its lock.
func (m *metrics) exchange(x *exchange) {
	m.open.Dec()
	name := "other"
	if x.api != nil {
		name = x.api.name
	}
	status := x.status
	if status < 0 || status > 599 {
		status = 599
	}
	m.requests.WithLabelValues(x.upstream, name, strconv.Itoa(status)).Inc()
	m.bytes.WithLabelValues(x.upstream, "request").Add(float64(x.sent))
	m.bytes.WithLabelValues(x.upstream, "reply").Add(float64(x.bytes))
	if !x.first.IsZero() {
		m.first.WithLabelValues(x.upstream, name).Observe(x.first.Sub(x.start).Seconds())
	}
}
