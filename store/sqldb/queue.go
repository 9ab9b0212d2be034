package sqldb

import (
	"context"
	"database/sql"

	"github.com/proviso-eval/proviso/store"
)

// Waiting implements [store.Store].
func (d *DB) Waiting(ctx context.Context) ([]store.Waiting, error) {
	why, err := d.unmet(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := d.query(ctx, `SELECT project, needs, count(*) FILTER (WHERE status = ?1), min(created) FILTER (WHERE status = ?1), count(*) FILTER (WHERE status = ?2)
		FROM run WHERE status IN (?1, ?2) GROUP BY project, needs ORDER BY project, needs`, string(store.Queued), string(store.Running))
	list := []store.Waiting{}
	_, err = collect(d, rows, err, func(row scanner) (w store.Waiting, err error) {
		var oldest sql.NullInt64
		var needs string
		if err = row.Scan(&w.Project, &needs, &w.Queued, &oldest, &w.Running); err != nil {
			return w, err
		}
		w.Oldest = fromMicros(oldest)
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
		if sum.Oldest.IsZero() || !w.Oldest.IsZero() && w.Oldest.Before(sum.Oldest) {
			sum.Oldest = w.Oldest
		}
		return w, nil
	})
	return list, err
}
