package storetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// pagesOf binds the filter of a list.
func pagesOf[T, F any](list func(context.Context, F, store.Page) (store.List[T], error), f F) func(context.Context, store.Page) (store.List[T], error) {
	return func(ctx context.Context, p store.Page) (store.List[T], error) { return list(ctx, f, p) }
}

// stable reads a list page by page while it grows, and checks that every item
// that existed at the start comes exactly once.
func stable[T any](b *bench, id func(T) string, read func(context.Context, store.Page) (store.List[T], error), add func()) {
	b.Helper()
	for range 9 {
		add()
	}
	want := map[string]int{}
	for _, item := range all(b, store.MaxPage, read) {
		want[id(item)] = 0
	}
	p := store.Page{Limit: 2}
	for {
		l := must(read(b.Context(), p))(b)
		for _, item := range l.Items {
			want[id(item)]++
		}
		if l.Next == "" {
			break
		}
		p.After = l.Next
		if len(want) < 30 {
			add()
		}
	}
	for id, n := range want {
		if n != 1 {
			b.Errorf("%s was listed %d times", id, n)
		}
	}
	if len(want) < 9 {
		b.Errorf("only %d items", len(want))
	}
}

var pageTests = []test{
	{name: "stable", run: func(b *bench) {
		n := 0
		stable(b, func(k store.Key) string { return k.ID }, b.ListKeys, func() { b.key() })
		stable(b, func(r store.Run) string { return r.ID }, pagesOf(b.ListRuns, store.RunFilter{Suite: "s"}), func() { b.newRun() })
		stable(b, func(e store.Evaluation) string { return e.ID }, pagesOf(b.ListEvaluations, store.EvaluationFilter{}), func() {
			must(b.AddEvaluation(b.Context(), store.NewEvaluation{}))(b)
		})
		stable(b, func(d store.Document) string { return d.Hash }, pagesOf(b.ListDocuments, store.DocumentFilter{Name: "d"}), func() {
			n++
			b.put(suiteOf("d", fmt.Sprint(n)), true)
		})
		stable(b, func(d store.Document) string { return d.Name }, pagesOf(b.ListDocuments, store.DocumentFilter{}), func() {
			n++
			b.put(suiteOf(fmt.Sprintf("z%03d", n), "x"), true)
		})
		run := b.newRun()
		stable(b, func(r store.Result) string { return fmt.Sprint(r.Index) },
			func(ctx context.Context, p store.Page) (store.List[store.Result], error) {
				return b.ListResults(ctx, run.ID, store.ResultFilter{}, p)
			},
			func() {
				n++
				must(b.AddResults(b.Context(), run.ID, []store.Result{{Index: n}}))(b)
			})
	}},
	{name: "limits", run: func(b *bench) {
		for range store.DefaultPage + 1 {
			must(b.AddEvaluation(b.Context(), store.NewEvaluation{}))(b)
		}
		for limit, want := range map[int]int{0: store.DefaultPage, -5: store.DefaultPage, 1: 1, store.DefaultPage + 1: store.DefaultPage + 1, 1 << 40: store.DefaultPage + 1} {
			l := must(b.ListEvaluations(b.Context(), store.EvaluationFilter{}, store.Page{Limit: limit}))(b)
			b.equal(fmt.Sprint("items for ", limit), len(l.Items), want)
			b.equal(fmt.Sprint("more for ", limit), l.Next != "", want <= store.DefaultPage)
		}
	}},
	{name: "cursors", run: func(b *bench) {
		run := b.newRun()
		for i := range 3 {
			b.newRun()
			must(b.AddResults(b.Context(), run.ID, []store.Result{{Index: i}}))(b)
		}
		runs := must(b.ListRuns(b.Context(), store.RunFilter{}, store.Page{Limit: 1}))(b).Next
		for _, after := range []string{"x", "'", runs + "A", runs[1:], "....", store.Cursor("runs", "x"), store.Cursor("runs", "' OR 1"),
			store.Cursor("runs", "99999999999999999999"), store.Cursor("keys", "1")} {
			_, err := b.ListRuns(b.Context(), store.RunFilter{}, store.Page{After: after})
			if err == nil && slices.Contains([]string{runs + "A", runs[1:]}, after) {
				continue // may be another valid cursor
			}
			b.wants(proviso.Invalid, err)
		}
		b.wants(proviso.Invalid, errorOf(b.ListResults(b.Context(), run.ID, store.ResultFilter{}, store.Page{After: runs})))
		b.wants(proviso.Invalid, errorOf(b.ListKeys(b.Context(), store.Page{After: runs})))
		b.wants(proviso.Invalid, errorOf(b.ListEvaluations(b.Context(), store.EvaluationFilter{}, store.Page{After: runs})))
		b.wants(proviso.Invalid, errorOf(b.ListDocuments(b.Context(), store.DocumentFilter{}, store.Page{After: runs})))
	}},
}
