package sqldb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

const watchColumns = "w.name, w.salt, w.created, v.number, v.hash, v.created_by, v.created, v.content"

// readWatch reads a row of watchColumns.
func readWatch(row scanner) (w store.Watch, err error) {
	err = row.Scan(&w.Name, &w.Salt, at(&w.Created), &w.Number, &w.Hash, &w.CreatedBy, at(&w.Updated), &w.Content)
	return w, err
}

const watchTables = " FROM watch w JOIN watch_version v ON v.watch = w.seq"

// PutWatch implements [store.Watches].
func (d project) PutWatch(ctx context.Context, n store.NewWatch) (watch store.Watch, created bool, err error) {
	if err := errors.Join(d.name.Check(), n.Check()); err != nil {
		return watch, false, err
	}
	hash := n.Version()
	err = d.change(ctx, "keep a watch in", func(t *tx) error {
		now := micros(d.now())
		seq, number, is := int64(0), 0, ""
		err := t.queryRow("SELECT w.seq, w.number, v.hash"+watchTables+" AND v.number = w.number WHERE w.project = ? AND w.name = ? AND w.removed = 0", string(d.name), n.Name).Scan(&seq, &number, &is)
		if created = errors.Is(err, sql.ErrNoRows); created {
			seq, err = d.newWatch(t, n.Name)
		}
		if err != nil {
			return err
		}
		if is != hash {
			if _, err := t.exec("INSERT INTO watch_version (watch, number, hash, created_by, created, content) VALUES (?, ?, ?, ?, ?, ?)", seq, number+1, hash, n.CreatedBy, now, n.Content); err != nil {
				return err
			}
			if _, err := t.exec("UPDATE watch SET number = ? WHERE seq = ?", number+1, seq); err != nil {
				return err
			}
		}
		watch, err = readWatch(t.queryRow("SELECT "+watchColumns+watchTables+" AND v.number = w.number WHERE w.seq = ?", seq))
		return err
	})
	return watch, created, err
}

// newWatch adds a watch without a version.
func (d project) newWatch(t *tx, name string) (seq int64, err error) {
	var n int
	if err := t.queryRow("SELECT count(*) FROM watch WHERE project = ? AND removed = 0", string(d.name)).Scan(&n); err != nil {
		return 0, err
	}
	if n >= store.MaxWatches {
		return 0, proviso.Errorf(proviso.Limit, "the project has %d watches, as many as it may", n)
	}
	return t.inserted("INSERT INTO watch (project, name, salt, number, created) VALUES (?, ?, ?, 0, ?) RETURNING seq", string(d.name), name, rand.Text(), micros(d.now()))
}

// Watch implements [store.Watches].
func (d project) Watch(ctx context.Context, name string) (store.Watch, error) {
	w, err := readWatch(d.queryRow(ctx, "SELECT "+watchColumns+watchTables+" AND v.number = w.number WHERE w.project = ? AND w.name = ? AND w.removed = 0", string(d.name), name))
	return w, d.failed("read", noRow(err, "watch", name))
}

// ListWatches implements [store.Watches].
func (d project) ListWatches(ctx context.Context, p store.Page) (store.List[store.Watch], error) {
	c := d.conditions("w.project")
	c.add("w.removed = 0")
	return page(ctx, d.reader, "watches", p, "SELECT "+watchColumns+watchTables+" AND v.number = w.number", "w.name", &c,
		func(row scanner) (store.Watch, string, error) {
			w, err := readWatch(row)
			return w, w.Name, err
		}, sizeOfWatch)
}

// WatchVersions implements [store.Watches].
func (d project) WatchVersions(ctx context.Context, name string, p store.Page) (store.List[store.Watch], error) {
	if _, err := d.watchNumber(ctx, name); err != nil {
		return store.List[store.Watch]{}, err
	}
	c := d.conditions("w.project")
	c.add("w.name = ?", name)
	c.add("w.removed = 0")
	return page(ctx, d.reader, "watch versions", p, "SELECT "+watchColumns+watchTables, "v.number DESC", &c,
		func(row scanner) (store.Watch, int64, error) {
			w, err := readWatch(row)
			return w, int64(w.Number), err
		}, sizeOfWatch)
}

func sizeOfWatch(w *store.Watch) int { return len(w.Content) }

// watchNumber returns the number of a watch in the database.
func (d project) watchNumber(ctx context.Context, name string) (seq int64, err error) {
	err = d.queryRow(ctx, "SELECT seq FROM watch WHERE project = ? AND name = ? AND removed = 0", string(d.name), name).Scan(&seq)
	return seq, d.failed("read", noRow(err, "watch", name))
}

// watch is watchNumber in a transaction.
func (t *tx) watch(d project, name string) (seq int64, err error) {
	seq, _, err = t.watchToFill(d.name, name)
	return seq, noRow(err, "watch", name)
}

// DeleteWatch implements [store.Watches].
func (d project) DeleteWatch(ctx context.Context, name string) error {
	if err := d.change(ctx, "remove a watch from", func(t *tx) error {
		return t.changeOne(notFound("watch", name), "UPDATE watch SET removed = seq WHERE project = ? AND name = ? AND removed = 0", string(d.name), name)
	}); err != nil {
		return err
	}
	return d.removeWatches(context.WithoutCancel(ctx))
}

// removeWatches removes the data of removed watches, in steps. The next call continues an
// interrupted one.
func (d *DB) removeWatches(ctx context.Context) error {
	gone, err := collect(d, one[int64])(d.query(ctx, "SELECT seq FROM watch WHERE removed <> 0"))
	for _, seq := range gone {
		if err == nil {
			_, err = d.remove(ctx, "watch = ?", seq, "watch_job", "watch_verdict", "watch_hour", "watch_hour_segment", "watch_chart", "watch_anchor", "watch_notice", "watch_alarm")
		}
		if err == nil {
			_, err = d.remove(ctx, "seq = ?", seq, "watch")
		}
	}
	return err
}

// WatchHealth implements [store.Watches].
func (d project) WatchHealth(ctx context.Context, name string, now time.Time) (h store.WatchHealth, err error) {
	var seq int64
	err = d.queryRow(ctx, "SELECT seq, pending, last_verdict, last_error, error FROM watch WHERE project = ? AND name = ? AND removed = 0", string(d.name), name).
		Scan(&seq, &h.Pending, at(&h.LastVerdict), at(&h.LastError), &h.Error)
	if err != nil {
		return h, d.failed("read", noRow(err, "watch", name))
	}
	h.Error = d.contents.openError(seq, h.Error)
	// Jobs are read in the order of enqueueing, so the first one is nearly always the oldest.
	err = d.queryRow(ctx, "SELECT (SELECT enqueued FROM watch_job WHERE watch = ?1 ORDER BY seq LIMIT 1), (SELECT count(*) FROM watch_job WHERE watch = ?1 AND token <> 0)", seq).Scan(at(&h.Oldest), &h.Leased)
	if err != nil {
		return h, d.failed("read", err)
	}
	day := dayOf(now)
	h.Spend.Day = time.Unix(day*24*60*60, 0).UTC()
	err = d.queryRow(ctx, "SELECT reserved, spent, uncertain, calls, lost, dropped FROM watch_spend WHERE project = ? AND name = ? AND day = ?", string(d.name), name, day).
		Scan(&h.Spend.Reserved, &h.Spend.Spent, &h.Spend.Uncertain, &h.Spend.Calls, &h.Spend.Lost, &h.Dropped)
	return h, d.failed("read", ignoreNone(err))
}
