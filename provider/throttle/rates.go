package throttle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/permit"
)

// Times of waiting.
const (
	// sharedTimeout limits the wait for an answer to Share, and is the time from a failure to the
	// next attempt.
	sharedTimeout = 2 * time.Second
	// heedEvery is how soon a waiting request notices that the rate has changed.
	heedEvery = 50 * time.Millisecond
)

// rates decides when this process may send its next request to an endpoint. It follows the limits
// that the endpoint reports, or a rate learnt from its refusals (package permit). If other
// processes use the endpoint too, this process gets a share of the total. Requests pass one by one,
// first come, first served.
type rates struct {
	with SharedRates      // nil if no other process uses the endpoint
	name string           // hash that names the endpoint for the other processes
	own  *permit.Endpoint // what is learnt; nil if with is set
	turn chan struct{}

	mu             sync.Mutex
	waiting        int     // waiting requests
	waitingTokens  float64 // their estimated tokens
	expected       int     // requests sent since permits were last granted
	expectedTokens float64 // their estimated tokens
	ask            permit.Ask

	grant  permit.Grant
	used   int       // permits of the grant that are used
	got    time.Time // when the grant arrived
	next   time.Time // when the next permit may be used
	pause  time.Time // nothing may be sent until then
	asking chan struct{}
	asked  time.Time
	urgent bool // share again as soon as the current call of Share ends

	report     permit.Report // from the answer to the newest request that had a report
	reportedAt time.Time     // when that request was sent; zero if the report was shared

	accepted, refusal time.Time // when the newest accepted and the newest refused request were sent

	alone            bool
	requests, tokens rate // apply while alone
}

// newRates names the endpoint by a hash, because key contains the vendor's API key.
func newRates(with SharedRates, key string) *rates {
	t := &rates{with: with, turn: make(chan struct{}, 1), ask: permit.Ask{Process: "this"}}
	if with == nil {
		t.own, t.ask.Only = new(permit.Endpoint), true
		return t
	}
	sum := sha256.Sum256([]byte(key))
	t.name, t.ask.Process = hex.EncodeToString(sum[:]), rand.Text()
	return t
}

// lower applies configured rates; the lowest ones win.
func (s *rates) lower(rpm, tpm float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lowest(&s.ask.PerMinute, rpm)
	lowest(&s.ask.TokensPerMinute, tpm)
}

func lowest(of *float64, perMinute float64) {
	if perMinute > 0 && (*of == 0 || perMinute < *of) {
		*of = perMinute
	}
}

// pass waits until this process's share allows a request of this many tokens.
func (s *rates) pass(ctx context.Context, clock Clock, tokens float64) (t Ticket, err error) {
	s.join(1, tokens)
	defer s.join(-1, -tokens)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return t, ctx.Err()
	}
	defer func() { <-s.turn }()
	for {
		t, wait, answer := s.try(ctx, clock.Now, tokens)
		switch {
		case answer != nil:
			err = s.await(ctx, answer)
		case wait > 0:
			err = clock.Sleep(ctx, min(wait, heedEvery))
		default:
			return t, nil
		}
		if err != nil {
			return t, err
		}
	}
}

// join adds to the waiting requests; negative values remove them.
func (s *rates) join(n int, tokens float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting += n
	s.waitingTokens += tokens
}

// await waits for an answer to Share, up to sharedTimeout. Then this process continues alone.
func (s *rates) await(ctx context.Context, answer <-chan struct{}) error {
	late := time.NewTimer(sharedTimeout)
	defer late.Stop()
	select {
	case <-answer:
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.goAlone(context.DeadlineExceeded)
	}
	return nil
}

