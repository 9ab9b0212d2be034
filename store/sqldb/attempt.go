package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/store"
)

// job is this process's work on a run: all of it, or the parts that it takes.
type job struct {
	run    runRow
	joined bool // others were executing the run when this job started
	cancel context.CancelFunc
	left   int  // rows of a sharded run that were finished when this process left it
	taken  int  // number of parts; guarded by runner.mu, like lost
	lost   bool // others have, or may have, what this job took
}

// divided reports whether several processes may execute the run.
func (j *job) divided() bool { return j.run.Division.Parts > 0 }

// claim finds work: the first run that is due, otherwise a running run with unclaimed parts. ok
// is false if there is none.
func (d *DB) claim(ctx context.Context) (j *job, ok bool, err error) {
	run, ok, err := d.claimRun(ctx)
	if ok || err != nil {
		return &job{run: run}, ok, err
	}
	run, ok, err = d.joinRun(ctx)
	return &job{run: run, joined: true}, ok, err
}

// claimRun sets the first due run to running; ok is false if there is none.
func (d *DB) claimRun(ctx context.Context) (run runRow, ok bool, err error) {
	var former string
	for {
		// Most of the time there is no work, so read before writing.
		id, found, err := d.notMine(ctx, "SELECT id, seq, needs FROM run WHERE status = 'queued' AND due <= ?", micros(d.now()))
		if err != nil || !found {
			return run, false, err
		}
		err = d.change(ctx, "begin a run in", func(t *tx) error {
			now := d.now()
			if err := t.queryRow("SELECT owner FROM run WHERE id = ?", id).Scan(&former); err != nil {
				return ignoreNone(err)
			}
			n, err := t.changed(`UPDATE run SET status = 'running', started = ?, attempts = attempts + 1, begun_with = passed + failed + errors + skipped, owner = ?, lease = ?
				WHERE id = ? AND status = 'queued' AND attempts < ?`, micros(now), d.runner.owner, micros(now.Add(d.options.Lease)), id, store.MaxAttempts)
			if ok = n > 0; err != nil {
				return err
			}
			if run, err = t.anyRun(id); err == nil && !ok && run.Attempts >= store.MaxAttempts && run.Status == store.Queued {
				return t.endRun(id, store.Failed, tooOften())
			}
			return ignoreNone(err)
		})
		if err == nil && ok && former != d.runner.owner {
			d.noteContinued(ctx, &run, former, run.Totals.Rows())
		}
		if err != nil || ok {
			return run, ok && err == nil, err
		}
	}
}

// notMine returns the first run of a query's result that this process can execute and is not
// executing. A lost run whose work has not ended yet counts as executing.
func (d *DB) notMine(ctx context.Context, query string, args ...any) (id string, found bool, err error) {
	type candidate struct {
		id, needs string
		seq       int64
	}
	const most = 100
	var cannot []string // needs
	for after := int64(-1); ; {
		given, places := textList(cannot)
		condition, read := " AND seq > ?", d.query
		if len(cannot) > 0 {
			condition, read = condition+" AND needs NOT IN "+places, d.find
		}
		list, err := collect(d, func(row scanner) (c candidate, err error) { return c, row.Scan(&c.id, &c.seq, &c.needs) })(
			read(ctx, query+condition+" ORDER BY seq LIMIT ?", slices.Concat(args, []any{after}, given, []any{most})...))
		if err != nil {
			return "", false, err
		}
		for _, c := range list {
			if slices.Contains(cannot, c.needs) {
				continue
			}
			if !d.offering.can(fromList[string](c.needs), d.now()) {
				if len(cannot) < maxNeedSets {
					cannot = append(cannot, c.needs)
				}
			} else if !d.runner.has(c.id) {
				return c.id, true, nil
			}
		}
		if len(list) < most {
			return "", false, nil
		}
		after = list[most-1].seq
	}
}

// has reports whether this process executes a run, including a lost run whose work has not
// ended yet.
func (r *runner) has(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[run] != nil
}

func tooOften() string {
	return fmt.Sprintf("the process ended %d times while executing the run", store.MaxAttempts)
}

