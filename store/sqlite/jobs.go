package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
	codes "modernc.org/sqlite/lib"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// queueName is the River queue of runs.
const queueName = "runs"

// executeRun are the arguments of the job that executes a run.
type executeRun struct {
	Run string `json:"run" river:"unique"`
}

// Kind names the job for River.
func (executeRun) Kind() string { return "execute_run" }

// jobs executes the runs of a database. The status and the number of attempts
// of a run are in its row; River decides when and where it is executed.
type jobs struct {
	inserter *river.Client[*sql.Tx] // does not work

	mu      sync.Mutex
	worker  *river.Client[*sql.Tx] // nil if there is none
	lock    *lock                  // held while there is a worker
	cancels map[string]context.CancelFunc
}

// connect prepares the River client for enqueueing.
func (j *jobs) connect(d *DB) error {
	var err error
	j.inserter, err = river.NewClient(riversqlite.New(d.writing), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	return err
}

// enqueue adds the job of a run.
func (j *jobs) enqueue(t *tx, run string) error {
	r, err := j.inserter.InsertTx(context.Background(), t.Tx, executeRun{Run: run}, &river.InsertOpts{
		Queue: queueName,
		// Our own rows count attempts. River retries only other failures, such as
		// an error while the end of an attempt is recorded.
		MaxAttempts: 1000,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
		}},
	})
	if err == nil {
		_, err = t.exec("UPDATE run SET job = ? WHERE id = ?", r.Job.ID, run)
	}
	return err
}

// cancel removes a job from the queue, or notifies its worker.
func (j *jobs) cancel(t *tx, job int64) error {
	_, err := j.inserter.JobCancelTx(context.Background(), t.Tx, job)
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil
	}
	return err
}

// interrupt ends the context of the work on a run, if this process executes it.
func (j *jobs) interrupt(run string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if cancel := j.cancels[run]; cancel != nil {
		cancel()
	}
}

// Start implements [store.Jobs].
func (d *DB) Start(ctx context.Context, work store.Work) error {
	d.jobs.mu.Lock()
	defer d.jobs.mu.Unlock()
	switch {
	case d.isClosed():
		return errClosed()
	case d.jobs.worker != nil:
		return proviso.Errorf(proviso.Conflict, "the jobs were started already")
	}
	lock, err := d.takeLock()
	if err != nil {
		return err
	}
	client, err := d.newWorker(work)
	if err == nil {
		err = d.takeUp(ctx)
	}
	if err == nil {
		err = client.Start(context.WithoutCancel(ctx))
	}
	if err != nil {
		return errors.Join(d.failed("start the jobs of", err), lock.release())
	}
	d.jobs.worker, d.jobs.lock, d.jobs.cancels = client, lock, map[string]context.CancelFunc{}
	return nil
}

// lock keeps other processes from executing the runs of a database. It is a
// SQLite transaction on an empty database beside ours, because SQLite's locks
// end with the process, however it ends, on every system.
type lock struct {
	db *sql.DB
	tx *sql.Tx
}

// takeLock makes this process the only one that executes the runs.
func (d *DB) takeLock() (*lock, error) {
	if d.path == Memory {
		return &lock{}, nil
	}
	path := d.path + ".lock"
	if err := makeFile(path); err != nil {
		return nil, d.failed("lock", err)
	}
	var l lock
	var err error
	if l.db, err = sql.Open("sqlite", fileURI(path)+"?_pragma=busy_timeout(0)&_txlock=exclusive"); err != nil {
		return nil, d.failed("lock", err)
	}
	if l.tx, err = l.db.Begin(); err == nil {
		return &l, nil
	}
	if n := codeOf(err); n == codes.SQLITE_BUSY || n == codes.SQLITE_LOCKED {
		err = proviso.Because(err, proviso.Refused, "another process executes the runs of %s", d.path)
	}
	return nil, errors.Join(d.failed("lock", err), l.db.Close())
}

// release ends the lock.
func (l *lock) release() error {
	if l.db == nil {
		return nil
	}
	return errors.Join(l.tx.Rollback(), l.db.Close())
}

func (d *DB) newWorker(work store.Work) (*river.Client[*sql.Tx], error) {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &worker{db: d, work: work}); err != nil {
		return nil, err
	}
	const finished = time.Hour // how long River keeps finished jobs; we keep the runs
	return river.NewClient(riversqlite.New(d.writing), &river.Config{
		Queues:                      map[string]river.QueueConfig{queueName: {MaxWorkers: d.options.Workers}},
		Workers:                     workers,
		Logger:                      slog.New(warnings{d.options.Logger.Handler()}),
		JobTimeout:                  -1, // the duration of a run is unlimited; this also keeps River from treating one as stuck
		FetchPollInterval:           d.options.Poll,
		FetchCooldown:               min(d.options.Poll, river.FetchCooldownDefault),
		CompletedJobRetentionPeriod: finished,
		CancelledJobRetentionPeriod: finished,
		DiscardedJobRetentionPeriod: finished,
	})
}

// warnings passes on only warnings and errors.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

// takeUp puts the work that another process left behind back into the queue,
// and releases its claims. This process holds the lock, so no run is actually
// running.
func (d *DB) takeUp(ctx context.Context) error {
	return d.change(ctx, "take up the runs of", func(t *tx) error {
		// An attempt that finished rows before its process was killed does not
		// count. Only a run that repeatedly kills its process without progress
		// fails.
		if _, err := t.exec(`UPDATE run SET status = 'queued', attempts = attempts - (passed + failed + errors + skipped > begun_with) WHERE status = 'running'`); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM reply WHERE status IS NULL"); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM run WHERE project = ?", string(arriving)); err != nil { // with its results
			return err
		}
		if err := t.endAllLeases(d.now()); err != nil {
			return err
		}
		// River would treat these as running for another hour. The columns are
		// those of its schema as of the version in migrations.
		if _, err := t.exec("UPDATE river_job SET state = 'available' WHERE state = 'running' AND queue = ?", queueName); err != nil {
			return err
		}
		return d.enqueueLost(t)
	})
}

// enqueueLost enqueues every run that has not ended and has no job.
func (d *DB) enqueueLost(t *tx) error {
	rows, err := t.Query(`SELECT id FROM run WHERE status = 'queued' AND NOT EXISTS (
		SELECT 1 FROM river_job WHERE river_job.id = run.job AND finalized_at IS NULL)`)
	lost, err := collect(d, rows, err, func(row scanner) (id string, err error) { return id, row.Scan(&id) })
	if err != nil {
		return err
	}
	for _, id := range lost {
		if err := d.jobs.enqueue(t, id); err != nil {
			return err
		}
	}
	return nil
}

// Stop implements [store.Jobs].
func (d *DB) Stop(ctx context.Context) error {
	d.jobs.mu.Lock()
	client, lock := d.jobs.worker, d.jobs.lock
	d.jobs.mu.Unlock()
	if client == nil {
		return nil
	}
	if err := client.StopAndCancel(ctx); err != nil {
		return d.failed("stop the jobs of", err)
	}
	d.jobs.mu.Lock()
	defer d.jobs.mu.Unlock()
	if d.jobs.worker != client { // stopped by another call
		return nil
	}
	d.jobs.worker, d.jobs.lock = nil, nil
	return d.failed("stop the jobs of", lock.release())
}
