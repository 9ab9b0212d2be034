package permit

import (
	"math"
	"time"
)

// Quota is what an endpoint says, with an answer, of a limit of its own. The zero value says
// nothing.
type Quota struct {
	Limit float64       // requests or tokens in a window; 0 if it did not say
	Left  float64       // of these, after the request that was answered
	Reset time.Duration // from the request until all of it is there again; 0 if it did not say
}

// How quotas are used.
const (
	// longest is the longest time until a reset that says something of a rate. What is left of a
	// day does not, and no request waits for it.
	longest = 2 * time.Minute
	unsaid  = time.Minute // until the reset, if the endpoint does not say
	most    = 1e12        // requests or tokens in a window

	// reserve is the share of a limit that is spread over the time until the reset. What exceeds
	// it may be sent at once. A vendor with a bucket refills it meanwhile, so it stays near this
	// level; one with fixed windows is asked until the next begins.
	reserve = 0.1
	// From an answer with less than lowest of a limit left, and no less than the one before, none
	// follows: after so many doubts, the endpoint is not believed.
	lowest = 0.02
	doubts = 3

	// A process gets one part of so many of what is left, for requests that come meanwhile.
	parts = 4
)

// Told reports whether q says something of a rate: all of it is in bounds.
func (q Quota) Told() bool {
	return q.Left >= 0 && q.Left <= most && q.Limit >= 0 && q.Limit <= most && (q.Limit >= 2 || q.Limit == 0 && q.Left >= 2) &&
		q.Reset >= 0 && q.Reset <= longest
}

// Told is what an endpoint says with an answer.
type Told struct {
	Requests, Tokens Quota

	Mark     float64       // of [Quotas.Taken], when the request was sent
	Age      time.Duration // since the request was sent
	Accepted bool          // the request was not refused
}

// Quotas is what is left of the limits of an endpoint, as far as it says it. The zero value is
// an endpoint that says nothing.
type Quotas struct {
	Requests quota   `json:"requests"`
	Tokens   quota   `json:"tokens"`
	Taken    float64 `json:"taken"` // requests, of all that were ever taken
}

// Tell takes note of what an endpoint says. Each is the mean number of tokens of a request.
func (s *Quotas) Tell(now time.Time, t Told, each float64) {
	since := max(s.Taken-t.Mark, 0)
	s.Requests.tell(now, t.Requests, t, since)
	s.Tokens.tell(now, t.Tokens, t, since*max(each, 0))
}

// Room is how many requests with a mean number of tokens may be sent now: +Inf if the endpoint
// does not say, and if there is less than one, how long it takes until there is one.
func (s *Quotas) Room(now time.Time, each float64) (n float64, wait time.Duration) {
	n, wait = s.Requests.room(now, 1)
	if s.Tokens.Limit > 0 {
		each = min(each, s.Tokens.Limit/2) // or a request that has more would wait for ever
	}
	if each > 0 {
		tokens, later := s.Tokens.room(now, each)
		n, wait = min(n, tokens/each), max(wait, later)
	}
	return n, wait
}

// Take takes requests with a mean number of tokens, or gives them back if n is negative.
func (s *Quotas) Take(n, each float64) {
	s.Taken += n
	s.Requests.take(n)
	s.Tokens.take(n * max(each, 0))
}

// quota is what is left of a limit.
type quota struct {
	Limit   float64       `json:"limit"` // 0 if it is unknown
	Left    float64       `json:"left"`
	Until   time.Time     `json:"until"`   // when all of it is there again
	Window  time.Duration `json:"window"`  // the longest that it took until then
	At      time.Time     `json:"at"`      // when the request was sent that it is known from
	Begun   time.Time     `json:"begun"`   // the window that was expected to begin
	Careful bool          `json:"careful"` // until an answer shows that it has begun
	Sure    bool          `json:"sure"`    // of when windows begin
	Spread  bucket        `json:"spread"`  // what may be sent of the reserve

	Said   Quota `json:"said"` // last
	Doubts int   `json:"doubts"`
}

