package provider

import "time"

// rate is a limit per minute, by the generic cell rate algorithm (ITU-T I.371):
// use is spread evenly, with a burst of one second.
type rate struct {
	perMinute float64   // 0 is no limit
	next      time.Time // when everything reserved is used up
}

// reserve takes n and returns how long to wait before using them.
func (r *rate) reserve(now time.Time, n float64) time.Duration {
	if r.perMinute == 0 {
		return 0
	}
	if r.next.Before(now) {
		r.next = now
	}
	wait := r.next.Sub(now)
	if r.perMinute > 60 {
		wait -= time.Second
	}
	r.charge(n)
	return wait
}

// charge takes n, or gives them back if it is negative.
func (r *rate) charge(n float64) {
	if r.perMinute > 0 {
		r.next = r.next.Add(time.Duration(n / r.perMinute * float64(time.Minute)))
	}
}
