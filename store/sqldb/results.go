package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// AddResults implements [store.Runs].
func (d project) AddResults(ctx context.Context, runID string, results []store.Result) (int, error) {
	if len(results) > store.MaxBatch {
		return 0, proviso.Errorf(proviso.Limit, "%d results at once, more than %d", len(results), store.MaxBatch)
	}
	for i := range results {
		if err := checkResult(&results[i]); err != nil {
			return 0, err
		}
	}
	added := 0
	use := tallyOf(results)
	err := d.change(ctx, "keep results in", func(t *tx) error {
		r, err := t.run(d.name, runID)
		if err != nil {
			return err
		}
		if r.Status == store.Done || r.Status == store.Failed {
			return proviso.Errorf(proviso.Conflict, "the run %s has ended: it is %s", runID, r.Status)
		}
		fresh, err := t.addResults(r.seq, results)
		if err != nil {
			return err
		}
		var sum proviso.Totals
		for i := range fresh {
			fresh[i].CountIn(&sum)
		}
		added = len(fresh)
		if added == 0 {
			return nil
		}
		more := use
		if added < len(results) {
			more = tallyOf(fresh)
		}
		return errors.Join(t.addTotals(&r, sum), t.addTally(r.seq, more))
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

func checkResult(r *store.Result) error {
	if r.Index < 0 {
		return proviso.Errorf(proviso.Invalid, "a row has the index %d", r.Index)
	}
	if err := checkContent("row", r.JSON); err != nil {
		return err
	}
	return checkCost(r.Cost)
}

// addResults stores rows and returns those that are new.
func (t *tx) addResults(run int64, results []store.Result) ([]store.Result, error) {
	rows := make([][]any, 0, len(results))
	for i := range results {
		r := &results[i]
		rows = append(rows, []any{run, r.Index, int(r.Status), r.Usage.Prompt, r.Usage.Completion, r.Usage.Cached, r.Usage.Total, r.Usage.Requests, r.Cost,
			verdictList(r.Assertions), nonNil(r.JSON)})
	}
	added := make(map[int]bool, len(results))
	err := t.insert("INSERT INTO result (run, row, status, prompt, completion, cached, total, requests, cost, assertions, json)", " ON CONFLICT (run, row) DO NOTHING RETURNING row", rows,
		func(row scanner) error {
			var index int
			err := row.Scan(&index)
			added[index] = true
			return err
		})
	if err != nil {
		return nil, err
	}
	var fresh []store.Result
	for _, r := range results {
		if added[r.Index] {
			fresh = append(fresh, r)
			delete(added, r.Index) // a second row with this index is not new
		}
	}
	return fresh, t.addVerdicts(run, fresh)
}

// addVerdicts stores the assertion verdicts of rows.
func (t *tx) addVerdicts(run int64, results []store.Result) error {
	var rows [][]any
	for i := range results {
		for n, a := range results[i].Assertions {
			rows = append(rows, []any{run, a.ID, results[i].Index, n, int(a.Status)})
		}
	}
	return t.insert("INSERT INTO verdict (run, assertion, row, ordinal, status)", "", rows, nil)
}

// addTotals adds to the totals of a run, and charges its key.
func (t *tx) addTotals(r *runRow, sum proviso.Totals) error {
	if sum == (proviso.Totals{}) {
		return nil
	}
	u := sum.Usage
	// While a run is executed, due is the time of its latest row: see Waiting. It never moves
	// before a pause that other processes wait for.
	if _, err := t.exec(`UPDATE run SET due = greatest(due, ?), passed = passed + ?, failed = failed + ?, errors = errors + ?, skipped = skipped + ?,
		prompt = prompt + ?, completion = completion + ?, cached = cached + ?, total = total + ?, requests = requests + ?, cost = cost + ? WHERE seq = ?`,
		micros(t.db.now()), sum.Passed, sum.Failed, sum.Errors, sum.Skipped, u.Prompt, u.Completion, u.Cached, u.Total, u.Requests, sum.Cost, r.seq); err != nil {
		return err
	}
	return t.charge(r.CreatedBy, sum.Cost)
}

// charge adds to the spend of a key. A server without keys charges nothing.
func (t *tx) charge(key string, dollars float64) error {
	if key == "" || dollars == 0 {
		return nil
	}
	_, err := t.exec(charge, dollars, key)
	return err
}

// verdictList encodes the verdicts of a row.
func verdictList(list []store.AssertionStatus) string {
	if len(list) == 0 {
		return "[]"
	}
	text := make([]byte, 0, 32*len(list))
	for _, a := range list {
		text = append(text, "[,"[min(len(text), 1)], '[')
		id, _ := json.Marshal(a.ID) // strings cannot fail
		text = append(text, id...)
		text = append(text, ',')
		text = strconv.AppendInt(text, int64(a.Status), 10)
		text = append(text, ']')
	}
	return string(append(text, ']'))
}

// fromVerdictList decodes the text of verdictList.
func fromVerdictList(text string) ([]store.AssertionStatus, error) {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, fmt.Errorf("verdicts of a row: %w", err)
	}
	var list []store.AssertionStatus
	for _, pair := range pairs {
		var a store.AssertionStatus
		if err := errors.Join(json.Unmarshal(pair[0], &a.ID), json.Unmarshal(pair[1], &a.Status)); err != nil {
			return nil, fmt.Errorf("verdicts of a row: %w", err)
		}
		list = append(list, a)
	}
	return list, nil
}

const selectResult = "SELECT row, status, prompt, completion, cached, total, requests, cost, assertions, json FROM result"

func readResult(row scanner) (r store.Result, err error) {
	var verdicts string
	u := &r.Usage
	if err = row.Scan(&r.Index, &r.Status, &u.Prompt, &u.Completion, &u.Cached, &u.Total, &u.Requests, &r.Cost, &verdicts, &r.JSON); err == nil {
		r.Assertions, err = fromVerdictList(verdicts)
	}
	return r, err
}

// Result implements [store.Runs].
func (d project) Result(ctx context.Context, runID string, index int) (store.Result, error) {
	run, err := d.run(ctx, runID)
	if err != nil {
		return store.Result{}, err
	}
	r, err := readResult(d.queryRow(ctx, selectResult+" WHERE run = ? AND row = ?", run.seq, index))
	if errors.Is(err, sql.ErrNoRows) {
		return r, proviso.Errorf(proviso.NotFound, "the run %s has no finished row %d", runID, index)
	}
	return r, d.failed("read", err)
}

// ListResults implements [store.Runs].
func (d project) ListResults(ctx context.Context, runID string, f store.ResultFilter, p store.Page) (store.List[store.Result], error) {
	find := d.run
	if f.Assertion != "" {
		find = d.counted // the filter needs its verdicts under their current names
	}
	run, err := find(ctx, runID)
	if err != nil {
		return store.List[store.Result]{}, err
	}
	var c conditions
	c.add("run = ?", run.seq)
	if err := rowRanges(&c, f.Rows); err != nil {
		return store.List[store.Result]{}, err
	}
	if f.Assertion == "" {
		in(&c, "status", numbers(f.Status))
	} else {
		var v conditions
		v.add("run = ? AND assertion = ?", run.seq, f.Assertion)
		in(&v, "status", numbers(f.Status))
		c.add("row IN (SELECT row FROM verdict"+v.where()+")", v.args...)
	}
	query, read := selectResult, readResult
	if f.Bare {
		query, read = "SELECT row, json FROM result", bareResult
	}
	return page(ctx, d.reader, "results", p, query, "row", &c, func(row scanner) (store.Result, int64, error) {
		r, err := read(row)
		return r, int64(r.Index), err
	}, func(r *store.Result) int { return len(r.JSON) })
}

// rowRanges requires rows to be in one of the ranges, if there are any.
func rowRanges(c *conditions, list []store.RowRange) error {
	if len(list) > store.MaxRanges {
		return proviso.Errorf(proviso.Limit, "%d ranges of rows, more than %d", len(list), store.MaxRanges)
	}
	var any conditions
	first := math.MaxInt
	for _, r := range list {
		first = min(first, r.From)
		if r.To == 0 {
			any.add("row >= ?", r.From)
		} else {
			any.add("row >= ? AND row < ?", r.From, r.To)
		}
	}
	if len(list) > 0 {
		c.add("row >= ?", first) // start position in the index
		c.add("("+strings.Join(any.text, " OR ")+")", any.args...)
	}
	return nil
}

// numbers returns the stored form of statuses.
func numbers(list []proviso.Status) []int {
	var ns []int
	for _, s := range list {
		ns = append(ns, int(s))
	}
	return ns
}

// FinishedRows implements [store.Runs].
func (d project) FinishedRows(ctx context.Context, runID string) ([]int, error) {
	run, err := d.run(ctx, runID)
	if err != nil {
		return nil, err
	}
	return collect(d, one[int])(d.query(ctx, "SELECT row FROM result WHERE run = ? ORDER BY row", run.seq))
}

// CountAssertions implements [store.Runs].
func (d project) CountAssertions(ctx context.Context, runID string) ([]store.AssertionCount, error) {
	run, err := d.counted(ctx, runID)
	if err != nil {
		return nil, err
	}
	return collect(d, func(row scanner) (c store.AssertionCount, err error) {
		return c, row.Scan(&c.ID, &c.Passed, &c.Failed, &c.Errors, &c.Skipped)
	})(d.query(ctx, `SELECT assertion, count(*) FILTER (WHERE status = ?), count(*) FILTER (WHERE status = ?), count(*) FILTER (WHERE status = ?), count(*) FILTER (WHERE status = ?)
		FROM verdict WHERE run = ? GROUP BY assertion ORDER BY assertion`,
		int(proviso.Pass), int(proviso.Fail), int(proviso.Errored), int(proviso.Skip), run.seq))
}
