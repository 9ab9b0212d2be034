package sqldb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// runner executes the runs of a database. A run that is executed has an owner and a lease
// in its row, which the owner renews; a process that is killed does not, and another one
// takes the run up. So a run may take hours, and is never executed twice for long.
type runner struct {
	mu      sync.Mutex
	owner   string
	work    store.Work
	stop    context.CancelFunc // nil if nothing is executed
	stopped chan struct{}
	release func() error // the lock of the only process
	cancels map[string]context.CancelFunc

	wake chan struct{} // there may be a run to execute
}

// wakeUp makes the runner look for runs now.
func (r *runner) wakeUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop == nil {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// interrupt ends the context of the work on a run, if this process executes it.
func (r *runner) interrupt(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.cancels[run]; cancel != nil {
		cancel()
	}
}

// Start implements [store.Jobs].
func (d *DB) Start(ctx context.Context, work store.Work) error {
	r := &d.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case d.isClosed():
		return errClosed()
	case r.stop != nil:
		return proviso.Errorf(proviso.Conflict, "the jobs were started already")
	}
	release, err := d.engine.Alone()
	if err != nil {
		return d.failed("lock", err)
	}
	if release != nil {
		if err := d.takeUpAll(ctx); err != nil {
			return errors.Join(err, release())
		}
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.owner, r.work, r.stop, r.release = rand.Text(), work, stop, release
	r.stopped, r.wake, r.cancels = make(chan struct{}), make(chan struct{}, 1), map[string]context.CancelFunc{}
	go d.execute(running, r.stopped)
	return nil
}

// Stop implements [store.Jobs].
func (d *DB) Stop(ctx context.Context) error {
	r := &d.runner
	r.mu.Lock()
	stop, stopped, release := r.stop, r.stopped, r.release
	r.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-stopped:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != stopped || r.stop == nil { // stopped by another call
		return nil
	}
	r.stop, r.release = nil, nil
	if release == nil {
		return nil
	}
	return d.failed("stop the jobs of", release())
}

// execute executes runs until ctx ends, and waits for those that it began.
func (d *DB) execute(ctx context.Context, stopped chan<- struct{}) {
	defer close(stopped)
	tick := time.NewTicker(d.options.Poll)
	defer tick.Stop()
	places := make(chan struct{}, d.options.Workers)
	ended := make(chan struct{}, 1)
	var running sync.WaitGroup
	defer running.Wait()
	for {
		if err := d.renew(ctx); err != nil && ctx.Err() == nil {
			d.options.Logger.WarnContext(ctx, "renew the leases of runs", "error", err)
		}
		for ctx.Err() == nil && len(places) < cap(places) {
			run, ok, err := d.claimRun(ctx)
			if err != nil && ctx.Err() == nil {
				d.options.Logger.WarnContext(ctx, "look for runs to execute", "error", err)
			}
			if !ok || err != nil {
				break
			}
			places <- struct{}{}
			running.Go(func() {
				d.attempt(ctx, run)
				<-places
				select {
				case ended <- struct{}{}:
				default:
				}
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-ended:
		case <-d.runner.wake:
		}
	}
}

// Waiting implements [store.Store].
func (d *DB) Waiting(ctx context.Context) ([]store.Waiting, error) {
	rows, err := d.query(ctx, `SELECT project, count(*) FILTER (WHERE status = ?1), min(created) FILTER (WHERE status = ?1), count(*) FILTER (WHERE status = ?2)
		FROM run WHERE status IN (?1, ?2) GROUP BY project ORDER BY project`, string(store.Queued), string(store.Running))
	return collect(d, rows, err, func(row scanner) (w store.Waiting, err error) {
		var oldest sql.NullInt64
		err = row.Scan(&w.Project, &w.Queued, &oldest, &w.Running)
		w.Oldest = fromMicros(oldest)
		return w, err
	})
}

// takeUpAll puts the work that another process left behind back into the queue,
// and releases its claims. This process is the only one, so no run is actually
// running.
func (d *DB) takeUpAll(ctx context.Context) error {
	return d.change(ctx, "take up the runs of", func(t *tx) error {
		if err := t.takeUp("", nil); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM reply WHERE status IS NULL"); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM run WHERE project = ?", string(arriving)); err != nil { // with its results
			return err
		}
		return t.endAllLeases(d.now())
	})
}

// takeUp queues running runs that fulfil a condition.
func (t *tx) takeUp(condition string, args []any) error {
	// An attempt that finished rows before its process was killed does not
	// count. Only a run that repeatedly kills its process without progress
	// fails.
	_, err := t.exec(`UPDATE run SET status = 'queued', due = 0, attempts = attempts - CASE WHEN passed + failed + errors + skipped > begun_with THEN 1 ELSE 0 END
		WHERE status = 'running'`+condition, args...)
	return err
}

// renew renews the leases of the runs that this process executes, ends the work on those
// that it has lost or that were cancelled, and takes up those of processes that are silent.
// The only process needs no leases.
func (d *DB) renew(ctx context.Context) error {
	r := &d.runner
	r.mu.Lock()
	alone, owner := r.release != nil, r.owner
	mine := make(map[string]context.CancelFunc, len(r.cancels))
	for id, cancel := range r.cancels {
		mine[id] = cancel
	}
	r.mu.Unlock()
	if alone {
		return nil
	}
	now := d.now()
	var held []string
	err := d.change(ctx, "renew the leases in", func(t *tx) error {
		if _, err := t.exec("UPDATE run SET lease = ? WHERE owner = ? AND status = 'running'", micros(now.Add(d.options.Lease)), owner); err != nil {
			return err
		}
		rows, err := t.query("SELECT id FROM run WHERE owner = ? AND status = 'running'", owner)
		if held, err = collect(d, rows, err, func(row scanner) (id string, err error) { return id, row.Scan(&id) }); err != nil {
			return err
		}
		return t.takeUp(" AND lease < ?", []any{micros(now)})
	})
	if err != nil {
		return err
	}
	for _, id := range held {
		delete(mine, id)
	}
	for _, cancel := range mine {
		cancel()
	}
	return nil
}
