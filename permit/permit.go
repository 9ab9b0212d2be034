// Package permit divides the rate of an endpoint of a model between the processes that ask it:
// numbers in, numbers out, without a clock or a store of its own. Start at [Endpoint.Take].
//
// Four limits apply together, to all processes as one: the rate learnt from refusals, the
// configured requests and tokens per minute (each a token bucket), and what the endpoint reports
// to be left of its own limits ([Quotas]). An endpoint that counts by whole minutes without
// reporting it is recognised, and what was learnt takes the place of a report. A process takes
// permits for a fraction of a second at a time, and only permits that have accrued. So it holds
// few, and a lower rate reaches all processes within that time.
//
// The learnt rate follows CUBIC (RFC 9438, section 4.2), with a rate in place of a window:
// after a refusal it falls below the estimated limit, returns to it soon, stays near it, and
// then rises ever faster. The estimate uses the share of requests refused since the last change,
// so a rate that is far too high reaches the limit in one or two steps.
package permit

import (
	"math"
	"time"
)

// Ask is what a process reports about its requests to an endpoint since its last Ask, and what
// it wants next.
type Ask struct {
	Process string // unique name of the process
	Only    bool   // no other process uses the endpoint, so its first requests are not limited

	PerMinute       float64 // configured limit of requests; 0 is no limit
	TokensPerMinute float64 // configured limit of tokens; 0 is no limit

	Want   int     // requests that wait or are expected soon
	Tokens float64 // estimated tokens of these requests
	First  float64 // tokens of the first request, which may exceed what has accrued

	Unused       int     // granted permits that were not used
	UnusedTokens float64 // granted tokens that were not used
	Spent        float64 // tokens used beyond the estimates; negative if fewer were used

	Sent    int           // requests sent without a limit
	Epoch   int64         // epoch of the requests counted by Settled and Refused
	Settled int           // requests sent after all permits of earlier epochs had ended
	Refused int           // of these, refused because of the rate
	Wait    time.Duration // the endpoint asked for a pause of this length; 0 if it did not

	Report Report  // the newest report of the endpoint
	Each   float64 // average tokens of a request; 0 if unknown

	// Answers without a report: how many requests were accepted and refused, and
	// the age of the newest of each.
	Accepted, Refusals      int
	AcceptedAge, RefusedAge time.Duration
}

// Grant is what a process may send. It replaces earlier grants.
type Grant struct {
	Limited bool          // N applies; otherwise any number of requests may be sent
	N       int           // requests that may be sent
	Every   time.Duration // time between two of them
	Metered bool          // Tokens applies
	Tokens  float64       // tokens that these requests may use
	Pause   time.Duration // nothing may be sent for this time, as the endpoint asked
	For     time.Duration // when the grant ends
	Again   time.Duration // when the process may ask for more

	Epoch   int64         // starts when the rate is lowered; refusals of earlier epochs say nothing new
	Settles time.Duration // when all permits of earlier epochs have ended
	Doubted bool          // the endpoint's reports are wrong
	Mark    float64       // for the [Report] of requests sent under this grant

	// The equal share of this process in the limits, for times when it cannot ask; 0 is no limit.
	Share      float64 // requests a second
	TokenShare float64 // tokens a second
}

// How rates are learnt and divided.
const (
	leaseFirst     = 50 * time.Millisecond  // of permits while the rate doubles
	leaseSearching = 100 * time.Millisecond // of permits while the rate changes much
	leaseSteady    = 400 * time.Millisecond // of permits otherwise
	late           = 50 * time.Millisecond  // how long after its end a permit may still be used
	searching      = 700 * time.Millisecond
	counted        = time.Second // window in which requests are counted

	slowest = 0.05 // requests a second
	// lowered is the rate after a refusal, as a share of the estimated limit; returns is how long
	// it takes to reach that estimate again.
	lowered = 0.85
	returns = 5 * time.Second
	// The share of refused requests is used if an epoch has enough requests. One step assumes
	// atMost, because an endpoint may refuse everything for a while.
	enough = 8
	atMost = 0.7
	rises  = 0.1 // least increase of the rate, in requests per second each second
	// An estimate is dropped when the rate exceeds it this many times without a refusal.
	outgrown = 4

	// An unused endpoint starts slowly: its rate doubles twice a second until it is no limit.
	// Otherwise all processes would be refused at once.
	firstRate = 64
	doubles   = 2
	noLimit   = 4000
	ofLate    = time.Minute

	present      = 3 * time.Second // how long a process counts after its last Ask
	maxProcesses = 1000            // most processes that are counted
)

// Life is how long the state of an endpoint is useful after the last [Endpoint.Take], unless
// the endpoint asked for a longer pause.
const Life = 2 * ofLate

