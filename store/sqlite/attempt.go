package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// worker executes runs for River.
type worker struct {
	river.WorkerDefaults[executeRun]
	db   *DB
	work store.Work
}

// Work executes one attempt. It returns errors of the store; errors of the work
// are recorded in the run.
func (w *worker) Work(ctx context.Context, job *river.Job[executeRun]) error {
	id := job.Args.Run
	stopping := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.db.jobs.begin(id, cancel)
	defer w.db.jobs.end(id)
	keep := context.WithoutCancel(ctx) // the result is recorded, even if the context ends
	var run store.Run
	var ok, again bool
	err := w.db.untilRoom(ctx, func() (err error) {
		run, ok, err = w.db.beginAttempt(keep, id)
		return err
	})
	if err != nil || !ok {
		return err
	}
	failure := w.db.untilRoom(ctx, func() error { return w.attempt(ctx, store.Job{Run: run, Attempt: run.Attempts}) })
	var pause time.Duration
	err = w.db.untilRoom(ctx, func() (err error) {
		again, pause, err = w.db.endAttempt(keep, run, failure, stopping.Err() != nil)
		return err
	})
	if err == nil && again {
		return river.JobSnooze(pause)
	}
	return err
}

// untilRoom calls do again for as long as the disk is full, until ctx ends. It waits
// here, because River could not record that the job has to be tried again.
func (d *DB) untilRoom(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, store.ErrNoRoom) {
			return err
		}
		d.options.Logger.WarnContext(ctx, "a run waits until there is room on the disk", "database", d.path)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(d.options.Retry(1)):
		}
	}
}

func (j *jobs) begin(run string, cancel context.CancelFunc) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancels[run] = cancel
}

func (j *jobs) end(run string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.cancels, run)
}

// attempt calls work and turns a panic into an error.
func (w *worker) attempt(ctx context.Context, job store.Job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.db.options.Logger.ErrorContext(ctx, "panic while executing a run", "run", job.Run.ID, "panic", p, "stack", string(debug.Stack()))
			err = proviso.Errorf(proviso.Internal, "panic while executing the run: %v", p)
		}
	}()
	return w.work(ctx, job)
}

// beginAttempt sets a run to running. ok is false if the run must not be
// executed.
func (d *DB) beginAttempt(ctx context.Context, id string) (run store.Run, ok bool, err error) {
	err = d.change(ctx, "begin a run in", func(t *tx) error {
		n, err := t.changed(`UPDATE run SET status = 'running', started = ?, attempts = attempts + 1, begun_with = passed + failed + errors + skipped
			WHERE id = ? AND status IN ('queued', 'running') AND attempts < ?`, micros(d.now()), id, store.MaxAttempts)
		if err != nil {
			return err
		}
		if ok = n == 1; !ok {
			return t.endRun(id, store.Failed, fmt.Sprintf("the process ended %d times while executing the run", store.MaxAttempts))
		}
		r, err := t.anyRun(id)
		run = r.Run
		return err
	})
	return run, ok, err
}

// endAttempt records how an attempt ended, unless the run has ended meanwhile.
func (d *DB) endAttempt(ctx context.Context, run store.Run, failure error, stopping bool) (again bool, pause time.Duration, err error) {
	err = d.change(ctx, "end a run in", func(t *tx) error {
		again, pause = false, 0
		var err error
		switch {
		case failure == nil:
			return t.endRun(run.ID, store.Done, "")
		case stopping:
			again, err = t.requeue(run.ID, run.Attempts-1, "")
			return err
		case store.IsPermanent(failure) || run.Attempts >= store.MaxAttempts:
			return t.endRun(run.ID, store.Failed, reason(failure))
		}
		pause = d.options.Retry(run.Attempts)
		again, err = t.requeue(run.ID, run.Attempts, reason(failure))
		return err
	})
	return again, pause, err
}

// requeue sets a running run to queued, and reports whether it was running.
func (t *tx) requeue(id string, attempts int, why string) (bool, error) {
	n, err := t.changed("UPDATE run SET status = 'queued', attempts = ?, error = ? WHERE id = ? AND status = 'running'", attempts, why, id)
	return n == 1, err
}

// reason is the stored form of an error.
func reason(err error) string {
	const most = 4096
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), most)], "\uFFFD")
}
