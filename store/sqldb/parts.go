package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"github.com/proviso-eval/proviso/store"
)

// Several processes execute a sharded run. Each takes the first free part, one after the other,
// so all parts behind the last row of run_part have never been taken. A process holds a part
// until its work or its lease ends.

// joinRun finds a running run with unclaimed parts that this process is not executing; ok is
// false if there is none. A worker of an earlier version executes a run as a whole and takes no
// parts; its runs are not joined.
func (d *DB) joinRun(ctx context.Context) (run runRow, ok bool, err error) {
	id, found, err := d.notMine(ctx, `SELECT id, seq, needs FROM run WHERE status = 'running' AND parts > 0 AND due <= ?
		AND EXISTS (SELECT 1 FROM run_part p WHERE p.run = run.seq AND p.owner <> '')
		AND parts > (SELECT count(*) FROM run_part p WHERE p.run = run.seq AND (p.done = 1 OR p.owner <> ''))`, micros(d.now()))
	if err != nil || !found {
		return run, false, err
	}
	run, err = readRun(d.queryRow(ctx, selectRun+" WHERE id = ?", id))
	return run, err == nil && run.Status == store.Running, d.failed("read", ignoreNone(err))
}

// takePart implements [store.Job.Take].
func (d *DB) takePart(ctx context.Context, j *job, from int) (p store.Part, ok bool, err error) {
	err = d.change(ctx, "take a part of a run in", func(t *tx) (err error) {
		p, ok, err = t.takePart(j, from)
		return err
	})
	if err != nil || !ok {
		return store.Part{}, false, err
	}
	if p.Begun {
		d.options.Logger.InfoContext(ctx, "a part of a run is continued", "run", j.run.ID, "worker", d.runner.owner, "from_row", p.From)
	}
	d.runner.mu.Lock()
	defer d.runner.mu.Unlock()
	j.taken++
	return p, true, nil
}

func (t *tx) takePart(j *job, from int) (p store.Part, ok bool, err error) {
	d, of := t.db, j.run.Division
	var status store.RunStatus
	var finished int
	err = t.queryRow("SELECT status, passed + failed + errors + skipped FROM run WHERE seq = ?", j.run.seq).Scan(&status, &finished)
	if err != nil || status != store.Running {
		return p, false, ignoreNone(err)
	}
	first, attempts := from/of.Rows, 0
	number := first
	err = t.queryRow("SELECT number, attempts FROM run_part WHERE run = ? AND number >= ? AND owner = '' AND done = 0 ORDER BY number LIMIT 1", j.run.seq, first).Scan(&number, &attempts)
	p.Begun = err == nil
	if errors.Is(err, sql.ErrNoRows) {
		err = t.queryRow("SELECT coalesce(max(number), -1) + 1 FROM run_part WHERE run = ?", j.run.seq).Scan(&number)
		number = max(number, first)
	}
	if err != nil || number >= of.Parts {
		return p, false, err
	}
	if attempts >= store.MaxAttempts {
		return p, false, t.endRun(j.run.ID, store.Failed, tooOften())
	}
	_, err = t.exec(`INSERT INTO run_part (run, number, owner, lease, attempts, begun_with) VALUES (?, ?, ?, ?, 1, ?)
		ON CONFLICT (run, number) DO UPDATE SET owner = excluded.owner, lease = excluded.lease, attempts = run_part.attempts + 1, begun_with = excluded.begun_with`,
		j.run.seq, number, d.runner.owner, micros(d.now().Add(d.options.Lease)), finished)
	p.From = number * of.Rows
	if number < of.Parts-1 {
		p.To = p.From + of.Rows
	}
	return p, true, err
}

// returnParts returns a job's unfinished parts.
func (d *DB) returnParts(ctx context.Context, j *job) error {
	err := d.change(ctx, "return the parts of a run in", func(t *tx) error { return t.returnParts(j) })
	if err == nil {
		d.runner.mu.Lock()
		defer d.runner.mu.Unlock()
		j.taken = 0
	}
	return err
}

func (t *tx) returnParts(j *job) error {
	_, err := t.exec("UPDATE run_part SET owner = '', attempts = attempts - 1 WHERE run = ? AND owner = ? AND done = 0", j.run.seq, t.db.runner.owner)
	return err
}

// freeParts frees the taken parts that meet a condition. As in takeUp, an attempt does not
// count if rows were finished since.
func (t *tx) freeParts(condition string, args []any) error {
	_, err := t.exec(`UPDATE run_part SET owner = '',
		attempts = attempts - CASE WHEN (SELECT r.passed + r.failed + r.errors + r.skipped FROM run r WHERE r.seq = run_part.run) > begun_with THEN 1 ELSE 0 END
		WHERE done = 0 AND owner <> ''`+condition, args...)
	return err
}

// endShare records the result of this process's work on a sharded run, unless the run has
// ended.
func (t *tx) endShare(j *job, failure error, stopping bool) error {
	d, run := t.db, &j.run
	now, err := t.anyRun(run.ID)
	if err != nil || now.Status != store.Running {
		return ignoreNone(err)
	}
	if failure == nil {
		return t.shareDone(j)
	}
	if err := t.returnParts(j); err != nil {
		return err
	}
	j.left = now.Totals.Rows()
	var others int
	if err := t.queryRow("SELECT count(*) FROM run_part WHERE run = ? AND owner <> '' AND done = 0", run.seq).Scan(&others); err != nil {
		return err
	}
	attempts := now.Attempts // includes this attempt only if this process started the run
	if j.joined {
		attempts++
	}
	due, why := d.now(), ""
	switch {
	case leavesRun(failure):
		if over, err := t.giveBack(run, failure); err != nil || over {
			return err
		}
		attempts--
	case stopping || j.isLost(&d.runner):
		attempts--
	case store.IsPermanent(failure) || attempts >= store.MaxAttempts:
		return t.endRun(run.ID, store.Failed, reason(failure))
	default:
		due, why = due.Add(d.options.Retry(attempts)), reason(failure)
	}
	if others == 0 {
		return t.requeue(run.ID, max(attempts, 0), due, why)
	}
	if err := t.leave(run.seq); err != nil || why == "" {
		return err
	}
	_, err = t.exec("UPDATE run SET attempts = ?, due = ?, error = ? WHERE id = ?", attempts, micros(due), why, run.ID)
	return err
}

// leave stops renewing the lease of a sharded run that other workers continue. Otherwise the
// run would look alive after they stop.
func (t *tx) leave(run int64) error {
	_, err := t.exec("UPDATE run SET owner = '' WHERE seq = ? AND owner = ? AND status = 'running'", run, t.db.runner.owner)
	return err
}

// shareDone marks the parts of a job as done, and the run if all parts are done.
func (t *tx) shareDone(j *job) error {
	if _, err := t.exec("UPDATE run_part SET done = 1 WHERE run = ? AND owner = ? AND done = 0", j.run.seq, t.db.runner.owner); err != nil {
		return err
	}
	var done int
	if err := t.queryRow("SELECT count(*) FROM run_part WHERE run = ? AND done = 1", j.run.seq).Scan(&done); err != nil {
		return err
	}
	if done < j.run.Division.Parts {
		return nil
	}
	return t.endRun(j.run.ID, store.Done, "")
}

// isLost reports whether others may have what the job took.
func (j *job) isLost(r *runner) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return j.lost
}
