// Package permit divides the rate of an endpoint of a model between the processes that ask it:
// numbers in, numbers out, without a clock or a store of its own. Start at [Endpoint.Take].
//
// Four limits hold at once, for all processes together: the rate that was learnt from refusals,
// the requests and the tokens a minute that are configured, each a token bucket, and what the
// endpoint reports to be left of its own limits ([Quotas]). If it reports nothing, but counts by
// whole minutes, that is found out and takes the place of a report. A process takes permits for a
// fraction of a second at a time, only such as have accrued, so what it holds is small and a lower
// rate applies to all of them within that time.
//
// The learnt rate is that of CUBIC (RFC 9438, section 4.2), with a rate in place of a window:
// after a refusal it falls below the estimated limit, returns to it soon, stays near it, and
// then rises ever faster. The estimate uses the share of requests that were refused since the
// last change, so that a rate that is far too high falls to the limit in one or two steps.
package permit

import (
	"math"
	"time"
)

// Ask is what a process tells of its requests to an endpoint since it asked before, and what it
// wants next.
type Ask struct {
	Process string // a name that no other process has
	Only    bool   // no other process asks the endpoint: its first requests are not limited

	PerMinute       float64 // requests that are configured; 0 if any number
	TokensPerMinute float64 // tokens that are configured; 0 if any number

	Want   int     // requests that wait or are to be expected soon
	Tokens float64 // of these requests, estimated
	First  float64 // tokens of the first of them, which may exceed what accrues

	Unused       int     // permits that were granted and not used
	UnusedTokens float64 // tokens that were granted and not used
	Spent        float64 // tokens that answers had beyond their estimates; negative if they had fewer

	Sent    int           // requests sent without a limit
	Epoch   int64         // of the grants under which the following were sent
	Settled int           // requests sent in this epoch, when the last had ended in all processes
	Refused int           // answers to such requests that refused them because of their rate
	Wait    time.Duration // for which the endpoint wants no request; 0 if it did not say

	Report Report  // with the answer to the newest request that has one
	Each   float64 // tokens of a request, on average; 0 if that is unknown

	// Answers without a report: how many it accepted and refused, and how long
	// ago the newest of these requests was sent.
	Accepted, Refusals      int
	AcceptedAge, RefusedAge time.Duration
}

// Grant is what a process may send. It replaces earlier grants.
type Grant struct {
	Limited bool          // N counts; else any number of requests may be sent
	N       int           // requests
	Every   time.Duration // between two of them
	Metered bool          // Tokens counts
	Tokens  float64       // that these requests may have
	Pause   time.Duration // for which nothing may be sent, as the endpoint asked
	For     time.Duration // after which the permits end, and an unlimited grant
	Again   time.Duration // after which it may ask for more

	Epoch   int64         // it begins when the rate was lowered; refusals in an earlier one are known
	Settles time.Duration // after which no process has permits of an earlier epoch
	Doubted bool          // what the endpoint reports is wrong
	Mark    float64       // of requests sent under this grant, for [Report]

	// The equal share of this process in the limits, for while it cannot ask; 0 is no limit.
	Share      float64 // requests a second
	TokenShare float64 // tokens a second
}

// How rates are learnt and divided.
const (
	leaseFirst     = 50 * time.Millisecond  // of permits while the rate doubles
	leaseSearching = 100 * time.Millisecond // of permits while the rate changes much
	leaseSteady    = 400 * time.Millisecond // of permits otherwise
	late           = 50 * time.Millisecond  // that a permit may be used after its time
	searching      = 700 * time.Millisecond
	counted        = time.Second // the window in which requests are counted

	slowest = 0.05 // requests a second
	// lowered is the rate after a refusal in proportion to the estimated limit, returns is when
	// the rate is at that estimate again.
	lowered = 0.85
	returns = 5 * time.Second
	// enough requests of an epoch make the share of refused ones an estimate; atMost is the
	// largest share that one step assumes, because an endpoint may refuse all for a while.
	enough = 8
	atMost = 0.7
	rises  = 0.1 // requests a second, at least, that the rate rises each second
	// An estimate that the rate exceeds so many times, without a refusal, no longer holds.
	outgrown = 4

	// An endpoint that nobody asked of late begins slowly: its rate doubles twice a second, up to
	// one that is no limit. Otherwise the first refusals of all processes came at once.
	firstRate = 64
	doubles   = 2
	noLimit   = 4000
	ofLate    = time.Minute

	present      = 3 * time.Second // after its last ask, a process still counts
	maxProcesses = 1000            // that are counted
)

