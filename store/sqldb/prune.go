package sqldb

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// pruneStep is the number of rows that Prune removes per transaction, so that others do not
// wait long.
const pruneStep = 500

// Prune implements [store.Store].
func (d *DB) Prune(ctx context.Context, r store.Retention) (store.Pruned, error) {
	now := r.Now
	if now.IsZero() {
		now = d.now()
	}
	var p store.Pruned
	var err error
	if p.Replies, err = d.remove(ctx, "expires <= ?", micros(now), "reply"); err != nil {
		return p, err
	}
	if _, err = d.remove(ctx, "expires <= ?", micros(now), "shared"); err != nil {
		return p, err
	}
	if err := d.pruneTraces(ctx, now); err != nil {
		return p, err
	}
	if r.Evaluations > 0 {
		if p.Evaluations, err = d.remove(ctx, "created < ?", micros(now.Add(-r.Evaluations)), "evaluation"); err != nil {
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

// pruneQueues removes queues whose run or events no longer exist, and the remains of queues
// that were never stored completely.
func (d *DB) pruneQueues(ctx context.Context, now time.Time) error {
	gone, err := collect(d, one[int64])(d.query(ctx, `SELECT seq FROM label_queue WHERE ready = 1 AND run <> '' AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = label_queue.run AND run.project = label_queue.project)
		OR ready = 1 AND run = '' AND NOT EXISTS (SELECT 1 FROM label_item i JOIN event e ON e.project = label_queue.project AND e.id = substr(i.event, length('`+eventMark+`') + 1) WHERE i.queue = label_queue.seq)
		OR ready = 0 AND created < ?`, micros(now.Add(-time.Hour))))
	for _, seq := range gone {
		if err == nil {
			err = d.removeQueue(ctx, seq)
		}
	}
	return err
}

// deleteRun removes a run and its results. If it is interrupted, the next attempt removes the
// rest.
func (d *DB) deleteRun(ctx context.Context, seq int64) error {
	_, err := d.remove(ctx, "run = ?", seq, "verdict", "result", "run_file")
	if err == nil {
		_, err = d.remove(ctx, "seq = ?", seq, "run")
	}
	return err
}

// remove removes the rows of tables that meet a condition with one value, in steps, and returns
// their number.
func (d *DB) remove(ctx context.Context, condition string, value any, tables ...string) (all int, err error) {
	for _, table := range tables {
		key := keyOf(table)
		n, err := d.removeAll(ctx, "DELETE FROM "+table+" WHERE ("+key+") IN (SELECT "+key+" FROM "+table+" WHERE "+condition+" LIMIT ?)", value)
		all += n
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// keyOf returns the columns that identify a row of a table.
func keyOf(table string) string {
	switch table {
	case "event_content":
		return "event"
	case "label_item":
		return "queue, position"
	case "reply":
		return "created_by, key"
	case "run_file":
		return "run"
	case "shared":
		return "kind, name"
	case "traffic_prompt":
		return "id"
	case "verdict":
		return "run, assertion, row, ordinal"
	case "watch_chart":
		return "watch"
	case "watch_hour":
		return "watch, assertion, hour, version, judge"
	case "watch_hour_segment":
		return "watch, assertion, hour, segment"
	case "watch_spend":
		return "project, name, day"
	}
	return "seq"
}

// removeAll repeats a query that removes a limited number of rows until none is left.
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
