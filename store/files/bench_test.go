package files_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/files"
)

// manyRuns creates n runs of three rows.
func manyRuns(b *testing.B, n int) string {
	dir := b.TempDir()
	for range n {
		finished(b, dir, header("suite", 3))
	}
	return dir
}

func BenchmarkListRuns(b *testing.B) {
	for _, n := range []int{2000, 5000} {
		dir := manyRuns(b, n)
		for _, limit := range []int{store.DefaultPage, store.MaxPage} {
			b.Run(fmt.Sprintf("runs=%d/page=%d/first", n, limit), func(b *testing.B) {
				for b.Loop() {
					_, p := open(b, dir)
					listRuns(b, p, store.RunFilter{}, limit)
				}
			})
			_, p := open(b, dir)
			b.Run(fmt.Sprintf("runs=%d/page=%d/again", n, limit), func(b *testing.B) {
				for b.Loop() {
					listRuns(b, p, store.RunFilter{}, limit)
				}
			})
		}
		b.Run(fmt.Sprintf("runs=%d/none-match/first", n), func(b *testing.B) {
			for b.Loop() {
				_, p := open(b, dir)
				if l, err := p.ListRuns(b.Context(), store.RunFilter{Suite: "none"}, store.Page{}); err != nil || len(l.Items) > 0 {
					b.Fatal(l, err)
				}
			}
		})
	}
}

func listRuns(b *testing.B, p store.ProjectStore, f store.RunFilter, limit int) {
	b.Helper()
	if l, err := p.ListRuns(b.Context(), f, store.Page{Limit: limit}); err != nil || len(l.Items) != limit {
		b.Fatal(len(l.Items), err)
	}
}

// largeRun creates a run of 100,000 rows with five assertions, of 2.3 KB each.
func largeRun(b *testing.B, end []byte) (dir, id string) {
	dir = b.TempDir()
	w := create(b, dir, header("large", 100_000))
	verdicts := []verdict{{"a", "pass"}, {"b", "pass"}, {"c", "pass"}, {"d", "pass"}, {"e", "fail"}}
	text := strings.Repeat("It takes up to 5 days until the bank has it. ", 40)
	for i := range 100_000 {
		if err := w.Append(i^3, row(i^3, "fail", text, verdicts...)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(end); err != nil {
		b.Fatal(err)
	}
	return dir, w.Header().ID
}

func BenchmarkLargeRun(b *testing.B) {
	dir, id := largeRun(b, []byte(`{"failed":100000}`))
	fresh := func() store.ProjectStore {
		s, err := files.Open(dir, files.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return s.In(store.DefaultProject)
	}
	p := fresh()
	result := func(p store.ProjectStore, i int) {
		if r, err := p.Result(b.Context(), id, i); err != nil || r.Index != i {
			b.Fatal(r.Index, err)
		}
	}
	page := func(p store.ProjectStore, f store.ResultFilter, after int) {
		l, err := p.ListResults(b.Context(), id, f, store.Page{After: store.Cursor("results", fmt.Sprint(after))})
		if err != nil || len(l.Items) != store.DefaultPage {
			b.Fatal(len(l.Items), err)
		}
	}
	failed := store.ResultFilter{Assertion: "e", Status: []proviso.Status{proviso.Fail}}
	for _, bench := range []struct {
		name string
		do   func(i int)
	}{
		{"result/first", func(i int) { result(fresh(), i*7919%100_000) }},
		{"result/again", func(i int) { result(p, i*7919%100_000) }},
		{"page/first", func(int) { page(fresh(), store.ResultFilter{}, 50_000) }},
		{"page/again", func(int) { page(p, store.ResultFilter{}, 50_000) }},
		{"filter/first", func(int) { page(fresh(), failed, 50_000) }},
		{"filter/again", func(int) { page(p, failed, 50_000) }},
		{"all", func(int) {
			for cursor, n := "", 0; ; {
				l, err := p.ListResults(b.Context(), id, store.ResultFilter{}, store.Page{After: cursor, Limit: store.MaxPage})
				if err != nil {
					b.Fatal(err)
				}
				n += len(l.Items)
				if cursor = l.Next; cursor == "" {
					if n != 100_000 {
						b.Fatal(n)
					}
					return
				}
			}
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				bench.do(i)
			}
		})
	}
}

// BenchmarkFollow is the cost of polling a running run of 100,000 rows after one more was
// appended.
func BenchmarkFollow(b *testing.B) {
	dir, id := largeRun(b, nil)
	w, err := runfile.Resume(dir + "/" + id)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close(nil)
	_, p := open(b, dir)
	runOf(b, p, id)
	for i := 0; b.Loop(); i++ {
		add(b, w, row(100_000+i, "pass", "x"))
		if r := runOf(b, p, id); r.Totals.Rows() != 100_001+i {
			b.Fatal(r.Totals)
		}
	}
}
