package storetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// rowsOf returns n rows with an assertion that passed.
func rowsOf(n int, assertion string) []store.Result {
	rows := make([]store.Result, n)
	for i := range rows {
		rows[i] = store.Result{Index: i, Status: proviso.Pass, JSON: fmt.Appendf(nil, `{"index":%d}`, i),
			Assertions: []store.AssertionStatus{{ID: assertion, Status: proviso.Pass}}}
	}
	return rows
}

// listed returns the indices of the rows that a filter selects.
func (b *bench) listed(run string, f store.ResultFilter) []int {
	b.Helper()
	got := []int{}
	for _, r := range all(b, 2, func(ctx context.Context, p store.Page) (store.List[store.Result], error) {
		return b.ListResults(ctx, run, f, p)
	}) {
		got = append(got, r.Index)
	}
	return got
}

var resultTests = []test{
	{name: "add", run: func(b *bench) {
		k, _ := b.key()
		run := must(b.CreateRun(b.Context(), store.NewRun{Suite: "s", CreatedBy: k.ID}))(b)
		rows := []store.Result{
			{Index: 5, Status: proviso.Pass, Cost: 0.5, Usage: proviso.Usage{Prompt: 1, Completion: 2, Cached: 3, Total: 4, Requests: 5}, JSON: []byte(`{"index":5}`),
				Assertions: []store.AssertionStatus{{ID: "a", Status: proviso.Pass}, {ID: "b", Status: proviso.Skip}}},
			{Index: 2, Status: proviso.Fail, Cost: 0.25, Usage: proviso.Usage{Total: 10}, JSON: []byte("not json \xff\x00"),
				Assertions: []store.AssertionStatus{{ID: "a", Status: proviso.Fail}, {ID: "a", Status: proviso.Pass}}},
			{Index: 9, Status: proviso.Errored},
		}
		b.equal("added", must(b.AddResults(b.Context(), run.ID, rows))(b), 3)
		for _, want := range rows {
			got := must(b.Result(b.Context(), run.ID, want.Index))(b)
			if got.JSON == nil {
				got.JSON = []byte{}
			}
			b.equal("row", got, want)
		}
		again := []store.Result{{Index: 2, Status: proviso.Pass, Cost: 99, JSON: []byte("other")}, {Index: 3, Status: proviso.Skip, Cost: 1}}
		b.equal("added again", must(b.AddResults(b.Context(), run.ID, again))(b), 1)
		b.equal("the row that was there", must(b.Result(b.Context(), run.ID, 2))(b).Status, proviso.Fail)
		b.equal("totals", must(b.Run(b.Context(), run.ID))(b).Totals, proviso.Totals{Passed: 1, Failed: 1, Errors: 1, Skipped: 1, Cost: 1.75,
			Usage: proviso.Usage{Prompt: 1, Completion: 2, Cached: 3, Total: 14, Requests: 5}})
		b.equal("charged", must(b.Key(b.Context(), k.ID))(b).Spent, 1.75)
		b.equal("finished", must(b.FinishedRows(b.Context(), run.ID))(b), []int{2, 3, 5, 9})
		b.equal("counts", must(b.CountAssertions(b.Context(), run.ID))(b),
			[]store.AssertionCount{{ID: "a", Passed: 2, Failed: 1}, {ID: "b", Skipped: 1}})
		b.equal("none", must(b.AddResults(b.Context(), run.ID, nil))(b), 0)
	}},
	{name: "the same row twice at once", run: func(b *bench) {
		run := b.newRun()
		row := store.Result{Index: 1, Status: proviso.Pass, Cost: 1}
		b.equal("added", must(b.AddResults(b.Context(), run.ID, []store.Result{row, row}))(b), 1)
		b.equal("cost", must(b.Run(b.Context(), run.ID))(b).Totals.Cost, 1.0)
	}},
	{name: "filters", run: func(b *bench) {
		run, other := b.newRun(), b.newRun()
		P, F, E, S := proviso.Pass, proviso.Fail, proviso.Errored, proviso.Skip
		for i, row := range []store.Result{
			{Status: P, Assertions: []store.AssertionStatus{{ID: "a", Status: P}, {ID: "b", Status: P}}},
			{Status: F, Assertions: []store.AssertionStatus{{ID: "a", Status: F}, {ID: "b", Status: P}}},
			{Status: F, Assertions: []store.AssertionStatus{{ID: "a", Status: P}, {ID: "b", Status: F}, {ID: "b", Status: F}}},
			{Status: E, Assertions: []store.AssertionStatus{{ID: "a", Status: E}}},
			{Status: S},
		} {
			row.Index = i
			must(b.AddResults(b.Context(), run.ID, []store.Result{row}))(b)
		}
		must(b.AddResults(b.Context(), other.ID, rowsOf(9, "a")))(b)
		status := func(s ...proviso.Status) []proviso.Status { return s }
		for _, tt := range []struct {
			filter store.ResultFilter
			want   []int
		}{
			{store.ResultFilter{}, []int{0, 1, 2, 3, 4}},
			{store.ResultFilter{Status: status(F)}, []int{1, 2}},
			{store.ResultFilter{Status: status(E, S)}, []int{3, 4}},
			{store.ResultFilter{Assertion: "a"}, []int{0, 1, 2, 3}},
			{store.ResultFilter{Assertion: "b", Status: status(F)}, []int{2}},
			{store.ResultFilter{Assertion: "a", Status: status(F, E)}, []int{1, 3}},
			{store.ResultFilter{Assertion: "A"}, []int{}},
			{store.ResultFilter{Assertion: "' OR ''='"}, []int{}},
			{store.ResultFilter{Rows: []store.RowRange{{From: 3}}}, []int{3, 4}},
			{store.ResultFilter{Rows: []store.RowRange{{From: 0, To: 1}, {From: 2, To: 4}}, Status: status(F, E)}, []int{2, 3}},
			{store.ResultFilter{Rows: []store.RowRange{{From: 2, To: 2}}}, []int{}},
		} {
			b.equal(fmt.Sprintf("%+v", tt.filter), b.listed(run.ID, tt.filter), tt.want)
		}
	}},
	{name: "hostile ids", run: func(b *bench) {
		run := b.newRun()
		ids := append([]string{strings.Repeat("long", 10_000)}, append(names, notNames...)...)
		for i, id := range ids {
			must(b.AddResults(b.Context(), run.ID, []store.Result{{Index: i, Status: proviso.Fail,
				Assertions: []store.AssertionStatus{{ID: id, Status: proviso.Fail}}}}))(b)
		}
		b.equal("counts", len(must(b.CountAssertions(b.Context(), run.ID))(b)), len(ids))
		for i, id := range ids {
			if id != "" {
				b.equal("rows of "+id[:min(len(id), 20)], b.listed(run.ID, store.ResultFilter{Assertion: id}), []int{i})
			}
		}
	}},
	{name: "huge rows", run: func(b *bench) {
		run := b.newRun()
		const n, size = 5, store.MaxPageBytes/2 - 10
		text := bytes.Repeat([]byte("0123456789"), size/10)
		for i := range n {
			must(b.AddResults(b.Context(), run.ID, []store.Result{{Index: i, JSON: text}}))(b)
		}
		l := must(b.ListResults(b.Context(), run.ID, store.ResultFilter{}, store.Page{Limit: 100}))(b)
		if len(l.Items) >= n || l.Next == "" {
			b.Errorf("a page has %d rows of %d bytes", len(l.Items), len(text))
		}
		next := must(b.ListResults(b.Context(), run.ID, store.ResultFilter{}, store.Page{Limit: 100, After: l.Next}))(b)
		b.equal("rows", len(l.Items)+len(next.Items), n)
		if !bytes.Equal(next.Items[0].JSON, text) {
			b.Error("a row changed")
		}
		b.wants(proviso.Limit, errorOf(b.AddResults(b.Context(), run.ID, []store.Result{{Index: n, JSON: make([]byte, store.MaxContent+1)}})))
		b.wants(proviso.Limit, errorOf(b.AddResults(b.Context(), run.ID, make([]store.Result, store.MaxBatch+1))))
	}},
	{name: "mistakes", run: func(b *bench) {
		run := b.newRun()
		for _, bad := range []store.Result{{Index: -1}, {Cost: -1}, {Cost: math.NaN()}, {Cost: math.Inf(1)}} {
			b.wants(proviso.Invalid, errorOf(b.AddResults(b.Context(), run.ID, []store.Result{{Index: 7}, bad})))
		}
		b.equal("rows", len(must(b.FinishedRows(b.Context(), run.ID))(b)), 0)
		b.wants(proviso.NotFound, errorOf(b.AddResults(b.Context(), "run_none", rowsOf(1, "a"))))
		b.wants(proviso.NotFound, errorOf(b.Result(b.Context(), run.ID, 0)))
		b.wants(proviso.NotFound, errorOf(b.Result(b.Context(), "run_none", 0)))
		b.wants(proviso.NotFound, errorOf(b.ListResults(b.Context(), "run_none", store.ResultFilter{}, store.Page{})))
		b.wants(proviso.NotFound, errorOf(b.CountAssertions(b.Context(), "run_none")))
		must(b.CancelRun(b.Context(), run.ID))(b)
		b.equal("kept after it was cancelled", must(b.AddResults(b.Context(), run.ID, rowsOf(1, "a")))(b), 1)
	}},
	{name: "all at once", run: func(b *bench) {
		run := b.newRun()
		atOnce(20, func(g int) {
			for i := range 10 { // every row is added by two goroutines
				b.works(errorOf(b.AddResults(b.Context(), run.ID, []store.Result{{Index: (g%10)*10 + i, Status: proviso.Pass, Cost: 0.5}})))
			}
		})
		b.equal("totals", must(b.Run(b.Context(), run.ID))(b).Totals, proviso.Totals{Passed: 100, Cost: 50})
		b.equal("rows", len(must(b.FinishedRows(b.Context(), run.ID))(b)), 100)
	}},
}
