package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/proviso-eval/proviso/store"
)

// tallyOf counts rows.
func tallyOf(rows []store.Result) (t store.Tally) {
	for i := range rows {
		if _, use, ok := store.ReadRow(rows[i].Index, rows[i].JSON); ok {
			t.Add(rows[i].Status, use)
		}
	}
	return t
}

// addTally adds to the tally of a run, unless the run's earlier rows are not counted.
func (t *tx) addTally(seq int64, more store.Tally) error {
	var text sql.NullString
	if err := t.queryRow("SELECT tally FROM run WHERE seq = ?", seq).Scan(&text); err != nil || !text.Valid {
		return err
	}
	var sum store.Tally
	if err := json.Unmarshal([]byte(text.String), &sum); err != nil {
		return err
	}
	sum.Plus(more)
	return t.setTally(seq, sum)
}

func (t *tx) setTally(seq int64, sum store.Tally) error {
	text, err := json.Marshal(sum)
	if err == nil {
		_, err = t.exec("UPDATE run SET tally = ? WHERE seq = ?", string(text), seq)
	}
	return err
}

// Tally implements [store.Runs].
func (d project) Tally(ctx context.Context, id string) (sum store.Tally, err error) {
	run, err := d.counted(ctx, id)
	if err != nil {
		return sum, err
	}
	var text sql.NullString
	if err := d.queryRow(ctx, "SELECT tally FROM run WHERE seq = ?", run.seq).Scan(&text); err != nil {
		return sum, d.failed("read", err)
	}
	if !text.Valid { // it is running, or rows arrived meanwhile
		return d.countRows(ctx, run, func([]store.Result) error { return nil })
	}
	err = json.Unmarshal([]byte(text.String), &sum)
	return sum, d.failed("read", err)
}

// counted returns a run. A run that ended before tallies existed has its rows counted first,
// and its verdicts renamed as for new runs.
func (d project) counted(ctx context.Context, id string) (runRow, error) {
	run, err := d.run(ctx, id)
	if err != nil || !run.Uncounted || !run.Status.Ended() {
		return run, err
	}
	d.counting.Lock() // others wait, and then find it done
	defer d.counting.Unlock()
	if run, err = d.run(ctx, id); err != nil || !run.Uncounted {
		return run, err
	}
	sum, err := d.countRows(ctx, run, func(rows []store.Result) error { return d.rename(ctx, run.seq, rows) })
	if err != nil {
		return run, err
	}
	err = d.change(ctx, "change a run in", func(t *tx) error {
		now, err := t.run(d.name, id)
		if err != nil || now.Totals.Rows() != run.Totals.Rows() { // a row arrived: the next call counts
			return err
		}
		return t.setTally(run.seq, sum)
	})
	return run, err
}

// countRows computes the tally of a run from its rows, and passes each page of them to do.
func (d project) countRows(ctx context.Context, run runRow, do func([]store.Result) error) (sum store.Tally, err error) {
	for p := (store.Page{Limit: importStep}); ; {
		rows, err := d.ListResults(ctx, run.ID, store.ResultFilter{}, p)
		if err == nil {
			err = do(rows.Items)
		}
		if err != nil {
			return sum, err
		}
		sum.Plus(tallyOf(rows.Items))
		if p.After = rows.Next; p.After == "" {
			return sum, nil
		}
	}
}

// rename gives the verdicts of rows the names from their JSON. It is idempotent.
func (d project) rename(ctx context.Context, run int64, rows []store.Result) error {
	type renamed struct {
		row      int
		had, now []store.AssertionStatus
	}
	var list []renamed
	for i := range rows {
		r, _, ok := store.ReadRow(rows[i].Index, rows[i].JSON)
		if ok && !slices.Equal(r.Assertions, rows[i].Assertions) {
			list = append(list, renamed{r.Index, rows[i].Assertions, r.Assertions})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return d.change(ctx, "change a run in", func(t *tx) error {
		for _, r := range list {
			for i, a := range r.had {
				if _, err := t.exec("DELETE FROM verdict WHERE run = ? AND assertion = ? AND row = ? AND ordinal = ?", run, a.ID, r.row, i); err != nil {
					return err
				}
			}
			if err := t.addVerdicts(run, []store.Result{{Index: r.row, Assertions: r.now}}); err != nil {
				return err
			}
			if _, err := t.exec("UPDATE result SET assertions = ? WHERE run = ? AND row = ?", verdictList(r.now), run, r.row); err != nil {
				return err
			}
		}
		return nil
	})
}

// bareResult reads only index and JSON of a row.
func bareResult(row scanner) (r store.Result, err error) {
	err = row.Scan(&r.Index, &r.JSON)
	return r, err
}
