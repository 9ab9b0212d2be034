package throttle

import (
	"math"
	"time"
)

// rate paces requests or tokens evenly (a leaky bucket without a burst).
type rate struct {
	perSecond float64   // 0 is no limit
	next      time.Time // when everything that was taken is used up
}

// take takes n at a time at which nothing has to wait any more.
func (r *rate) take(now time.Time, n float64) {
	if r.next.Before(now) {
		r.next = now
	}
	r.charge(n)
}

// charge takes n, or returns them if n is negative.
func (r *rate) charge(n float64) {
	if r.perSecond > 0 {
		r.next = r.next.Add(time.Duration(n / r.perSecond * float64(time.Second)))
	}
}

// Latency windows.
const (
	leastWindow = 20                    // answers; fewer are not significant
	growth      = 3                     // ratio to the best window that counts as overload
	negligible  = 50 * time.Millisecond // below which growth is noise
)

// window compares the geometric mean of the latest latencies, which one slow answer barely changes,
// with the mean of the best earlier window.
type window struct {
	logs float64
	n    int
	best float64 // log of nanoseconds; 0 if there is none yet
}

// add records a latency. It reports whether a window has just ended that is much slower than the
// best one.
func (w *window) add(took time.Duration, limit int) bool {
	w.logs += math.Log(float64(max(took, time.Microsecond)))
	w.n++
	if w.n < max(leastWindow, 2*limit) {
		return false
	}
	mean := w.logs / float64(w.n)
	w.logs, w.n = 0, 0
	if w.best == 0 || mean < w.best {
		w.best = mean
		return false
	}
	slow := mean > w.best+math.Log(growth) && mean > math.Log(float64(negligible))
	if slow {
		w.best = mean // longer answers are not overload: they reduce the limit only once
	}
	return slow
}
