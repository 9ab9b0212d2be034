package sqldb

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// Waiting implements [store.Store].
func (d *DB) Waiting(ctx context.Context) ([]store.Waiting, error) {
	why, err := d.unmet(ctx)
	if err != nil {
		return nil, err
	}
	now := d.now()
	list := []store.Waiting{}
	_, err = collect(d, func(row scanner) (w store.Waiting, err error) {
		var needs string
		if err = row.Scan(&w.Project, &needs, &w.Queued, at(&w.Oldest), &w.Running, &w.Overdue, at(&w.Still)); err != nil {
			return w, err
		}
		if !d.Several() {
			w.Overdue = 0 // the only process needs no leases
		}
		if w.Queued > 0 {
			w.Needs = [][]string{fromList[string](needs)}
		}
		if why[needs] != "" {
			w.Unmet = w.Queued
		}
		if n := len(list); n == 0 || list[n-1].Project != w.Project {
			list = append(list, w)
			return w, nil
		}
		sum := &list[len(list)-1]
		sum.Needs = append(sum.Needs, w.Needs...)
		sum.Queued, sum.Unmet, sum.Running = sum.Queued+w.Queued, sum.Unmet+w.Unmet, sum.Running+w.Running
		sum.Overdue, sum.Still = sum.Overdue+w.Overdue, earlier(sum.Still, w.Still)
		sum.Oldest = earlier(sum.Oldest, w.Oldest)
		return w, nil
	})(d.query(ctx, `SELECT project, needs, count(*) FILTER (WHERE status = ?1), min(created) FILTER (WHERE status = ?1), count(*) FILTER (WHERE status = ?2),
		count(*) FILTER (WHERE status = ?2 AND lease < ?3), min(greatest(coalesce(started, 0), due)) FILTER (WHERE status = ?2)
		FROM run WHERE status IN (?1, ?2) GROUP BY project, needs ORDER BY project, needs`, string(store.Queued), string(store.Running), micros(now)))
	return list, err
}

// earlier is the first of two times; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