// try takes a permit. Otherwise it returns how long to wait before the next attempt, or a channel
// that is closed when Share has answered.
func (s *rates) try(ctx context.Context, now func() time.Time, tokens float64) (t Ticket, wait time.Duration, answer <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := now()
	if wait := s.pause.Sub(at); wait > 0 {
		return t, wait, nil
	}
	if s.alone {
		if at.Sub(s.asked) >= sharedTimeout {
			s.share(ctx, now, tokens)
		}
		if wait := max(s.requests.next.Sub(at), s.tokens.next.Sub(at)); wait > 0 {
			return t, wait, nil
		}
		s.requests.take(at, 1)
		s.tokens.take(at, tokens)
		return s.sent(at, tokens), 0, nil
	}
	has, age := !s.got.IsZero(), at.Sub(s.got)
	switch {
	case has && !s.grant.Limited && age < s.grant.For+sharedTimeout:
		if age >= s.grant.For {
			s.share(ctx, now, tokens) // without a limit, no request waits for the answer
		}
		return s.sent(at, tokens), 0, nil
	case s.asking != nil:
		return t, 0, s.asking
	case has && age < s.grant.For && s.used < s.grant.N && !s.short(tokens):
		if wait := s.next.Sub(at); wait > 0 {
			return t, wait, nil
		}
		s.next = s.next.Add(s.grant.Every)
		return s.sent(at, tokens), 0, nil
	case has && age < s.grant.Again:
		return t, s.grant.Again - age, nil
	}
	return t, 0, s.share(ctx, now, tokens)
}

// short reports whether a request has more tokens than the grant has left. The first request of a
// grant may exceed them.
func (s *rates) short(tokens float64) bool {
	return s.grant.Metered && s.used > 0 && s.grant.Tokens < tokens
}

// sent counts a request that is sent now. The ticket's epoch is 0 if permits of earlier epochs may
// still be in use, because then a refusal says nothing about this epoch.
func (s *rates) sent(at time.Time, tokens float64) Ticket {
	s.expected++
	s.expectedTokens += tokens
	if s.alone || !s.grant.Limited {
		s.ask.Sent++
	}
	if s.alone {
		return Ticket{mark: s.grant.Mark}
	}
	s.used++
	s.grant.Tokens -= tokens
	t := Ticket{mark: s.grant.Mark + float64(s.used)}
	if s.grant.Limited { // all permits have been counted
		t.mark -= float64(s.grant.N)
	}
	if at.Sub(s.got) >= s.grant.Settles {
		s.ask.Settled++
		t.epoch = s.grant.Epoch
	}
	return t
}

// share requests the next permits, unless such a call is already running. The returned channel is
// closed when they have arrived or the call failed.
func (s *rates) share(ctx context.Context, now func() time.Time, first float64) <-chan struct{} {
	if s.asking != nil {
		return s.asking
	}
	done := make(chan struct{})
	a := s.ask
	a.Epoch, a.First = s.grant.Epoch, first
	a.Want, a.Tokens = s.waiting+s.expected, s.waitingTokens+s.expectedTokens
	if a.Each == 0 && a.Want > 0 {
		a.Each = a.Tokens / float64(a.Want)
	}
	s.asked = now()
	if !s.reportedAt.IsZero() {
		a.Report = s.report
		a.Report.Age = s.asked.Sub(s.reportedAt)
	}
	reportedAt := s.reportedAt
	a.AcceptedAge, a.RefusedAge = s.asked.Sub(s.accepted), s.asked.Sub(s.refusal)
	if s.grant.Limited {
		a.Unused = max(s.grant.N-s.used, 0)
		if s.grant.Metered {
			a.UnusedTokens = s.grant.Tokens // negative if the first request exceeded them
		}
	}
	s.ask = permit.Ask{Process: a.Process, Only: a.Only, PerMinute: a.PerMinute, TokensPerMinute: a.TokensPerMinute, Each: s.ask.Each}
	s.grant.N, s.grant.Tokens, s.used = 0, 0, 0
	s.expected, s.expectedTokens = 0, 0
	s.urgent = false
	if s.own != nil {
		s.take(s.own.Take(s.asked, a), s.asked)
		s.report, s.reportedAt = permit.Report{}, time.Time{}
		close(done)
		return done
	}
	s.asking = done
	go func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedTimeout)
		defer cancel()
		g, err := s.with.Share(limited, s.name, a)
		s.mu.Lock()
		defer s.mu.Unlock()
		close(done)
		s.asking = nil
		if err != nil {
			s.giveBack(&a)
			s.goAlone(err)
			return
		}
		if s.take(g, now()); s.reportedAt.Equal(reportedAt) {
			s.report, s.reportedAt = permit.Report{}, time.Time{}
		}
		if s.urgent {
			s.share(ctx, now, 0)
		}
	}()
	return done
}

