package sqldb

import (
	"context"
	"errors"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

const selectRun = `SELECT seq, id, suite, version, hash, created_by, status, error, attempts, rows,
	passed, failed, errors, skipped, prompt, completion, cached, total, requests, cost, judges, created, started, ended, project, part_rows, parts, needs, tally IS NULL, options FROM run`

// runRow is a run with the columns that only this package uses.
type runRow struct {
	store.Run
	seq int64
}

func readRun(row scanner) (r runRow, err error) {
	t := &r.Totals
	err = row.Scan(&r.seq, &r.ID, &r.Suite, &r.Version, &r.Hash, &r.CreatedBy, &r.Status, &r.Error, &r.Attempts, &r.Rows,
		&t.Passed, &t.Failed, &t.Errors, &t.Skipped,
		&t.Usage.Prompt, &t.Usage.Completion, &t.Usage.Cached, &t.Usage.Total, &t.Usage.Requests, &t.Cost,
		listed(&r.Judges), at(&r.Created), at(&r.Started), at(&r.Ended), &r.Project, &r.Division.Rows, &r.Division.Parts, listed(&r.Needs), &r.Uncounted, &r.Options)
	return r, err
}

// run returns a run of a project within a transaction.
func (t *tx) run(of store.Project, id string) (runRow, error) {
	r, err := readRun(t.queryRow(selectRun+" WHERE id = ? AND project = ?", id, string(of)))
	return r, noRow(err, "run", id)
}

// anyRun is run for jobs, which execute the runs of all projects.
func (t *tx) anyRun(id string) (runRow, error) {
	return readRun(t.queryRow(selectRun+" WHERE id = ?", id))
}

// CreateRun implements [store.Runs].
func (d project) CreateRun(ctx context.Context, n store.NewRun) (store.Run, error) {
	if err := errors.Join(d.name.Check(), checkContent("options of a run", n.Options), checkReply(n.Reply), n.Division.Check(), store.CheckNeeds(n.Needs)); err != nil {
		return store.Run{}, err
	}
	now := d.now()
	if n.ID == "" {
		n.ID = store.NewID(store.RunID, now)
	}
	var r runRow
	err := d.change(ctx, "keep a run in", func(t *tx) (err error) {
		if err := t.changeOne(conflict("a run", n.ID), `INSERT INTO run (project, id, suite, version, created_by, status, rows, hash, judges, part_rows, parts, needs, created, options, tally) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}')
			ON CONFLICT (id) DO NOTHING`,
			string(d.name), n.ID, n.Suite, n.Version, n.CreatedBy, string(store.Queued), n.Rows, n.Hash, list(n.Judges), n.Division.Rows, n.Division.Parts, sortedList(n.Needs), micros(now), n.Options); err != nil {
			return err
		}
		if err := t.reply(n.Reply); err != nil {
			return err
		}
		r, err = t.run(d.name, n.ID)
		return err
	})
	if err == nil {
		d.runner.wakeUp()
	}
	return r.Run, err
}

// sortedList encodes a set of texts as a sorted list.
func sortedList(texts []string) string {
	return list(slices.Compact(slices.Sorted(slices.Values(texts))))
}

// Run implements [store.Runs].
func (d project) Run(ctx context.Context, id string) (store.Run, error) {
	r, err := d.run(ctx, id)
	if err != nil {
		return r.Run, err
	}
	one := []store.Run{r.Run}
	err = d.explain(ctx, one)
	return one[0], err
}

func (d project) run(ctx context.Context, id string) (runRow, error) {
	r, err := readRun(d.queryRow(ctx, selectRun+" WHERE id = ? AND project = ?", id, string(d.name)))
	return r, d.failed("read", noRow(err, "run", id))
}

// ListRuns implements [store.Runs].
func (d project) ListRuns(ctx context.Context, f store.RunFilter, p store.Page) (store.List[store.Run], error) {
	c := d.conditions("project")
	c.equal("suite", f.Suite)
	c.equal("version", f.Version)
	c.equal("created_by", f.CreatedBy)
	c.between("created", f.Since, f.Until)
	if err := d.ofStatus(ctx, &c, f.Status); err != nil {
		return store.List[store.Run]{}, err
	}
	l, err := page(ctx, d.reader, "runs", p, selectRun, "seq DESC", &c, func(row scanner) (store.Run, int64, error) {
		r, err := readRun(row)
		return r.Run, r.seq, err
	}, func(r *store.Run) int { return len(r.Options) })
	if err == nil {
		err = d.explain(ctx, l.Items)
	}
	return l, err
}

// texts converts values to strings for the driver.
func texts[T ~string](values []T) []string {
	var list []string
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}

// PlanRun implements [store.Runs].
func (d project) PlanRun(ctx context.Context, id string, plan store.RunPlan) (store.Run, error) {
	if err := plan.Fix.Check(); err != nil {
		return store.Run{}, err
	}
	var r runRow
	err := d.change(ctx, "change a run in", func(t *tx) (err error) {
		if r, err = t.run(d.name, id); err != nil {
			return err
		}
		needs, ok := plan.Fix.Apply(r.Needs)
		if !ok {
			return nil
		}
		if _, err = t.exec("UPDATE run SET rows = ?, hash = ?, judges = ?, needs = ? WHERE id = ? AND project = ?", plan.Rows, plan.Hash, list(plan.Judges), sortedList(needs), id, string(d.name)); err == nil {
			r, err = t.run(d.name, id)
		}
		return err
	})
	return r.Run, err
}

// CancelRun implements [store.Runs].
func (d project) CancelRun(ctx context.Context, id string) (store.Run, error) {
	var r runRow
	err := d.change(ctx, "cancel a run in", func(t *tx) error {
		var err error
		if r, err = t.run(d.name, id); err != nil {
			return err
		}
		if r.Status.Ended() {
			return proviso.Errorf(proviso.Conflict, "the run %s has ended already: it is %s", id, r.Status)
		}
		if err := t.endRun(id, store.Cancelled, ""); err != nil {
			return err
		}
		r, err = t.run(d.name, id)
		return err
	})
	if err != nil {
		return store.Run{}, err
	}
	d.runner.interrupt(id)
	return r.Run, nil
}

// endRun sets the final status of a run that has not ended.
func (t *tx) endRun(id string, status store.RunStatus, why string) error {
	_, err := t.exec("UPDATE run SET status = ?, error = ?, ended = ? WHERE id = ? AND status IN ('queued', 'running')",
		string(status), why, micros(t.db.now()), id)
	if err == nil {
		_, err = t.exec("DELETE FROM run_part WHERE run IN (SELECT seq FROM run WHERE id = ? AND parts > 0)", id)
	}
	return err
}

// DeleteRun implements [store.Runs].
func (d project) DeleteRun(ctx context.Context, id string) error {
	r, err := d.run(ctx, id)
	if err != nil {
		return err
	}
	if !r.Status.Ended() {
		return proviso.Errorf(proviso.Conflict, "the run %s has not ended: it is %s", id, r.Status)
	}
	return d.deleteRun(ctx, r.seq)
}

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