// attempt executes one attempt of a run and records its result.
func (d *DB) attempt(stopping, ctx context.Context, j *job) {
	defer d.runner.end(j)
	run := store.Job{Run: j.run.Run, Attempt: j.run.Attempts, Process: d.runner.owner, Drain: d.runner.drain}
	if j.divided() {
		run.Take = func(ctx context.Context, from int) (store.Part, bool, error) { return d.takePart(ctx, j, from) }
	}
	again := false
	failure := d.untilRoom(ctx, func() error {
		if again && j.divided() { // the unfinished part is not done
			if err := d.returnParts(ctx, j); err != nil {
				return err
			}
		}
		again = true
		return d.callWork(ctx, run)
	})
	keep := store.Patient(context.WithoutCancel(ctx)) // record the result even if the context ends
	for pause := d.options.Retry(1); ; pause = max(pause, time.Millisecond) {
		err := d.endAttempt(keep, j, failure, stopping.Err() != nil || errors.Is(failure, store.ErrDrained))
		if err == nil {
			return
		}
		d.options.Logger.WarnContext(ctx, "record how a run ended", "run", j.run.ID, "error", err)
		if transport.Wait(stopping, pause) != nil {
			return // another process, or the next start, takes over the run
		}
	}
}

// untilRoom repeats do while the disk is full, until ctx ends.
func (d *DB) untilRoom(ctx context.Context, do func() error) error {
	var told time.Time
	for {
		err := do()
		if !errors.Is(err, store.ErrNoRoom) || store.UnfitFor(err) != "" {
			return err
		}
		if time.Since(told) >= unfitEvery {
			told = time.Now()
			d.options.Logger.WarnContext(ctx, "a run waits until there is room on the disk of the database", "error", err)
		}
		if transport.Wait(ctx, max(d.options.Retry(1), time.Millisecond)) != nil {
			return err
		}
	}
}

// begin registers a job and returns its context.
func (r *runner) begin(ctx context.Context, j *job) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[j.run.ID] = j
	ctx, j.cancel = context.WithCancel(ctx)
	return ctx
}

func (r *runner) end(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, j.run.ID)
	j.cancel()
}

// lose cancels a job whose run or parts this process no longer holds.
func (r *runner) lose(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j.lost = true
	j.cancel()
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

// endAttempt records the result of an attempt, unless the run has ended meanwhile or belongs to
// another process.
func (d *DB) endAttempt(ctx context.Context, j *job, failure error, stopping bool) error {
	run := &j.run
	lacks := store.UnableTo(failure)
	d.offering.rest(lacks, d.now().Add(d.options.Rest))
	d.offering.ails(store.UnfitFor(failure), d.now().Add(d.options.Rest/2))
	err := d.change(ctx, "end a run in", func(t *tx) error {
		if err := t.addNeeds(run.ID, lacks); err != nil {
			return err
		}
		if j.divided() {
			return t.endShare(j, failure, stopping)
		}
		var owner string
		if err := t.queryRow("SELECT owner FROM run WHERE id = ?", run.ID).Scan(&owner); err != nil || owner != d.runner.owner {
			return ignoreNone(err)
		}
		switch {
		case failure == nil:
			return t.endRun(run.ID, store.Done, "")
		case leavesRun(failure):
			if over, err := t.giveBack(run, failure); err != nil || over {
				return err
			}
			return t.requeue(run.ID, run.Attempts-1, d.now(), "")
		case stopping:
			return t.requeue(run.ID, run.Attempts-1, d.now(), "")
		case store.IsPermanent(failure) || run.Attempts >= store.MaxAttempts:
			return t.endRun(run.ID, store.Failed, reason(failure))
		}
		return t.requeue(run.ID, run.Attempts, d.now().Add(d.options.Retry(run.Attempts)), reason(failure))
	})
	if err == nil && failure != nil && j.divided() {
		d.options.Logger.InfoContext(ctx, "a run is left to others", "run", run.ID, "worker", d.runner.owner, "rows", j.left)
	}
	return err
}

// addNeeds adds needs to a run, as many as are valid and fit within [store.MaxNeeds].
func (t *tx) addNeeds(id string, more []string) error {
	if len(more) == 0 {
		return nil
	}
	r, err := t.anyRun(id)
	if err != nil {
		return ignoreNone(err)
	}
	all := slices.Clone(r.Needs)
	for _, need := range more {
		if fits := append(all, need); !slices.Contains(all, need) && store.CheckNeeds(fits) == nil {
			all = fits
		}
	}
	_, err = t.exec("UPDATE run SET needs = ? WHERE id = ?", sortedList(all), id)
	return err
}

// ignoreNone returns nil for sql.ErrNoRows, and other errors unchanged.
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

// reason returns the stored form of an error.
func reason(err error) string {
	const most = 4096
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), most)], "\uFFFD")
}
