package server

import (
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// EvaluationTimes says how long streamed evaluations took, from the request to the last
// verdict.
type EvaluationTimes struct {
	Count int      `json:"count" doc:"Of the last streamed evaluations of the project, at most 1000"`
	P50   *float64 `json:"p50_ms" doc:"Milliseconds; null if there are none"`
	P95   *float64 `json:"p95_ms" doc:"Milliseconds; null if there are none"`
}

// maxLatencies is how many evaluations of a project count.
const maxLatencies = 1000

// latencies are the times of the last streamed evaluations. The zero value is ready to
// use, and it is safe for concurrent use.
type latencies struct {
	mu sync.Mutex
	of map[store.Project]*ring
}

// ring is the last times, of which the one at next is the oldest.
type ring struct {
	times []time.Duration
	next  int
}

func (l *latencies) add(p store.Project, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[store.Project]*ring{}
	}
	r := l.of[p]
	if r == nil {
		r = &ring{}
		l.of[p] = r
	}
	if len(r.times) < maxLatencies {
		r.times = append(r.times, took)
		return
	}
	r.times[r.next] = took
	r.next = (r.next + 1) % maxLatencies
}

// times returns the median and the 95th percentile.
func (l *latencies) times(p store.Project) EvaluationTimes {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of[p]
	if r == nil {
		return EvaluationTimes{}
	}
	sorted := slices.Sorted(slices.Values(r.times))
	at := func(percent int) *float64 { // nearest rank
		ms := milliseconds(sorted[(len(sorted)*percent+99)/100-1])
		return &ms
	}
	return EvaluationTimes{Count: len(sorted), P50: at(50), P95: at(95)}
}
