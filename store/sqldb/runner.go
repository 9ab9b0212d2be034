package sqldb

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// runner executes the runs of a database. The row of a running run holds its owner and a lease,
// which the owner renews. A killed process does not renew it, and another one takes over. So a
// run may take hours, and is never executed twice for long.
type runner struct {
	mu      sync.Mutex
	owner   string
	started time.Time
	work    store.Work
	stop    context.CancelFunc // cancels all work; nil if the runner is not started
	drain   chan struct{}      // closed: no further work starts
	stopped chan struct{}
	release func() error    // releases the lock of the only process
	jobs    map[string]*job // by run id

	wake chan struct{} // a run may be ready
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
	default: // a wake-up is pending
	}
}

// interrupt cancels the work on a run, if this process executes it.
func (r *runner) interrupt(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.jobs[run]; j != nil {
		j.cancel()
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
	r.owner, r.started, r.work, r.stop, r.release = rand.Text(), d.now(), work, stop, release
	r.drain, r.stopped, r.wake, r.jobs = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1), map[string]*job{}
	d.options.Logger.InfoContext(ctx, "this process executes runs", "worker", r.owner, "jobs", d.options.Workers)
	go d.execute(running, r.stopped)
	return nil
}

// Stop implements [store.Jobs].
func (d *DB) Stop(ctx context.Context) error {
	r := &d.runner
	r.mu.Lock()
	stop, stopped, release := r.stop, r.stopped, r.release
	if stop != nil {
		r.drained()
	}
	r.mu.Unlock()
	if stop == nil {
		return nil
	}
	if end, ok := ctx.Deadline(); ok {
		hard := time.AfterFunc(time.Until(end)*4/5, stop)
		defer hard.Stop()
		defer context.AfterFunc(ctx, stop)()
	} else {
		stop()
	}
	select {
	case <-stopped:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != stopped || r.stop == nil { // another call stopped it
		return nil
	}
	r.stop, r.release = nil, nil
	if release != nil {
		return d.failed("stop the jobs of", release())
	}
	if err := d.DeleteShared(ctx, processKind, r.owner); err != nil { // harmless: the item expires
		d.options.Logger.WarnContext(ctx, "tell other processes that this one has stopped", "error", err)
	}
	return nil
}

// drained closes drain; mu must be held.
func (r *runner) drained() {
	select {
	case <-r.drain:
	default:
		close(r.drain)
	}
}

// draining reports whether no further work starts.
func (r *runner) draining() bool {
	select {
	case <-r.drain:
		return true
	default:
		return false
	}
}

// execute executes runs until the runner is drained or ctx ends. It renews the leases of
// running runs and waits for them to end.
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
		fit := d.fit(ctx)
		if d.Several() {
			if err := d.appear(ctx); err != nil && ctx.Err() == nil {
				d.options.Logger.WarnContext(ctx, "tell other processes that this one is alive", "error", err)
			}
		}
		if d.runner.draining() && len(places) == 0 {
			return
		}
		for ctx.Err() == nil && !d.runner.draining() && len(places) < cap(places) && fit {
			j, ok, err := d.claim(ctx)
			if err != nil && ctx.Err() == nil {
				d.options.Logger.WarnContext(ctx, "look for runs to execute", "error", err)
			}
			if !ok || err != nil {
				break
			}
			places <- struct{}{}
			own := d.runner.begin(ctx, j)
			running.Go(func() {
				d.attempt(ctx, own, j)
				<-places
				select {
				case ended <- struct{}{}:
				default:
				}
			})
		}
		drain := d.runner.drain
		if d.runner.draining() {
			drain = nil // already known
		}
		select {
		case <-ctx.Done():
			return
		case <-drain:
		case <-tick.C:
		case <-ended:
		case <-d.runner.wake:
		}
	}
}