// Life is for how long the state of an endpoint is of use after the last [Endpoint.Take],
// unless the endpoint wants no requests for longer.
const Life = 2 * ofLate

// Endpoint is the state of an endpoint, which all processes share and JSON can hold. The zero
// value is one that nobody has asked. Whoever calls its methods excludes others meanwhile, and
// gives them one clock.
type Endpoint struct {
	Seen      time.Time `json:"seen"`       // last asked for
	NotBefore time.Time `json:"not_before"` // as the endpoint asked

	Epoch   int64     `json:"epoch"`
	Rate    float64   `json:"rate"`    // requests a second at the beginning of the epoch; 0 is no limit
	Limit   float64   `json:"limit"`   // the estimate; 0 as long as nothing was refused
	Begun   time.Time `json:"begun"`   // the epoch
	Settles time.Time `json:"settles"` // when no permits of an earlier epoch are left
	Settled int       `json:"settled"` // requests since then
	Refused int       `json:"refused"` // of these
	Window  time.Time `json:"window"`  // when Sent began to be counted
	Sent    float64   `json:"sent"`    // requests in the window
	Before  float64   `json:"before"`  // requests a second in the window before

	Quotas    Quotas  `json:"quotas"`
	Minutes   minutes `json:"minutes"`
	Learnt    bucket  `json:"learnt"`
	PerMinute setting `json:"rpm"`
	Requests  bucket  `json:"rpm_bucket"`
	PerTokens setting `json:"tpm"`
	Tokens    bucket  `json:"tpm_bucket"`

	Processes map[string]time.Time `json:"processes"` // when each asked last
}

// Take takes note of what a process tells, and gives it permits.
func (e *Endpoint) Take(now time.Time, a Ask) Grant {
	e.note(now, &a)
	e.forget(now)
	if a.Refused > 0 && a.Epoch == e.Epoch {
		e.lower(now)
	}
	e.byMinutes(now, &a)
	return e.grant(now, &a)
}

// note takes note of what a process tells. What was learnt too long ago is forgotten.
func (e *Endpoint) note(now time.Time, a *Ask) {
	if e.Seen.IsZero() || now.Sub(e.Seen) > ofLate && now.Sub(e.NotBefore) > ofLate {
		*e = Endpoint{Epoch: now.UnixMicro(), Begun: now, Window: now, Learnt: bucket{Level: 1, At: now}}
		if !a.Only {
			e.Rate = firstRate
		}
	}
	e.Seen = now
	if passed := now.Sub(e.Window); passed >= counted || passed < 0 {
		e.Before = e.Sent / max(passed, counted).Seconds()
		e.Sent, e.Window = 0, now
	}
	a.Each = min(max(a.Each, 0), most)
	// A permit counts when it is granted, because that is known at once.
	e.Sent += float64(a.Sent - a.Unused)
	e.Quotas.Take(float64(a.Sent-a.Unused), a.Each)
	e.Quotas.Note(now, a.Report, a.Each)
	if a.Epoch == e.Epoch {
		e.Settled += a.Settled
		e.Refused += a.Refused
	}
	if until := now.Add(a.Wait); a.Wait > 0 && until.After(e.NotBefore) {
		e.NotBefore = until
	}
	e.PerMinute.note(now, a.PerMinute)
	e.PerTokens.note(now, a.TokensPerMinute)
	e.Learnt.Level += float64(a.Unused)
	e.Requests.Level += float64(a.Unused)
	e.Tokens.Level += a.UnusedTokens - a.Spent
	e.count(now, a.Process)
}

