package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// claimRun sets the first run that is due to running; ok is false if there is none.
func (d *DB) claimRun(ctx context.Context) (run store.Run, ok bool, err error) {
	const due = "SELECT id FROM run WHERE status = 'queued' AND due <= ? ORDER BY seq LIMIT 1"
	var id string
	// Most of the time there is nothing to do, and so nothing is written.
	if err := d.queryRow(ctx, due, micros(d.now())).Scan(&id); errors.Is(err, sql.ErrNoRows) {
		return run, false, nil
	} else if err != nil {
		return run, false, d.failed("read", err)
	}
	for {
		more := false
		err := d.change(ctx, "begin a run in", func(t *tx) error {
			ok, more = false, false
			now := d.now()
			err := t.queryRow(due, micros(now)).Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			more = true
			n, err := t.changed(`UPDATE run SET status = 'running', started = ?, attempts = attempts + 1, begun_with = passed + failed + errors + skipped, owner = ?, lease = ?
				WHERE id = ? AND status = 'queued' AND attempts < ?`, micros(now), d.runner.owner, micros(now.Add(d.options.Lease)), id, store.MaxAttempts)
			if err != nil {
				return err
			}
			if n == 0 {
				return t.endRun(id, store.Failed, fmt.Sprintf("the process ended %d times while executing the run", store.MaxAttempts))
			}
			ok = true
			r, err := t.anyRun(id)
			run = r.Run
			return err
		})
		if err != nil || ok || !more {
			return run, ok && err == nil, err
		}
	}
}

// attempt executes one attempt of a run, and records how it ended.
func (d *DB) attempt(stopping context.Context, run store.Run) {
	ctx, cancel := context.WithCancel(stopping)
	defer cancel()
	d.runner.begin(run.ID, cancel)
	defer d.runner.end(run.ID)
	failure := d.untilRoom(ctx, func() error { return d.callWork(ctx, store.Job{Run: run, Attempt: run.Attempts}) })
	keep := store.Patient(context.WithoutCancel(ctx)) // the result is recorded, even if the context ends
	for pause := d.options.Retry(1); ; pause = max(pause, time.Millisecond) {
		err := d.endAttempt(keep, run, failure, stopping.Err() != nil)
		if err == nil {
			return
		}
		d.options.Logger.WarnContext(ctx, "record how a run ended", "run", run.ID, "error", err)
		select {
		case <-stopping.Done():
			return // whoever starts next takes the run up
		case <-time.After(pause):
		}
	}
}

// untilRoom calls do again for as long as the disk is full, until ctx ends.
func (d *DB) untilRoom(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, store.ErrNoRoom) {
			return err
		}
		d.options.Logger.WarnContext(ctx, "a run waits until there is room on the disk", "error", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(d.options.Retry(1), time.Millisecond)):
		}
	}
}

func (r *runner) begin(run string, cancel context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancels[run] = cancel
}

func (r *runner) end(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.cancels, run)
}

// callWork calls the work and turns a panic into an error.
func (d *DB) callWork(ctx context.Context, job store.Job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			d.options.Logger.ErrorContext(ctx, "panic while executing a run", "run", job.Run.ID, "panic", p, "stack", string(debug.Stack()))
			err = proviso.Errorf(proviso.Internal, "panic while executing the run: %v", p)
		}
	}()
	return d.runner.work(store.Patient(ctx), job)
}

// endAttempt records how an attempt ended, unless the run has ended meanwhile, or is of
// another process.
func (d *DB) endAttempt(ctx context.Context, run store.Run, failure error, stopping bool) error {
	return d.change(ctx, "end a run in", func(t *tx) error {
		var owner string
		if err := t.queryRow("SELECT owner FROM run WHERE id = ?", run.ID).Scan(&owner); err != nil || owner != d.runner.owner {
			return ignoreNone(err)
		}
		switch {
		case failure == nil:
			return t.endRun(run.ID, store.Done, "")
		case stopping:
			return t.requeue(run.ID, run.Attempts-1, d.now(), "")
		case store.IsPermanent(failure) || run.Attempts >= store.MaxAttempts:
			return t.endRun(run.ID, store.Failed, reason(failure))
		}
		return t.requeue(run.ID, run.Attempts, d.now().Add(d.options.Retry(run.Attempts)), reason(failure))
	})
}

// ignoreNone returns an error unless it says that there is no row.
func ignoreNone(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// requeue sets a running run to queued.
func (t *tx) requeue(id string, attempts int, due time.Time, why string) error {
	_, err := t.exec("UPDATE run SET status = 'queued', attempts = ?, due = ?, error = ? WHERE id = ? AND status = 'running'", attempts, micros(due), why, id)
	return err
}

// reason is the stored form of an error.
func reason(err error) string {
	const most = 4096
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), most)], "\uFFFD")
}