// takeUpAll requeues the work that another process left behind, and releases its claims. This
// process is the only one, so no run is actually running.
func (d *DB) takeUpAll(ctx context.Context) error {
	return d.change(ctx, "take up the runs of", func(t *tx) error {
		if err := errors.Join(t.takeUp("", nil), t.freeParts("", nil)); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM reply WHERE status IS NULL"); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM run WHERE project = ?", string(arriving)); err != nil { // deletes its results, too
			return err
		}
		return t.endAllLeases(d.now())
	})
}

// takeUp requeues the running runs that meet a condition.
func (t *tx) takeUp(condition string, args []any) error {
	// An attempt that finished rows before its process was killed does not count. A run fails
	// only if it repeatedly kills its process without progress.
	_, err := t.exec(`UPDATE run SET status = 'queued', due = 0, attempts = attempts - CASE WHEN passed + failed + errors + skipped > begun_with THEN 1 ELSE 0 END
		WHERE status = 'running'`+condition, args...)
	return err
}

// renew renews the leases of the runs that this process executes, cancels the work on runs that
// it has lost or that were cancelled, and requeues runs whose lease has expired. A single
// process needs no leases.
func (d *DB) renew(ctx context.Context) error {
	r := &d.runner
	r.mu.Lock()
	alone, owner := r.release != nil, r.owner
	mine := make(map[string]*job, len(r.jobs))
	taken := make(map[string]int, len(r.jobs))
	for id, j := range r.jobs {
		mine[id], taken[id] = j, j.taken
	}
	r.mu.Unlock()
	if alone {
		return nil
	}
	now := d.now()
	held := map[string]int{}
	var silent []silence
	err := d.change(ctx, "renew the leases in", func(t *tx) error {
		// This process may have been suspended since it read the clock. It must not shorten the
		// lease of parts that it took since.
		until := micros(now.Add(d.options.Lease))
		if _, err := t.exec("UPDATE run_part SET lease = greatest(lease, ?) WHERE owner = ? AND done = 0", until, owner); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE run SET lease = greatest(coalesce(lease, 0), ?) WHERE status = 'running' AND (owner = ? OR parts > 0 AND seq IN (SELECT run FROM run_part WHERE owner = ? AND done = 0))",
			until, owner, owner); err != nil {
			return err
		}
		clear(held)
		if _, err := collect(d, func(row scanner) (n int, err error) {
			var id string
			err = row.Scan(&id, &n)
			held[id] = n
			return n, err
		})(t.query(`SELECT r.id, (SELECT count(*) FROM run_part p WHERE p.run = r.seq AND p.owner = ? AND p.done = 0) FROM run r
			WHERE r.status = 'running' AND (r.owner = ? OR r.parts > 0)`, owner, owner)); err != nil {
			return err
		}
		var err error
		if silent, err = t.silences(now); err != nil {
			return err
		}
		return errors.Join(t.freeParts(" AND lease < ?", []any{micros(now)}), t.takeUp(" AND lease < ?", []any{micros(now)}))
	})
	if err != nil {
		return err
	}
	for _, s := range silent {
		d.options.Logger.InfoContext(ctx, "a worker is silent: others may continue what it had of a run", "run", s.run, "from", s.owner, "worker", owner, "rows", s.rows)
	}
	for id, j := range mine {
		if parts, ok := held[id]; !ok || parts < taken[id] {
			r.lose(j)
		}
	}
	return nil
}

// silence is a process with parts of a run whose lease has expired.
type silence struct {
	run, owner string
	rows       int // finished rows of the run
}

// silences finds the processes whose leases on parts have expired.
func (t *tx) silences(now time.Time) ([]silence, error) {
	return collect(t.db, func(row scanner) (s silence, err error) { return s, row.Scan(&s.run, &s.owner, &s.rows) })(t.query(`SELECT DISTINCT r.id, p.owner, r.passed + r.failed + r.errors + r.skipped FROM run_part p JOIN run r ON r.seq = p.run
		WHERE p.done = 0 AND p.owner <> '' AND p.lease < ?`, micros(now)))
}
