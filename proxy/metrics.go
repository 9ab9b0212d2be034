package proxy

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the Prometheus metrics. Labels hold names from the configuration and from this
// package, but nothing from a client.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	first    *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	open     prometheus.Gauge
}

func newMetrics(p *Proxy) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "proviso_proxy_requests_total", Help: "Requests, by upstream, API and status; 0 is a client that left before the reply."}, []string{"upstream", "api", "status"}),
		first: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "proviso_proxy_first_byte_seconds", Help: "Time from the request to the first byte of the body of the reply.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}, []string{"upstream", "api"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "proviso_proxy_bytes_total", Help: "Bytes of bodies, by direction."}, []string{"upstream", "direction"}),
		open:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "proviso_proxy_open_requests", Help: "Requests that are being passed."}),
	}
	m.registry.MustRegister(m.requests, m.first, m.bytes, m.open, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r := p.recorder
	if r == nil {
		return m
	}
	counter := func(name, help string, labels prometheus.Labels, n *atomic.Int64) {
		o := prometheus.CounterOpts{Name: "proviso_proxy_" + name, Help: help, ConstLabels: labels}
		m.registry.MustRegister(prometheus.NewCounterFunc(o, func() float64 { return float64(n.Load()) }))
	}
	gauge := func(name, help string, n func() int64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "proviso_proxy_" + name, Help: help}, func() float64 { return float64(n()) }))
	}
	for i := range results {
		counter("events_total", "Events, by what happened to them.", prometheus.Labels{"result": resultNames[i]}, &r.counts[i])
	}
	counter("retries_total", "Batches of events that have to be sent again.", nil, &r.retries)
	gauge("waiting_events", "Events that wait to be sent.", func() int64 { events, _ := r.pending(); return int64(events) })
	gauge("buffer_used_bytes", "Bytes of the buffer that are in use.", r.budget.used.Load)
	gauge("buffer_bytes", "Size of the buffer.", func() int64 { return r.budget.limit })
	return m
}

// exchange counts an exchange that has ended. The caller holds the lock of x.
func (m *metrics) exchange(x *exchange) {
	m.open.Dec()
	name := x.apiName()
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
