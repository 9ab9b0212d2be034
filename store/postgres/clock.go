package postgres

import (
	"context"
	"time"
)

// timeEvery is how often the clock of the database is asked.
const timeEvery = 30 * time.Second

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
	if err := e.measureTime(ctx); err != nil {
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
				_ = e.measureTime(ctx) // the last offset stays
				cancel()
			}
		}
	}()
	return nil
}

func (e *engine) measureTime(ctx context.Context) error {
	before := e.ours()
	var theirs time.Time
	if err := e.db.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&theirs); err != nil {
		return err
	}
	took := e.ours().Sub(before)
	e.offset.Store(int64(theirs.Sub(before.Add(took / 2))))
	return nil
}
