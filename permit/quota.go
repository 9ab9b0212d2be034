package permit

import (
	"math"
	"time"
)

// Remaining is what an endpoint reports, with an answer, of a limit of its own. The zero value
// reports nothing.
type Remaining struct {
	Limit float64       // requests or tokens in a window; 0 if it is not reported
	Left  float64       // of these, after the request that was answered
	Reset time.Duration // from the request until all of it is there again; 0 if it is not reported
}

// How quotas are used.
const (
	// longest is the longest time until a reset that says something of a rate. What is left of a
	// day does not, and no request waits for it.
	longest = 2 * time.Minute
	most    = 1e12 // requests or tokens in a window

	// reserve is the share of a limit that is spread over the time until the reset. What exceeds
	// it may be sent at once. A vendor with a bucket refills it meanwhile, so it stays near this
	// level; one with fixed windows is asked until the next begins.
	reserve = 0.1
	// lowest is the reserve where all requests are counted here.
	lowest = 0.02

	// A limit that delays requests has to be there again at its reset. If less than restored of it
	// is left or was sent since the report before, that is a doubt. After so many doubts in a row,
	// the limit delays nothing until it is there again, or until the endpoint refuses a request and
	// reports that nothing is left. The latter counts only so often, so that a report that is
	// always wrong costs doubts + secondChances resets at most.
	restored      = 0.75
	doubts        = 3
	secondChances = 3

	// A process gets 1/parts of what is left, because more requests come meanwhile.
	parts = 4
)

// Usable reports whether a rate follows from r: it has a reset, and all of it is in bounds. What is
// left of a limit that may be there again at any time is no reason to wait.
func (r Remaining) Usable() bool {
	return r.Left >= 0 && r.Left <= most && r.Limit >= 0 && r.Limit <= most && (r.Limit >= 2 || r.Limit == 0 && r.Left >= 2) &&
		r.Reset > 0 && r.Reset <= longest
}

// Report is what an endpoint reports with an answer.
type Report struct {
	Requests, Tokens Remaining

	Mark     float64       // of [Quotas.Taken], when the request was sent
	Age      time.Duration // since the request was sent
	Accepted bool          // the request was not refused
}

// Quotas is what is left of the limits of an endpoint, as far as it reports it. The zero value is
// an endpoint that reports nothing.
type Quotas struct {
	Requests quota   `json:"requests"`
	Tokens   quota   `json:"tokens"`
	Taken    float64 `json:"taken"` // requests, of all that were ever taken
}

// Note takes note of a report. Each is the mean number of tokens of a request.
func (s *Quotas) Note(now time.Time, r Report, each float64) {
	s.Requests.note(now, r.Requests, &r, s.Taken, 1)
	s.Tokens.note(now, r.Tokens, &r, s.Taken, max(each, 0))
}

// Doubted reports whether a limit delays nothing, because the endpoint reported it wrongly.
func (s *Quotas) Doubted() bool { return s.Requests.Doubts == doubts || s.Tokens.Doubts == doubts }

// Room is how many requests with a mean number of tokens may be sent now: +Inf if the endpoint
// does not report them, and if there is less than one, how long it takes until there is one.
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
	Sure    bool          `json:"sure"`    // of when windows begin, which was found out here
	Spread  bucket        `json:"spread"`  // what may be sent of the reserve

	Doubts  int       `json:"doubts"`
	Chances int       `json:"chances"` // that refusals have ended the doubts
	Checked time.Time `json:"checked"` // when the request was sent whose report is to be checked
	Due     time.Time `json:"due"`     // its reset
	Mark    float64   `json:"mark"`    // of [Quotas.Taken], when it was sent
	Delayed bool      `json:"delayed"` // the limit has delayed a request since
}

// note takes note of what the endpoint reports of the limit, when so many requests of that size
// have been taken.
func (s *quota) note(now time.Time, r Remaining, of *Report, taken, each float64) {
	at := now.Add(-max(of.Age, 0))
	if !r.Usable() || at.Before(s.At) && !s.Sure {
		return
	}
	if r.Limit == 0 {
		r.Limit = max(s.Limit, r.Left)
	}
	r.Left = min(r.Left, r.Limit)
	s.check(at, r, of, each)
	if s.Doubts == doubts {
		if !s.Sure {
			s.ignore(at)
		}
		return
	}
	if s.Sure {
		*s = quota{Doubts: s.Doubts, Chances: s.Chances, Checked: s.Checked, Due: s.Due, Mark: s.Mark}
	}
	since := max(taken-of.Mark, 0) * each
	s.Limit, s.Left, s.Until, s.Window, s.At = r.Limit, r.Left-since, at.Add(r.Reset), max(s.Window, r.Reset), at
	if !at.Before(s.Begun) {
		s.Careful = false
	}
	if !now.Before(s.Until) {
		s.Left, s.Until = s.Limit-since, now.Add(s.Window)
	}
}

// check compares a report with an earlier one whose reset has passed: the limit is there again,
// but for what was sent since.
func (s *quota) check(at time.Time, r Remaining, of *Report, each float64) {
	if s.Doubts == doubts && !of.Accepted && r.Left < 1 && s.Chances < secondChances {
		s.Doubts, s.Chances = doubts-1, s.Chances+1
		s.Checked = time.Time{} // this report is to be checked next
	}
	if !s.Checked.IsZero() && at.Before(s.Due) {
		return
	}
	if !s.Checked.IsZero() {
		switch explained := r.Left+max(of.Mark-s.Mark, 0)*each >= restored*r.Limit; {
		case explained && (s.Doubts < doubts || r.Left >= r.Limit/2):
			s.Doubts = 0
		case !explained && s.Delayed:
			s.Doubts = min(s.Doubts+1, doubts)
		}
	}
	s.Checked, s.Due, s.Mark, s.Delayed = at, at.Add(r.Reset), of.Mark, false
}

// ignore forgets all but the doubts, so that the limit delays nothing.
func (s *quota) ignore(at time.Time) {
	*s = quota{At: at, Doubts: s.Doubts, Chances: s.Chances, Checked: s.Checked, Due: s.Due, Mark: s.Mark}
}

// room is how much may be taken now, and if that is less than enough, how long it takes.
func (s *quota) room(now time.Time, enough float64) (n float64, wait time.Duration) {
	if s.Limit == 0 || now.Sub(s.At) > 2*longest {
		s.ignore(s.At)
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
		s.Delayed = true
		return 0, s.Until.Sub(now)
	}
	rate := s.Left / max(s.Until.Sub(now), time.Second).Seconds()
	if s.Spread.At.IsZero() {
		s.Spread.At = now
	}
	wait = s.Spread.fill(now, rate, max(enough, rate*leaseSteady.Seconds()), enough)
	s.Delayed = s.Delayed || wait > 0
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

// room is how many requests the endpoint has room for, as it reports, with the wait until there is
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

// spare gives permits where nothing limits them but what the endpoint reports. What is not used
// comes back.
func (e *Endpoint) spare(g *Grant, a *Ask, room float64, wait time.Duration) {
	g.N = int(min(max(float64(a.Want), room/parts/float64(len(e.Processes))), room))
	e.Sent += float64(g.N)
	e.Quotas.Take(float64(g.N), a.Each)
	g.Mark = e.Quotas.Taken
	g.again(a, wait)
}
