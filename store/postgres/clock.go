package postgres

import (
	"context"
	"math"
	"time"
)

// timeEvery is how often the clock of the database is asked.
const timeEvery = 30 * time.Second

// The time of the database is that of the middle of a question, so that half of what it took is
// the largest mistake. As with the clock filter of NTP (RFC 5905, section 10), the shortest of a
// few questions counts: a process that was stopped during one would be seconds ahead, and take
// others for silent.
const (
	timeTries = 4
	timeQuick = 100 * time.Millisecond // a question that needs no other
	timeSlow  = time.Second            // the last offset is better than a longer question
)

// now is the time of the database: leases are compared by machines whose clocks may differ.
func (e *engine) now() time.Time {
	return e.ours().Add(time.Duration(e.offset.Load()))
}

// ours is the clock of this machine, which a test sets.
func (e *engine) ours() time.Time {
	if e.clock != nil {
		return e.clock()
	}
	return time.Now()
}

// keepTime measures by how much the clock of the database differs from ours, now and until
// the engine stops.
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
				_ = e.measureTime(ctx, timeSlow) // the last offset stays
				cancel()
			}
		}
	}()
	return nil
}

// measureTime measures the offset, unless every question takes longer than most.
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