// Endpoint is the state of an endpoint, shared by all processes and stored as JSON. The zero
// value is an endpoint that has not been used. It is not safe for concurrent use, and all calls
// must use one clock.
type Endpoint struct {
	Seen      time.Time `json:"seen"`       // last use
	NotBefore time.Time `json:"not_before"` // end of the pause that the endpoint asked for

	Epoch   int64     `json:"epoch"`
	Rate    float64   `json:"rate"`    // requests per second at the start of the epoch; 0 is no limit
	Limit   float64   `json:"limit"`   // estimated limit; 0 if nothing was refused yet
	Begun   time.Time `json:"begun"`   // start of the epoch
	Settles time.Time `json:"settles"` // when all permits of earlier epochs have ended
	Settled int       `json:"settled"` // requests since then
	Refused int       `json:"refused"` // how many of these were refused
	Window  time.Time `json:"window"`  // start of the window of Sent
	Sent    float64   `json:"sent"`    // requests in this window
	Before  float64   `json:"before"`  // requests per second in the previous window

	Quotas    Quotas  `json:"quotas"`
	Minutes   minutes `json:"minutes"`
	Learnt    bucket  `json:"learnt"`
	PerMinute setting `json:"rpm"`
	Requests  bucket  `json:"rpm_bucket"`
	PerTokens setting `json:"tpm"`
	Tokens    bucket  `json:"tpm_bucket"`

	Processes map[string]time.Time `json:"processes"` // last Ask of each
}

// Take records what a process reports, and grants it permits.
func (e *Endpoint) Take(now time.Time, a Ask) Grant {
	e.note(now, &a)
	e.forget(now)
	if a.Refused > 0 && a.Epoch == e.Epoch {
		e.lower(now)
	}
	e.byMinutes(now, &a)
	return e.grant(now, &a)
}

// note records what a process reports. It first forgets a state that is too old.
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
	// A permit counts when it is granted: when it is used is known later.
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

// count updates the set of active processes.
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

// rate is the learnt rate in requests per second; 0 is no limit.
func (e *Endpoint) rate(now time.Time) float64 {
	t := max(now.Sub(e.Begun), 0).Seconds()
	if e.Rate == 0 || e.Limit == 0 {
		return e.Rate * math.Exp2(doubles*t)
	}
	left := 1 - t/returns.Seconds()
	return max(e.Limit-(e.Limit-e.Rate)*left*left*left, e.Rate+rises*t)
}

// forget drops a limit that no longer applies: first the estimate, then the rate.
func (e *Endpoint) forget(now time.Time) {
	r := e.rate(now)
	if e.Limit > 0 && r > outgrown*max(e.Limit, 1) {
		e.Limit, e.Rate, e.Begun = 0, r, now
	}
	if r > noLimit {
		e.Limit, e.Rate = 0, 0
	}
}

// lower starts an epoch with a lower rate.
func (e *Endpoint) lower(now time.Time) {
	lease := e.lease(now)
	limit := e.rate(now)
	// Reports about sent requests arrive late. A rate that was not used up is no estimate.
	sent := max(e.Before, e.Sent/max(now.Sub(e.Window), counted/4).Seconds(), 1)
	if limit == 0 || sent < limit/2 {
		limit = sent
	} else if e.Limit == 0 {
		limit /= 2 // the rate has doubled since it last caused no refusal
	}
	if e.Settled >= enough {
		limit *= 1 - min(float64(e.Refused)/float64(e.Settled), atMost)
	}
	e.Limit, e.Rate = limit, max(lowered*limit, slowest)
	e.Epoch, e.Begun, e.Settles = now.UnixMicro(), now, now.Add(lease+late)
	e.Settled, e.Refused = 0, 0
	e.Learnt = bucket{At: now}
	if len(e.Processes) > 1 {
		// The permits that others still hold, about half a lease, count against the new rate.
		e.Learnt.Level = -limit * lease.Seconds() / 2
	}
}

// lease is how long permits are valid.
func (e *Endpoint) lease(now time.Time) time.Duration {
	switch rate := e.rate(now); {
	case rate > 0 && e.Limit == 0:
		return leaseFirst
	case rate > 0 && now.Sub(e.Begun) < searching:
		return leaseSearching
	}
	return leaseSteady
}

// grant makes the next grant.
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
		// Nothing accrues or rises during a pause, or all requests would resume at once.
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
	if a.Only { // it can ask at any time
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

// possible is how many of the wanted requests the buckets allow.
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

// setting is a configured limit. If processes have different ones, the lowest applies.
type setting struct {
	PerMinute float64   `json:"per_minute"` // 0 is no limit
	Seen      time.Time `json:"seen"`
}

// note records the setting of a process. A limit that no process has any more is dropped.
func (s *setting) note(now time.Time, perMinute float64) {
	switch old := now.Sub(s.Seen) > ofLate; {
	case perMinute > 0 && (s.PerMinute == 0 || perMinute <= s.PerMinute || old):
		s.PerMinute, s.Seen = perMinute, now
	case old:
		s.PerMinute = 0
	}
}

// bucket holds accrued permits. Its level is below 0 after a request that used more tokens than
// there were.
type bucket struct {
	Level float64   `json:"level"`
	At    time.Time `json:"at"` // time of the level
}

// fill adds what has accrued at a rate per second, up to most; a new bucket is full. It returns
// how long it takes until the level is enough.
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
