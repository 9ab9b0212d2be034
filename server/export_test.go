package server

import (
	"regexp"

	"github.com/prometheus/client_golang/prometheus"
)

// MetricNames returns the names of all metrics.
func MetricNames() map[string]bool {
	names := map[string]bool{}
	of := regexp.MustCompile(`fqName: "([^"]+)"`)
	all := make(chan *prometheus.Desc)
	go func() {
		newMetrics().registry.Describe(all)
		close(all)
	}()
	for d := range all {
		names[of.FindStringSubmatch(d.String())[1]] = true
	}
	return names
}

// NoRoomHere is the error of a [Runner] whose disk is full.
func NoRoomHere() error { return noRoomHere() }
