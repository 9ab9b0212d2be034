package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// arriving is the project of a run during its import. No project can have this name, so the run
// is not visible.
const arriving store.Project = ".arriving"

// Limits of an import step, which bound how long other writers wait.
const (
	importStep  = 500     // rows
	importBytes = 4 << 20 // bytes of their JSON
)

// ImportRun implements [store.Runs].
func (d project) ImportRun(ctx context.Context, n store.ImportedRun, rows iter.Seq2[store.Result, error]) (store.Run, bool, error) {
	err := errors.Join(d.name.Check(), n.Check())
	if err != nil {
		return store.Run{}, false, err
	}
	if r, err := d.Run(ctx, n.ID); err == nil {
		return r, false, nil
	}
	seq, err := d.beginImport(ctx, &n)
	if err != nil {
		return store.Run{}, false, err
	}
	im := &importer{d: d, seq: seq}
	r, created, err := im.take(ctx, &n, rows)
	if err != nil || !created {
		err = errors.Join(err, d.deleteRun(context.WithoutCancel(ctx), seq))
	}
	return r, created, err
}

// beginImport stores the run without its results.
func (d project) beginImport(ctx context.Context, n *store.ImportedRun) (seq int64, err error) {
	now := d.now()
	err = d.change(ctx, "keep a run in", func(t *tx) error {
		var err error
		seq, err = t.inserted(`INSERT INTO run (project, id, suite, version, hash, created_by, status, rows, created, started, options, tally) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}') RETURNING seq`,
			string(arriving), store.NewID(store.RunID, now), n.Suite, n.Version, n.Hash, n.CreatedBy, string(store.Done), n.Rows, micros(now), micros(n.Started), n.Options)
		if err != nil {
			return err
		}
		_, err = t.exec("INSERT INTO run_file (run, header, trailer) VALUES (?, ?, ?)", seq, nonNil(n.Header), nonNil(n.Trailer))
		return err
	})
	return seq, err
}

// importer stores the results of one run.
type importer struct {
	d     project
	seq   int64
	step  []store.Result
	bytes int
	sum   proviso.Totals
	tally store.Tally
}

// take stores the results step by step, and then makes the run visible.
func (im *importer) take(ctx context.Context, n *store.ImportedRun, rows iter.Seq2[store.Result, error]) (store.Run, bool, error) {
	for row, err := range rows {
		if err == nil {
			err = checkResult(&row)
		}
		if err != nil {
			return store.Run{}, false, err
		}
		im.step, im.bytes = append(im.step, row), im.bytes+len(row.JSON)
		if len(im.step) == importStep || im.bytes > importBytes {
			if err := im.keep(ctx); err != nil {
				return store.Run{}, false, err
			}
		}
	}
	if err := im.keep(ctx); err != nil {
		return store.Run{}, false, err
	}
	return im.reveal(ctx, n)
}

// keep stores the results gathered so far.
func (im *importer) keep(ctx context.Context) error {
	err := im.d.change(ctx, "keep results in", func(t *tx) error {
		added, err := t.addResults(im.seq, im.step)
		for i := range im.step {
			if err == nil && (i >= len(added) || added[i].Index != im.step[i].Index) {
				err = proviso.Errorf(proviso.Invalid, "there are two rows with the index %d", im.step[i].Index)
			}
		}
		return err
	})
	for i := range im.step {
		im.step[i].CountIn(&im.sum)
	}
	im.tally.Plus(tallyOf(im.step))
	im.step, im.bytes = im.step[:0], 0
	return err
}

// reveal gives the run its id and project, unless another request was first.
func (im *importer) reveal(ctx context.Context, n *store.ImportedRun) (store.Run, bool, error) {
	var r runRow
	created := false
	status, why := store.Done, ""
	if finished := im.sum.Rows(); finished < n.Rows {
		status, why = store.Cancelled, store.Interrupted(finished, n.Rows)
	}
	// This change is of no single project: run ids are unique across projects.
	err := im.d.DB.change(ctx, "keep a run in", func(t *tx) (err error) {
		created = false
		if r, err = t.run(im.d.name, n.ID); err == nil {
			return nil
		}
		if err := t.changeOne(conflict("a run", n.ID), "UPDATE run SET project = ?, id = ?, status = ?, error = ?, ended = ? WHERE seq = ? AND NOT EXISTS (SELECT 1 FROM run WHERE id = ?)",
			string(im.d.name), n.ID, string(status), why, micros(im.d.now()), im.seq, n.ID); err != nil {
			return err
		}
		if err := errors.Join(t.addTotals(&runRow{seq: im.seq}, im.sum), t.setTally(im.seq, im.tally)); err != nil { // no key is charged
			return err
		}
		created = true
		r, err = t.run(im.d.name, n.ID)
		return err
	})
	return r.Run, created && err == nil, err
}

// RunFile implements [store.Runs].
func (d project) RunFile(ctx context.Context, id string) (f store.RunFile, err error) {
	run, err := d.run(ctx, id)
	if err != nil {
		return f, err
	}
	err = d.queryRow(ctx, "SELECT header, trailer FROM run_file WHERE run = ?", run.seq).Scan(&f.Header, &f.Trailer)
	if errors.Is(err, sql.ErrNoRows) {
		return f, proviso.Errorf(proviso.NotFound, "the run %s was not imported", short(id))
	}
	return f, d.failed("read", err)
}
