package provider

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/permit"
)

// How a process waits.
const (
	// sharedTimeout is how long a request waits for an answer to Share, and how long after a
	// failure the next attempt is made.
	sharedTimeout = 2 * time.Second
	// heedEvery is how soon a request that waits for its turn notices that the rate has changed.
	heedEvery = 50 * time.Millisecond
)

// throttle decides when this process may send its next request to an endpoint: as the endpoint
// reports, or as was learnt from what it refused (package permit). If other processes ask the
// endpoint too, it has a share of what all may send. Requests pass one by one, first come, first
// served.
type throttle struct {
	with SharedRates      // nil if no other process asks the endpoint
	name string           // of the endpoint, for the others
	own  *permit.Endpoint // what is learnt, if there are no others
	turn chan struct{}

	mu             sync.Mutex
	waiting        int     // requests
	waitingTokens  float64 // of these
	expected       int     // requests that passed since permits were last granted
	expectedTokens float64 // of these
	ask            permit.Ask

	grant  permit.Grant
	used   int       // of the permits
	got    time.Time // the grant
	next   time.Time // when the next permit may be used
	pause  time.Time // until when nothing may be sent
	asking chan struct{}
	asked  time.Time
	urgent bool // something was refused since

	report     permit.Report // with the answer to the newest request that has one
	reportedAt time.Time     // when that request was sent; zero if the others know

	accepted, refusal time.Time // when the newest request was sent that was accepted, or refused

	alone            bool
	requests, tokens rate // while alone
}

// newThrottle names the endpoint by a hash, because its key holds the one for the vendor.
func newThrottle(with SharedRates, key string) *throttle {
	t := &throttle{with: with, turn: make(chan struct{}, 1), ask: permit.Ask{Process: "this"}}
	if with == nil {
		t.own, t.ask.Only = new(permit.Endpoint), true
		return t
	}
	sum := sha256.Sum256([]byte(key))
	t.name, t.ask.Process = hex.EncodeToString(sum[:]), rand.Text()
	return t
}

// lower notes the rates of a configuration; the lowest apply.
func (s *throttle) lower(rpm, tpm float64) {
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

// pass waits until the share of this process allows a request of that many tokens.
func (s *throttle) pass(ctx context.Context, e *endpoint, tokens float64) (t ticket, err error) {
	s.join(1, tokens)
	defer s.join(-1, -tokens)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return t, ctx.Err()
	}
	defer func() { <-s.turn }()
	for {
		t, wait, answer := s.try(ctx, e.now, tokens)
		switch {
		case answer != nil:
			err = s.await(ctx, answer)
		case wait > 0:
			err = e.sleep(ctx, min(wait, heedEvery))
		default:
			return t, nil
		}
		if err != nil {
			return t, err
		}
	}
}

// join adds to what waits.
func (s *throttle) join(n int, tokens float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting += n
	s.waitingTokens += tokens
}

// await waits for an answer to Share, but not for one that does not come.
func (s *throttle) await(ctx context.Context, answer <-chan struct{}) error {
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

// try takes a permit, or returns how long to wait before the next attempt, or the answer to
// wait for.
func (s *throttle) try(ctx context.Context, now func() time.Time, tokens float64) (t ticket, wait time.Duration, answer <-chan struct{}) {
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
		s.requests.reserve(at, 1)
		s.tokens.reserve(at, tokens)
		return s.sent(at, tokens), 0, nil
	}
	has, age := !s.got.IsZero(), at.Sub(s.got)
	switch {
	case has && !s.grant.Limited && age < s.grant.For+sharedTimeout:
		if age >= s.grant.For {
			s.share(ctx, now, tokens) // without a limit, nobody waits for the answer
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

// short reports whether a request has more tokens than are left. The first request of a grant
// may have more.
func (s *throttle) short(tokens float64) bool {
	return s.grant.Metered && s.used > 0 && s.grant.Tokens < tokens
}

// sent counts a request that is sent now. Its epoch is 0 if permits of earlier epochs may be in
// use, so that a refusal says nothing of this one.
func (s *throttle) sent(at time.Time, tokens float64) ticket {
	s.expected++
	s.expectedTokens += tokens
	if s.alone || !s.grant.Limited {
		s.ask.Sent++
	}
	if s.alone {
		return ticket{mark: s.grant.Mark}
	}
	s.used++
	s.grant.Tokens -= tokens
	t := ticket{mark: s.grant.Mark + float64(s.used)}
	if s.grant.Limited { // all permits have been counted
		t.mark -= float64(s.grant.N)
	}
	if at.Sub(s.got) >= s.grant.Settles {
		s.ask.Settled++
		t.epoch = s.grant.Epoch
	}
	return t
}

// share begins to ask for the next permits, unless that is under way.
func (s *throttle) share(ctx context.Context, now func() time.Time, first float64) <-chan struct{} {
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
			a.UnusedTokens = s.grant.Tokens // below 0 if the first request had more
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

// take takes permits.
func (s *throttle) take(g permit.Grant, at time.Time) {
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

// giveBack keeps what could not be told for the next time.
func (s *throttle) giveBack(a *permit.Ask) {
	s.ask.Sent += a.Sent
	s.ask.Spent += a.Spent - a.UnusedTokens
	s.ask.Wait = max(s.ask.Wait, a.Wait)
}

// goAlone goes on with the last share.
func (s *throttle) goAlone(err error) {
	if s.alone {
		return
	}
	s.alone = true
	share := s.grant.Share
	if s.got.IsZero() {
		share = s.ask.PerMinute / 60
	}
	s.requests, s.tokens = rate{perMinute: share * 60}, rate{perMinute: s.grant.TokenShare * 60}
	if s.got.IsZero() {
		s.tokens.perMinute = s.ask.TokensPerMinute
	}
	s.with.Alone(err, share)
}

// settle corrects the estimated tokens of a request by those of its answer.
func (s *throttle) settle(estimate, used float64) {
	const most = 1e9 // tokens of one request, whatever the answer says
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

// hold tells the others that the endpoint wants no requests for some time.
func (s *throttle) hold(ctx context.Context, now func() time.Time, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := now().Add(wait); until.After(s.pause) {
		s.pause = until
	}
	s.ask.Wait = max(s.ask.Wait, wait)
	s.hurry(ctx, now)
}

// tell takes note of what the endpoint reported with the answer to a request, and tells the
// others: at once if it refused the request, or else with the next permits. It reports whether
// a refusal of this request is explained by it.
func (s *throttle) tell(ctx context.Context, now func() time.Time, t *ticket, sent time.Time) (explained bool) {
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

// answered tells the others of an answer that reports nothing of the limits, with their next
// permits.
func (s *throttle) answered(sent time.Time, accepted bool) {
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

// refused tells the others that a request of an epoch was refused. It reports whether they
// know it;
func (s *throttle) refused(ctx context.Context, now func() time.Time, epoch int64) bool {
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

// hurry shares what the others need at once.
func (s *throttle) hurry(ctx context.Context, now func() time.Time) {
	switch {
	case s.asking != nil:
		s.urgent = true
	case !s.alone:
		s.share(ctx, now, 0)
	}
}
