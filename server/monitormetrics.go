package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/proviso-eval/proviso/store"
)

// watchMetrics are the metrics of watches, for all watches of a project together.
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
		age:       r.gauge("proviso_watch_queue_age_seconds", "How long the event waits that has waited longest."),
		budget:    r.gauge("proviso_watch_budget_used_ratio", "What the watch with the least budget left has used of its budget of the day."),
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
