package throttle

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/permit"
)

// Ticket is a request that may be sent, and what the endpoint reports with the answer to it.
type Ticket struct {
	epoch  int64   // of the shared rate; 0 if there is none
	mark   float64 // of the quotas
	report permit.Report
}

// Reports takes what the endpoint reports of its limits.
func (t *Ticket) Reports(requests, tokens permit.Remaining) {
	t.report.Requests, t.report.Tokens = requests, tokens
}

// reports reports whether the endpoint reported anything from which a rate follows.
func (t *Ticket) reports() bool { return t.report.Requests.Usable() || t.report.Tokens.Usable() }

// usedUp reports whether the endpoint reported that one of its limits is used up, so that a refusal
// says nothing new.
func (t *Ticket) usedUp(each float64) bool {
	requests, tokens := t.report.Requests, t.report.Tokens
	return requests.Usable() && requests.Left < 1 || tokens.Usable() && tokens.Left < max(each, 1)
}

// tell takes note of what the endpoint reported with the answer to a request. It reports whether a
// refusal of this request is explained by it.
func (g *Gate) tell(ctx context.Context, now func() time.Time, t *Ticket, start time.Time) (explained bool) {
	if !t.reports() {
		return false
	}
	g.mu.Lock()
	explained = !t.report.Accepted && t.usedUp(g.each)
	t.report.Mark, t.report.Age = t.mark, now().Sub(start)
	if g.shared == nil {
		g.quotas.Note(now(), t.report, g.each)
		explained = explained && !g.quotas.Doubted()
	}
	g.mu.Unlock()
	if g.shared != nil {
		return g.shared.tell(ctx, now, t.report, start) && explained
	}
	return explained
}

// room takes one request of that many tokens from the quotas, or returns how long it takes until
// there is room for one.
func (g *Gate) room(now time.Time, tokens float64) (mark float64, wait time.Duration) {
	if g.each > 0 {
		tokens = g.each
	}
	if n, wait := g.quotas.Room(now, tokens); n < 1 {
		return 0, max(wait, time.Millisecond)
	}
	g.quotas.Take(1, tokens)
	return g.quotas.Taken, 0
}

// pass waits until the quotas have room for a request of that many tokens. Requests that wait
// pass one by one, first come, first served.
func (g *Gate) pass(ctx context.Context, clock Clock, tokens float64) (mark float64, err error) {
	g.mu.Lock()
	wait := time.Duration(1)
	if g.waiting == 0 {
		mark, wait = g.room(clock.Now(), tokens)
	}
	if wait == 0 {
		g.mu.Unlock()
		return mark, nil
	}
	g.waiting++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waiting--
	}()
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-g.turn }()
	for {
		g.mu.Lock()
		mark, wait = g.room(clock.Now(), tokens)
		g.mu.Unlock()
		if wait == 0 {
			return mark, nil
		}
		if err := clock.Sleep(ctx, min(wait, heedEvery)); err != nil {
			return 0, err
		}
	}
}
