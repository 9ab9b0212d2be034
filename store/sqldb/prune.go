package sqldb

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// pruneStep is the number of rows that a transaction of Prune removes, so that
// others do not wait long.
const pruneStep = 500

// Prune implements [store.Store].
func (d *DB) Prune(ctx context.Context, r store.Retention) (store.Pruned, error) {
	now := r.Now
	if now.IsZero() {
		now = d.now()
	}
	var p store.Pruned
	var err error
	if p.Replies, err = d.removeAll(ctx, "DELETE FROM reply WHERE (created_by, key) IN (SELECT created_by, key FROM reply WHERE expires <= ? LIMIT ?)", micros(now)); err != nil {
		return p, err
	}
	if _, err = d.removeAll(ctx, "DELETE FROM shared WHERE (kind, name) IN (SELECT kind, name FROM shared WHERE expires <= ? LIMIT ?)", micros(now)); err != nil {
		return p, err
	}
	if err := d.pruneTraces(ctx, now); err != nil {
		return p, err
	}
	if r.Evaluations > 0 {
		p.Evaluations, err = d.removeAll(ctx, "DELETE FROM evaluation WHERE seq IN (SELECT seq FROM evaluation WHERE created < ? LIMIT ?)", micros(now.Add(-r.Evaluations)))
		if err != nil {
			return p, err
		}
	}
	if err := d.pruneTraffic(ctx, now, r, &p); err != nil {
		return p, err
	}
	if p.Verdicts, err = d.pruneWatches(ctx, now, r); err != nil {
		return p, err
	}
	if err := d.pruneQueues(ctx, now); err != nil || r.Runs <= 0 {
		return p, err
	}
	old, err := collect(d, one[int64])(d.query(ctx, "SELECT seq FROM run WHERE ended < ?", micros(now.Add(-r.Runs))))
	if err != nil {
		return p, err
	}
	for _, seq := range old {
		if err := d.deleteRun(ctx, seq); err != nil {
			return p, err
		}
		p.Runs++
	}
	return p, nil
}

// pruneQueues removes queues of runs, or of events, that are no longer there, and what is left of queues
// that were never stored completely.
func (d *DB) pruneQueues(ctx context.Context, now time.Time) error {
	gone, err := collect(d, one[int64])(d.query(ctx, `SELECT seq FROM label_queue WHERE ready = 1 AND run <> '' AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = label_queue.run AND run.project = label_queue.project)
		OR ready = 1 AND run = '' AND NOT EXISTS (SELECT 1 FROM label_item i JOIN event e ON e.project = label_queue.project AND e.id = substr(i.event, length('`+eventMark+`') + 1) WHERE i.queue = label_queue.seq)
		OR ready = 0 AND created < ?`, micros(now.Add(-time.Hour))))
	if err != nil {
		return err
	}
	for _, seq := range gone {
		if err := d.removeQueue(ctx, seq); err != nil {
			return err
		}
	}
	return nil
}

// deleteRun removes a run and its results. If it is interrupted, the next
// attempt removes the rest.
func (d *DB) deleteRun(ctx context.Context, seq int64) error {
	for _, query := range [...]string{
		"DELETE FROM verdict WHERE (run, assertion, row, ordinal) IN (SELECT run, assertion, row, ordinal FROM verdict WHERE run = ? LIMIT ?)",
		"DELETE FROM result WHERE seq IN (SELECT seq FROM result WHERE run = ? LIMIT ?)",
		"DELETE FROM run_file WHERE run IN (SELECT run FROM run_file WHERE run = ? LIMIT ?)",
		"DELETE FROM run WHERE seq IN (SELECT seq FROM run WHERE seq = ? LIMIT ?)",
	} {
		if _, err := d.removeAll(ctx, query, seq); err != nil {
			return err
		}
	}
	return nil
}

// removeAll repeats a query that removes that many rows until none is left.
func (d *DB) removeAll(ctx context.Context, query string, which any) (int, error) {
	for all := 0; ; {
		n := 0
		err := d.change(ctx, "remove what is old from", func(t *tx) (err error) {
			n, err = t.changed(query, which, pruneStep)
			return err
		})
		all += n
		if err != nil || n < pruneStep {
			return all, err
		}
	}
}
