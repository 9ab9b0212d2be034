package permit

import (
	"math"
	"time"
)

// Remaining is what an endpoint reports about one of its limits. The zero value is no report.
type Remaining struct {
	Limit float64       // requests or tokens per window; 0 if not reported
	Left  float64       // how many are left after the request that was answered
	Reset time.Duration // from the request until the whole limit is available again; 0 if not reported
}

// How quotas are used.
const (
	// longest is the longest reset that limits a rate. Limits per day have a longer one, and no
	// request waits for it.
	longest = 2 * time.Minute
	most    = 1e12 // requests or tokens in a window

	// reserve is the share of a limit that is spread over the time until the reset. The rest may
	// be sent at once. A vendor with a token bucket refills it meanwhile, so it stays near this
	// level; with fixed windows, requests go on until the next window starts.
	reserve = 0.1
	// lowest is the reserve if the limit was learnt from our own requests.
	lowest = 0.02

	// A limit that delays requests must be available again at its reset. If what is left then, and
	// what was sent since, is less than restored of it, the report is doubted. After this many
	// doubts in a row, the limit delays nothing until it is available again, or until the endpoint
	// refuses a request and reports that nothing is left. The latter counts at most secondChances
	// times, so a report that is always wrong costs at most doubts + secondChances resets.
	restored      = 0.75
	doubts        = 3
	secondChances = 3

	// A process gets 1/parts of what is left, because other processes need some too.
	parts = 4
)

// Usable reports whether r limits a rate: it has a reset, and its numbers are in bounds. Without
// a reset there is no reason to wait, because the limit may be available again at any time.
func (r Remaining) Usable() bool {
	return r.Left >= 0 && r.Left <= most && r.Limit >= 0 && r.Limit <= most && (r.Limit >= 2 || r.Limit == 0 && r.Left >= 2) &&
		r.Reset > 0 && r.Reset <= longest
}

// Report is what an endpoint reports with an answer.
type Report struct {
	Requests, Tokens Remaining

	Mark     float64       // [Quotas.Taken] when the request was sent
	Age      time.Duration // time since the request was sent
	Accepted bool          // the request was not refused
}

// Quotas is what is left of the limits that an endpoint reports. The zero value is an endpoint
// that reports nothing.
type Quotas struct {
	Requests quota   `json:"requests"`
	Tokens   quota   `json:"tokens"`
	Taken    float64 `json:"taken"` // all requests ever taken
}

// Note records a report. Each is the average number of tokens of a request.
func (s *Quotas) Note(now time.Time, r Report, each float64) {
	s.Requests.note(now, r.Requests, &r, s.Taken, 1)
	s.Tokens.note(now, r.Tokens, &r, s.Taken, max(each, 0))
}

// Doubted reports whether a limit is ignored because the endpoint's reports are wrong.
func (s *Quotas) Doubted() bool { return s.Requests.Doubts == doubts || s.Tokens.Doubts == doubts }

// Room is how many requests with an average number of tokens may be sent now, and how long until
// there is room for one if there is none. It is +Inf if the endpoint reports nothing.
func (s *Quotas) Room(now time.Time, each float64) (n float64, wait time.Duration) {
	n, wait = s.Requests.room(now, 1)
	if s.Tokens.Limit > 0 {
		each = min(each, s.Tokens.Limit/2) // a larger request would wait for ever
	}
	if each > 0 {
		tokens, later := s.Tokens.room(now, each)
		n, wait = min(n, tokens/each), max(wait, later)
	}
	return n, wait
}

// Take takes n requests with an average number of tokens, or returns them if n is negative.
func (s *Quotas) Take(n, each float64) {
	s.Taken += n
	s.Requests.take(n)
	s.Tokens.take(n * max(each, 0))
}

// quota is what is left of a limit.
type quota struct {
	Limit   float64       `json:"limit"` // 0 if unknown
	Left    float64       `json:"left"`
	Until   time.Time     `json:"until"`   // when the whole limit is available again
	Window  time.Duration `json:"window"`  // the longest reset reported so far
	At      time.Time     `json:"at"`      // when the request was sent whose answer reported it
	Begun   time.Time     `json:"begun"`   // expected start of the current window
	Careful bool          `json:"careful"` // no answer has confirmed yet that it has started
	Sure    bool          `json:"sure"`    // the windows were learnt here, not reported
	Spread  bucket        `json:"spread"`  // part of the reserve that may be sent

	Doubts  int       `json:"doubts"`
	Chances int       `json:"chances"` // how often a refusal has ended the doubts
	Checked time.Time `json:"checked"` // when the request was sent whose report will be checked
	Due     time.Time `json:"due"`     // the reset of that report
	Mark    float64   `json:"mark"`    // [Quotas.Taken] when that request was sent
	Delayed bool      `json:"delayed"` // the limit has delayed a request since
}

// note records a report about the limit. Taken is the current [Quotas.Taken], each the size of a
// request.
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

// check compares a report with an earlier one whose reset has passed: the limit must be available
// again, except for what was sent since.
func (s *quota) check(at time.Time, r Remaining, of *Report, each float64) {
	if s.Doubts == doubts && !of.Accepted && r.Left < 1 && s.Chances < secondChances {
		s.Doubts, s.Chances = doubts-1, s.Chances+1
		s.Checked = time.Time{} // check this report next
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

// ignore forgets everything but the doubts, so that the limit delays nothing.
func (s *quota) ignore(at time.Time) {
	*s = quota{At: at, Doubts: s.Doubts, Chances: s.Chances, Checked: s.Checked, Due: s.Due, Mark: s.Mark}
}

// room is how much may be taken now, and how long until there is enough.
func (s *quota) room(now time.Time, enough float64) (n float64, wait time.Duration) {
	if s.Limit == 0 || now.Sub(s.At) > 2*longest {
		s.ignore(s.At)
		return math.Inf(1), 0
	}
	if !now.Before(s.Until) {
		// Clocks differ, and others may use the same limit. If it was used up, only a few
		// requests test whether the next window has started.
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

// reserved is what is not sent at once. If the limit was learnt here, nobody else uses it.
func (s *quota) reserved() float64 {
	if s.Sure {
		return lowest * s.Limit
	}
	return reserve * s.Limit
}

// take takes n, or returns them if n is negative.
func (s *quota) take(n float64) {
	if s.Limit > 0 {
		s.Left = min(s.Left-n, s.Limit)
		s.Spread.Level = max(s.Spread.Level-n, 0)
	}
}

// perSecond is what may be taken per second until the reset; 0 if unknown.
func (s *quota) perSecond(now time.Time) float64 {
	if s.Limit == 0 {
		return 0
	}
	return max(s.Left, 1) / max(s.Until.Sub(now), time.Second).Seconds()
}

// room is how many requests the reported limits allow, how long until they allow one, and the
// requests per second until the reset. The latter is 0 if nothing has to be limited, because far
// more is left than all processes use before their next Ask.
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

// spare grants permits if only the reported limits apply. The process returns those it does not
// use.
func (e *Endpoint) spare(g *Grant, a *Ask, room float64, wait time.Duration) {
	g.N = int(min(max(float64(a.Want), room/parts/float64(len(e.Processes))), room))
	e.Sent += float64(g.N)
	e.Quotas.Take(float64(g.N), a.Each)
	g.Mark = e.Quotas.Taken
	g.again(a, wait)
}
