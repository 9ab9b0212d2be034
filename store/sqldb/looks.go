package sqldb

import (
	"context"
)

// AddLook implements [store.Looks].
func (d project) AddLook(ctx context.Context, run, assertion string) (n int, err error) {
	err = d.change(ctx, "count a look in", func(t *tx) error {
		return t.queryRow("INSERT INTO trial_look (project, run, assertion, n) VALUES (?, ?, ?, 1) ON CONFLICT (project, run, assertion) DO UPDATE SET n = trial_look.n + 1 RETURNING n",
			string(d.name), run, assertion).Scan(&n)
	})
	return n, err
}

// CountLooks implements [store.Looks].
func (d project) CountLooks(ctx context.Context, run, assertion string) (n int, err error) {
	list, err := collect(d, one[int])(d.query(ctx, "SELECT n FROM trial_look WHERE project = ? AND run = ? AND assertion = ?", string(d.name), run, assertion))
	if len(list) > 0 {
		n = list[0]
	}
	return n, err
}