// count counts the processes that ask.
func (e *Endpoint) count(now time.Time, process string) {
	for name, at := range e.Processes {
		if now.Sub(at) > present {
			delete(e.Processes, name)
		}
	}
	if e.Processes == nil {
		e.Processes = map[string]time.Time{}
	}
	if _, known := e.Processes[process]; known || len(e.Processes) < maxProcesses {
		e.Processes[process] = now
	}
}

// rate is the learnt rate in requests a second; 0 is no limit.
func (e *Endpoint) rate(now time.Time) float64 {
	t := max(now.Sub(e.Begun), 0).Seconds()
	if e.Rate == 0 || e.Limit == 0 {
		return e.Rate * math.Exp2(doubles*t)
	}
	left := 1 - t/returns.Seconds()
	return max(e.Limit-(e.Limit-e.Rate)*left*left*left, e.Rate+rises*t)
}

// forget ends a limit that no longer holds: first the estimate, then the rate.
func (e *Endpoint) forget(now time.Time) {
	r := e.rate(now)
	if e.Limit > 0 && r > outgrown*max(e.Limit, 1) {
		e.Limit, e.Rate, e.Begun = 0, r, now
	}
	if r > noLimit {
		e.Limit, e.Rate = 0, 0
	}
}

// lower begins an epoch with a lower rate.
func (e *Endpoint) lower(now time.Time) {
	lease := e.lease(now)
	limit := e.rate(now)
	// What was sent is known late. Where the rate was not used up, it is no estimate.
	sent := max(e.Before, e.Sent/max(now.Sub(e.Window), counted/4).Seconds(), 1)
	if limit == 0 || sent < limit/2 {
		limit = sent
	} else if e.Limit == 0 {
		limit /= 2 // the rate has doubled: the one before was not refused
	}
	if e.Settled >= enough {
		limit *= 1 - min(float64(e.Refused)/float64(e.Settled), atMost)
	}
	e.Limit, e.Rate = limit, max(lowered*limit, slowest)
	e.Epoch, e.Begun, e.Settles = now.UnixMicro(), now, now.Add(lease+late)
	e.Settled, e.Refused = 0, 0
	e.Learnt = bucket{At: now}
	if len(e.Processes) > 1 {
		// Permits that others have not used yet, half of those of a lease, count for the new rate.
		e.Learnt.Level = -limit * lease.Seconds() / 2
	}
}

// lease is for how long permits are given.
func (e *Endpoint) lease(now time.Time) time.Duration {
	switch rate := e.rate(now); {
	case rate > 0 && e.Limit == 0:
		return leaseFirst
	case rate > 0 && now.Sub(e.Begun) < searching:
		return leaseSearching
	}
	return leaseSteady
}

