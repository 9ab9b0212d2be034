package storetest

import (
	"errors"
	"iter"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// sending yields results, and then an error if there is one.
func sending(results []store.Result, err error) iter.Seq2[store.Result, error] {
	return func(yield func(store.Result, error) bool) {
		for _, r := range results {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(store.Result{}, err)
		}
	}
}

// imported returns a run from elsewhere.
func imported(id, key string, rows int) store.ImportedRun {
	return store.ImportedRun{ID: id, Suite: "s", Version: "v", Hash: "h", CreatedBy: key, Options: []byte(`{"a":1}`), Rows: rows,
		Started: start.Add(-time.Hour), RunFile: store.RunFile{Header: []byte("first"), Trailer: []byte("last")}}
}

var importTests = []test{
	{name: "import", run: func(b *bench) {
		k, _ := b.key()
		rows := rowsOf(1234, "a")
		rows[7].Cost = 2
		n := imported("run_mine", k.ID, len(rows))
		r, created, err := b.ImportRun(b.Context(), n, sending(rows, nil))
		b.ok(err)
		b.equal("created", created, true)
		b.equal("totals", r.Totals, proviso.Totals{Passed: len(rows), Cost: 2})
		r.Totals = proviso.Totals{}
		b.equal("run", r, store.Run{ID: n.ID, Project: store.DefaultProject, Suite: "s", Version: "v", Hash: "h", CreatedBy: k.ID, Options: n.Options,
			Status: store.Done, Rows: len(rows), Created: start, Started: n.Started, Ended: start})
		b.equal("rows", len(must(b.FinishedRows(b.Context(), n.ID))(b)), len(rows))
		b.equal("file", must(b.RunFile(b.Context(), n.ID))(b), n.RunFile)
		b.equal("listed", len(must(b.ListRuns(b.Context(), store.RunFilter{}, store.Page{}))(b).Items), 1)
		b.equal("spent", must(b.Key(b.Context(), k.ID))(b).Spent, 0.0)

		again, created, err := b.ImportRun(b.Context(), n, sending(rows[:1], nil))
		b.ok(err)
		b.equal("created again", created, false)
		b.equal("the same run", again.Totals.Rows(), len(rows))
		b.wants(proviso.Conflict, errorOf(b.In("other").ImportRun(b.Context(), n, sending(rows[:1], nil))))
		b.wants(proviso.NotFound, errorOf(b.In("other").RunFile(b.Context(), n.ID)))
		b.wants(proviso.NotFound, errorOf(b.RunFile(b.Context(), b.newRun().ID)))
		b.wants(proviso.Conflict, errorOf(b.CancelRun(b.Context(), n.ID)))
		b.ok(b.DeleteRun(b.Context(), n.ID))
		b.wants(proviso.NotFound, errorOf(b.RunFile(b.Context(), n.ID)))
		_, created, err = b.ImportRun(b.Context(), n, sending(rows, nil))
		b.ok(err)
		b.equal("created after it was deleted", created, true)
	}},
	{name: "import of an interrupted run", run: func(b *bench) {
		rows := rowsOf(3, "a")
		n := imported("run_cut", "", len(rows)+2)
		r, _, err := b.ImportRun(b.Context(), n, sending(rows, nil))
		b.ok(err)
		b.equal("status", r.Status, store.Cancelled)
		b.equal("error", r.Error, store.Interrupted(3, 5))
		b.equal("rows", r.Rows, 5)
	}},
	{name: "import fails", run: func(b *bench) {
		rows := rowsOf(800, "a")
		broken := errors.New("row 800 is broken")
		_, _, err := b.ImportRun(b.Context(), imported("run_x", "", 801), sending(rows, broken))
		if !errors.Is(err, broken) {
			b.Errorf("got %v, want the error of the rows", err)
		}
		b.wants(proviso.Invalid, errorOf(b.ImportRun(b.Context(), imported("run_x", "", 801), sending(append(rows, rows[3]), nil))))
		wrong := rows[0]
		wrong.Index = -1
		b.wants(proviso.Invalid, errorOf(b.ImportRun(b.Context(), imported("run_x", "", 801), sending([]store.Result{wrong}, nil))))
		b.wants(proviso.Invalid, errorOf(b.ImportRun(b.Context(), imported("", "", 1), sending(rows, nil))))
		b.wants(proviso.Invalid, errorOf(b.In("..").ImportRun(b.Context(), imported("run_x", "", 1), sending(rows, nil))))
		b.wants(proviso.NotFound, errorOf(b.Run(b.Context(), "run_x")))
		b.equal("listed", len(must(b.ListRuns(b.Context(), store.RunFilter{}, store.Page{}))(b).Items), 0)
	}},
	{name: "import is not seen before its end", run: func(b *bench) {
		rows := rowsOf(1200, "a")
		watched := func(yield func(store.Result, error) bool) {
			for i, r := range rows {
				if i%300 == 0 {
					b.equal("listed on the way", len(must(b.ListRuns(b.Context(), store.RunFilter{}, store.Page{}))(b).Items), 0)
					b.wants(proviso.NotFound, errorOf(b.Run(b.Context(), "run_w")))
				}
				if !yield(r, nil) {
					return
				}
			}
		}
		_, created, err := b.ImportRun(b.Context(), imported("run_w", "", len(rows)), watched)
		b.ok(err)
		b.equal("created", created, true)
		b.equal("listed", len(must(b.ListRuns(b.Context(), store.RunFilter{}, store.Page{}))(b).Items), 1)
	}},
	{name: "two imports of one run at once", run: func(b *bench) {
		rows := rowsOf(10, "a")
		inner := func(yield func(store.Result, error) bool) {
			_, created, err := b.ImportRun(b.Context(), imported("run_t", "", 10), sending(rows, nil))
			b.ok(err)
			b.equal("the faster one", created, true)
			sending(rows, nil)(yield)
		}
		r, created, err := b.ImportRun(b.Context(), imported("run_t", "", 10), inner)
		b.ok(err)
		b.equal("the slower one", created, false)
		b.equal("rows", r.Totals.Rows(), 10)
		b.equal("listed", len(must(b.ListRuns(b.Context(), store.RunFilter{}, store.Page{}))(b).Items), 1)
	}},
}
