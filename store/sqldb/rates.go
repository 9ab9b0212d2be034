package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/proviso-eval/proviso/store"
)

var _ store.Rates = (*DB)(nil)

// How rates are learnt. One block of permits is for blockOf at the rate of all processes, so
// that a refusal slows all of them within about that time.
const (
	blockOf    = 100 * time.Millisecond
	mostBlock  = 100
	counted    = time.Second // the window in which requests are counted
	slowest    = 0.05        // requests a second
	decrease   = 0.7         // as in RFC 9438, section 4.6
	growth     = 0.05        // of the rate at the last refusal, or of a higher rate, each second
	forgetRate = 4           // times that rate, without a refusal, is no limit

	// An endpoint that nobody asked of late begins slowly: its rate doubles each quarter of a second,
	// up to one that is no limit. Otherwise the first refusals of all processes came at once.
	firstRate = 64
	noLimit   = 4000
	ofLate    = time.Minute
)

// endpointRate is what is known of an endpoint. Rates are requests a second.
type endpointRate struct {
	rate, refusedAt float64   // 0 is no limit; the rate at the last refusal
	next, notBefore time.Time // of the next block; as the endpoint asked
	cut, grown      time.Time // when the rate that was lowered last is in force, and when it was raised
	window          time.Time // when used began to be counted
	used, before    float64   // requests in the window; a second, in the one before
	endpoint        string
}

func (t *tx) endpointRate(endpoint string) (*endpointRate, error) {
	e := &endpointRate{endpoint: endpoint}
	times := [...]*time.Time{&e.next, &e.notBefore, &e.cut, &e.grown, &e.window}
	var at [len(times)]int64
	err := t.queryRow("SELECT rate, refused_at, used, before, next, not_before, cut, grown, win FROM endpoint_rate WHERE endpoint = ?", endpoint).
		Scan(&e.rate, &e.refusedAt, &e.used, &e.before, &at[0], &at[1], &at[2], &at[3], &at[4])
	if errors.Is(err, sql.ErrNoRows) {
		return e, nil
	}
	for i, to := range times {
		*to = time.UnixMicro(at[i])
	}
	return e, err
}

func (t *tx) keepRate(e *endpointRate) error {
	args := []any{e.endpoint, e.rate, e.refusedAt, e.used, e.before}
	for _, at := range [...]time.Time{e.next, e.notBefore, e.cut, e.grown, e.window} {
		if at.IsZero() {
			at = time.UnixMicro(0)
		}
		args = append(args, at.UnixMicro())
	}
	_, err := t.exec(`INSERT INTO endpoint_rate (endpoint, rate, refused_at, used, before, next, not_before, cut, grown, win) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (endpoint) DO UPDATE SET rate = excluded.rate, refused_at = excluded.refused_at, used = excluded.used, before = excluded.before,
		next = excluded.next, not_before = excluded.not_before, cut = excluded.cut, grown = excluded.grown, win = excluded.win`, args...)
	return err
}

// count adds requests that were sent. What was learnt longer ago is forgotten.
func (e *endpointRate) count(now time.Time, sent int) {
	if e.window.IsZero() || now.Sub(e.window) > ofLate && !e.notBefore.After(now) {
		*e = endpointRate{endpoint: e.endpoint, rate: firstRate, grown: now}
	}
	if passed := now.Sub(e.window); passed >= counted || passed < 0 {
		e.before = e.used / max(passed, counted).Seconds()
		if passed < 0 {
			e.before = 0
		}
		e.used, e.window = 0, now
	}
	e.used += float64(sent)
}

// grow raises the rate for the time since it was raised or lowered.
func (e *endpointRate) grow(now time.Time) {
	if e.rate == 0 {
		return
	}
	if e.refusedAt == 0 {
		if e.rate *= math.Exp2(4 * now.Sub(e.grown).Seconds()); e.rate > noLimit {
			e.rate = 0
		}
		e.grown = now
		return
	}
	if passed := now.Sub(e.grown).Seconds(); passed > 0 {
		e.rate += growth * max(e.refusedAt, e.rate) * passed
		e.grown = now
	}
	if e.rate > forgetRate*e.refusedAt {
		e.rate = 0
	}
}

// permits gives the next block.
func (e *endpointRate) permits(now time.Time, perMinute float64) store.Permits {
	limit := e.rate
	if most := perMinute / 60; most > 0 && (limit == 0 || most < limit) {
		limit = most
	}
	if limit == 0 {
		return store.Permits{Wait: max(0, e.notBefore.Sub(now)), For: blockOf}
	}
	n := max(1, min(int(limit*blockOf.Seconds()), mostBlock))
	every := time.Duration(float64(time.Second) / limit)
	first := now
	for _, at := range [...]time.Time{e.next, e.notBefore} {
		if at.After(first) {
			first = at
		}
	}
	e.next = first.Add(time.Duration(n) * every)
	wait := first.Sub(now)
	return store.Permits{Limited: true, N: n, Wait: wait, Every: every, For: wait + time.Duration(n)*every + blockOf}
}

// TakePermits implements [store.Rates].
func (d *DB) TakePermits(ctx context.Context, r store.PermitRequest) (p store.Permits, err error) {
	if err := store.CheckEndpoint(r.Endpoint); err != nil {
		return p, err
	}
	var now time.Time
	err = d.changeIn(ctx, rateLock+r.Endpoint, "take permits from", func(t *tx) error {
		now = d.now()
		e, err := t.endpointRate(r.Endpoint)
		if err != nil {
			return err
		}
		e.count(now, r.Sent)
		e.grow(now)
		p = e.permits(now, r.PerMinute)
		return t.keepRate(e)
	})
	// The blocks of all processes follow each other by one clock, however long each took to
	// be granted.
	late := d.now().Sub(now)
	p.Wait, p.For = p.Wait-late, p.For-late
	return p, err
}

// LowerRate implements [store.Rates].
func (d *DB) LowerRate(ctx context.Context, r store.RateRefusal) error {
	if err := store.CheckEndpoint(r.Endpoint); err != nil {
		return err
	}
	sentAt := d.now().Add(-r.Ago) // before it waits for other changes
	return d.changeIn(ctx, rateLock+r.Endpoint, "lower a rate in", func(t *tx) error {
		now := d.now()
		e, err := t.endpointRate(r.Endpoint)
		if err != nil {
			return err
		}
		e.count(now, r.Sent)
		if until := now.Add(r.Wait); r.Wait > 0 && until.After(e.notBefore) {
			e.notBefore = until
		}
		if sentAt.After(e.cut) {
			e.lower(now)
		}
		return t.keepRate(e)
	})
}

// lower lowers the rate. Without one, it is what was sent of late.
func (e *endpointRate) lower(now time.Time) {
	// What was sent is known late, and the rate may not have been used up.
	sent := max(e.before, e.used/max(now.Sub(e.window), counted/4).Seconds(), e.refusedAt, 1)
	if e.rate > 0 {
		sent = min(sent, e.rate)
	}
	e.refusedAt, e.rate = sent, max(decrease*sent, slowest)
	// Until the last process has used up its permits, the same is to be expected.
	e.grown, e.cut = now, now.Add(2*blockOf)
	if e.next.After(e.cut) {
		e.cut = e.next
	}
}

// rateLock begins the names under which changes of endpoints exclude each other.
const rateLock = "endpoint "