// take replaces the grant.
func (s *rates) take(g permit.Grant, at time.Time) {
	if s.alone {
		s.alone = false
		s.with.Alone(nil, 0)
	}
	if g.Epoch != s.grant.Epoch {
		s.ask.Settled, s.ask.Refused = 0, 0
	}
	s.grant, s.used, s.got, s.next = g, 0, at, at
	if until := at.Add(g.Pause); g.Pause > 0 && until.After(s.pause) {
		s.pause = until
	}
}

// giveBack restores what a failed Share did not deliver, for the next call. Refusals of the epoch
// are not among it: late, they would lower a rate that has fallen since.
func (s *rates) giveBack(a *permit.Ask) {
	s.ask.Sent += a.Sent
	s.ask.Spent += a.Spent - a.UnusedTokens
	s.ask.Wait = max(s.ask.Wait, a.Wait)
	s.ask.Accepted += a.Accepted
	s.ask.Refusals += a.Refusals
}

// goAlone continues at the rate of the last share, without other processes.
func (s *rates) goAlone(err error) {
	if s.alone {
		return
	}
	s.alone = true
	share, tokens := s.grant.Share, s.grant.TokenShare
	if s.got.IsZero() {
		share, tokens = s.ask.PerMinute/60, s.ask.TokensPerMinute/60
	}
	s.requests, s.tokens = rate{perSecond: share}, rate{perSecond: tokens}
	s.with.Alone(err, share)
}

// settle corrects a request's estimated tokens to those of its answer.
func (s *rates) settle(estimate, used float64) {
	const most = 1e9 // upper bound for one request, whatever the answer says
	used = min(max(used, 0), most)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch each := &s.ask.Each; {
	case used == 0:
	case *each == 0:
		*each = used
	default:
		*each += (used - *each) / 16
	}
	if s.alone {
		s.tokens.charge(used - estimate)
	}
	s.ask.Spent += used - estimate
}

// hold sends nothing for the time that the endpoint asked for, and tells the other processes.
func (s *rates) hold(ctx context.Context, now func() time.Time, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := now().Add(wait); until.After(s.pause) {
		s.pause = until
	}
	s.ask.Wait = max(s.ask.Wait, wait)
	s.hurry(ctx, now)
}

// tell records the limits that the endpoint reported in an answer, and shares them: at once if the
// endpoint refused the request, otherwise with the next permits. It returns true if the report
// explains the refusal.
func (s *rates) tell(ctx context.Context, now func() time.Time, t *Ticket, sent time.Time) (explained bool) {
	if !t.reports() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.report.Mark = t.mark
	if !sent.Before(s.reportedAt) {
		s.report, s.reportedAt = t.report, sent
		if !t.report.Accepted || s.own != nil {
			s.hurry(ctx, now)
		}
	}
	return !t.report.Accepted && t.usedUp(s.ask.Each) && !s.grant.Doubted
}

// answered counts an answer that reports no limits. The count is shared with the next permits.
func (s *rates) answered(sent time.Time, accepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := &s.accepted
	if accepted {
		s.ask.Accepted++
	} else {
		s.ask.Refusals++
		newest = &s.refusal
	}
	if sent.After(*newest) {
		*newest = sent
	}
}

// refused records that a request of this epoch was refused because of the rate, and shares that at
// once. It returns false if this process is alone, so that the caller must slow down by itself.
func (s *rates) refused(ctx context.Context, now func() time.Time, epoch int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alone {
		return false
	}
	if epoch != 0 && epoch == s.grant.Epoch {
		s.ask.Refused++
		s.hurry(ctx, now)
	}
	return true
}

// hurry shares at once, or right after the current call of Share.
func (s *rates) hurry(ctx context.Context, now func() time.Time) {
	switch {
	case s.asking != nil:
		s.urgent = true
	case !s.alone:
		s.share(ctx, now, 0)
	}
}