// tell takes note of what the endpoint says of a request. Since is what was taken after it.
func (s *quota) tell(now time.Time, q Quota, t Told, since float64) {
	at := now.Add(-max(t.Age, 0))
	if !q.Told() || at.Before(s.At) {
		return
	}
	if q.Reset == 0 {
		q.Reset = unsaid
	}
	if q.Limit == 0 {
		q.Limit = max(s.Limit, q.Left)
	}
	q.Left = min(q.Left, q.Limit)
	switch low := q.Left < max(1, lowest*q.Limit); {
	case !low:
		s.Doubts = 0
	case t.Accepted && q.Left >= s.Said.Left && q.Reset >= s.Said.Reset-time.Second:
		s.Doubts = min(s.Doubts+1, doubts)
	}
	s.Said, s.At = q, at
	if s.Doubts == doubts {
		*s = quota{Said: q, At: at, Doubts: doubts}
		return
	}
	s.Limit, s.Left, s.Until, s.Window = q.Limit, q.Left-since, at.Add(q.Reset), max(s.Window, q.Reset)
	if !at.Before(s.Begun) {
		s.Careful = false
	}
	if !now.Before(s.Until) {
		s.Left, s.Until = s.Limit-since, now.Add(s.Window)
	}
}

// room is how much may be taken now, and if that is less than enough, how long it takes.
func (s *quota) room(now time.Time, enough float64) (n float64, wait time.Duration) {
	if s.Limit == 0 || now.Sub(s.At) > 2*longest {
		*s = quota{Said: s.Said, At: s.At, Doubts: s.Doubts}
		return math.Inf(1), 0
	}
	if !now.Before(s.Until) {
		// Clocks differ, and others may have the same limit: if this one was used up, few
		// requests find out whether the next window has begun.
		s.Careful = s.Left < s.reserved() && !s.Sure
		s.Left, s.Until, s.Begun = s.Limit, now.Add(s.Window), now
	}
	if free := s.Left - s.reserved(); !s.Careful && free >= enough {
		s.Spread = bucket{At: now}
		return free, 0
	}
	if s.Left < enough {
		return 0, s.Until.Sub(now)
	}
	rate := s.Left / max(s.Until.Sub(now), time.Second).Seconds()
	if s.Spread.At.IsZero() {
		s.Spread.At = now
	}
	wait = s.Spread.fill(now, rate, max(enough, rate*leaseSteady.Seconds()), enough)
	return min(s.Spread.Level, s.Left), wait
}

// reserved is what is not sent at once. Of what was counted here, nobody else takes anything.
func (s *quota) reserved() float64 {
	if s.Sure {
		return lowest * s.Limit
	}
	return reserve * s.Limit
}

// take takes n, or gives them back.
func (s *quota) take(n float64) {
	if s.Limit > 0 {
		s.Left = min(s.Left-n, s.Limit)
		s.Spread.Level = max(s.Spread.Level-n, 0)
	}
}

// perSecond is what may be taken a second until the reset; 0 if it is unknown.
func (s *quota) perSecond(now time.Time) float64 {
	if s.Limit == 0 {
		return 0
	}
	return max(s.Left, 1) / max(s.Until.Sub(now), time.Second).Seconds()
}

// room is how many requests the endpoint has room for, as it says, with the wait until there is
// any, and the requests a second until there is more; 0 if that need not be limited, because
// there is far more than all processes use before they tell again.
func (e *Endpoint) room(now time.Time, a *Ask) (room, perSecond float64, wait time.Duration) {
	room, wait = e.Quotas.Room(now, a.Each)
	if room > parts*max(e.Before, e.Sent, float64(a.Want), noLimit/parts) {
		return room, 0, 0
	}
	perSecond = e.Quotas.Requests.perSecond(now)
	if tokens := e.Quotas.Tokens.perSecond(now); tokens > 0 && a.Each > 0 && (perSecond == 0 || tokens/a.Each < perSecond) {
		perSecond = tokens / a.Each
	}
	return room, perSecond, wait
}

// spare gives permits where nothing limits them but what the endpoint says. What is not used
// comes back.
func (e *Endpoint) spare(g *Grant, a *Ask, room float64, wait time.Duration) {
	g.N = int(min(max(float64(a.Want), room/parts/float64(len(e.Processes))), room))
	e.Sent += float64(g.N)
	e.Quotas.Take(float64(g.N), a.Each)
	g.Mark = e.Quotas.Taken
	g.again(a, wait)
}