// grant gives the next permits.
func (e *Endpoint) grant(now time.Time, a *Ask) Grant {
	lease, rate := e.lease(now), e.rate(now)
	perSecond, tokens := e.PerMinute.PerMinute/60, e.PerTokens.PerMinute/60
	room, reported, wait := e.room(now, a)
	g := Grant{N: a.Want, For: lease, Again: lease, Epoch: e.Epoch, Settles: max(e.Settles.Sub(now), 0), Mark: e.Quotas.Taken, Doubted: e.Quotas.Doubted(),
		Limited: rate > 0 || perSecond > 0 || tokens > 0 || reported > 0, Metered: tokens > 0, TokenShare: tokens / float64(len(e.Processes))}
	for _, r := range [...]float64{rate, perSecond, reported} {
		if r > 0 && (g.Share == 0 || r/float64(len(e.Processes)) < g.Share) {
			g.Share = r / float64(len(e.Processes))
		}
	}
	if g.Pause = max(e.NotBefore.Sub(now), 0); g.Pause > 0 {
		// Nothing accrues or rises in a pause, or all would resume at once.
		e.Learnt, e.Requests.At, e.Tokens.At = bucket{At: e.NotBefore}, e.NotBefore, e.NotBefore
		e.Begun, g.Limited = e.NotBefore, true
		g.N, g.For, g.Again = 0, g.Pause, g.Pause
		return g
	}
	if !g.Limited {
		return g
	}
	if rate == 0 && perSecond == 0 && tokens == 0 {
		e.spare(&g, a, room, wait)
		return g
	}
	wait = max(wait, e.Learnt.fill(now, rate, max(1, rate*1.5*lease.Seconds()), 1))
	wait = max(wait, e.Requests.fill(now, perSecond, max(1, perSecond), 1))
	wait = max(wait, e.Tokens.fill(now, tokens, max(1, tokens), 0))
	g.N = e.possible(a, rate, perSecond, room)
	if tokens > 0 && g.N > 0 {
		if g.Tokens = min(a.Tokens, max(e.Tokens.Level, a.First)); g.Tokens < a.Tokens {
			g.N = max(1, min(g.N, int(float64(a.Want)*g.Tokens/a.Tokens)))
		}
		e.Tokens.Level -= g.Tokens
	}
	e.Learnt.take(rate, g.N)
	e.Requests.take(perSecond, g.N)
	e.Sent += float64(g.N)
	e.Quotas.Take(float64(g.N), a.Each)
	g.Mark = e.Quotas.Taken
	if g.N > 1 {
		g.Every = lease / time.Duration(g.N)
	}
	g.again(a, wait)
	return g
}

// again sets when the process may ask for more.
func (g *Grant) again(a *Ask, wait time.Duration) {
	least := leaseSearching
	if a.Only { // it may ask at any time, so permits need not last
		g.Again, g.Every, least = 0, 0, time.Millisecond
	}
	switch {
	case g.N == 0:
		g.Again = min(max(wait, least), present/2)
		g.For = g.Again
	case g.N >= a.Want:
		g.Again = least // there may be more
	}
}

// possible is how many of the requests that are wanted the buckets have room for.
func (e *Endpoint) possible(a *Ask, rate, perSecond, room float64) int {
	const rounding = 1e-9
	n := int(min(float64(a.Want), room+rounding))
	if rate > 0 {
		n = min(n, int(e.Learnt.Level+rounding))
	}
	if perSecond > 0 {
		n = min(n, int(e.Requests.Level+rounding))
	}
	if e.PerTokens.PerMinute > 0 && e.Tokens.Level <= 0 {
		n = 0
	}
	return max(n, 0)
}

// setting is a limit of the configuration. The lowest of those that processes have applies.
type setting struct {
	PerMinute float64   `json:"per_minute"` // 0 is no limit
	Seen      time.Time `json:"seen"`
}

// note takes note of what a process has. A limit that no process has any more ends.
func (s *setting) note(now time.Time, perMinute float64) {
	switch old := now.Sub(s.Seen) > ofLate; {
	case perMinute > 0 && (s.PerMinute == 0 || perMinute <= s.PerMinute || old):
		s.PerMinute, s.Seen = perMinute, now
	case old:
		s.PerMinute = 0
	}
}

// bucket holds permits that have accrued. Its level may be below 0, if a request had more
// tokens than there were.
type bucket struct {
	Level float64   `json:"level"`
	At    time.Time `json:"at"` // when the level was so high
}

// fill adds what accrued at a rate a second, up to most; a new bucket is full. It returns how
// long it takes until there is more than enough.
func (b *bucket) fill(now time.Time, rate, most, enough float64) time.Duration {
	if rate == 0 {
		*b = bucket{}
		return 0
	}
	if b.At.IsZero() {
		*b = bucket{Level: most, At: now}
	}
	if passed := now.Sub(b.At); passed > 0 {
		b.Level += rate * passed.Seconds()
		b.At = now
	}
	if b.Level = min(b.Level, most); b.Level >= enough {
		return 0
	}
	return time.Duration(min((enough-b.Level)/rate, 3600) * float64(time.Second))
}

// take takes permits, if there is a rate.
func (b *bucket) take(rate float64, n int) {
	if rate > 0 {
		b.Level -= float64(n)
	}
}
