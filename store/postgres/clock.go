package postgres

import (
	"context"
	"math"
	"time"
)

// timeEvery is how often the database clock is read.
const timeEvery = 30 * time.Second

// The database time is assigned to the middle of the query, so the maximum error is half its
// duration. As in the clock filter of NTP (RFC 5905, section 10), the quickest of a few queries
// counts: a process that was suspended during one would be seconds ahead, and would take others
// for silent.
const (
	timeTries = 4
	timeQuick = 100 * time.Millisecond // quick enough that no further query is needed
	timeSlow  = time.Second            // a slower query does not replace the last offset
)

// now returns the database time: machines with different clocks compare leases.
func (e *engine) now() time.Time {
	return e.ours().Add(time.Duration(e.offset.Load()))
}

// ours returns this machine's clock, or the one of a test.
func (e *engine) ours() time.Time {
	if e.clock != nil {
		return e.clock()
	}
	return time.Now()
}

// keepTime measures the offset of the database clock from ours, now and repeatedly until the
// engine stops.
func (e *engine) keepTime(ctx context.Context) error {
	if err := e.measureTime(ctx, math.MaxInt64); err != nil {
		return err
	}
	go func() {
		tick := time.NewTicker(timeEvery)
		defer tick.Stop()
		for {
			select {
			case <-e.stop:
				return
			case <-tick.C:
				ctx, cancel := context.WithTimeout(context.Background(), timeEvery/3)
				_ = e.measureTime(ctx, timeSlow) // on an error the last offset stays
				cancel()
			}
		}
	}()
	return nil
}

// measureTime measures the offset, and keeps the last one if every query takes longer than
// most.
func (e *engine) measureTime(ctx context.Context, most time.Duration) error {
	var offset time.Duration
	best := time.Duration(-1)
	for range timeTries {
		before := e.ours()
		var theirs time.Time
		if err := e.db.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&theirs); err != nil {
			return err
		}
		took := e.ours().Sub(before)
		if best < 0 || took < best {
			best, offset = took, theirs.Sub(before.Add(took/2))
		}
		if best <= timeQuick {
			break
		}
	}
	if best <= most {
		e.offset.Store(int64(offset))
	}
	return nil
}
