package postgres_test

import (
	"fmt"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
)

// BenchmarkImport stores a run of 100,000 rows with four assertions each, of about 1 KB.
func BenchmarkImport(b *testing.B) {
	s := postgrestest.StartFor(b, "-c", "fsync=on")
	url, err := s.Create("p")
	if err != nil {
		b.Fatal(err)
	}
	d, err := postgres.Open(b.Context(), url, postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	const rows = 100_000
	text := fmt.Sprintf("%0900d", 7)
	for n := 0; b.Loop(); n++ {
		run := store.ImportedRun{ID: fmt.Sprintf("run_%d", n), Suite: "s", Rows: rows}
		_, _, err := d.In(store.DefaultProject).ImportRun(b.Context(), run, func(yield func(store.Result, error) bool) {
			for i := range rows {
				r := store.Result{Index: i, Status: proviso.Pass, Cost: 0.001, JSON: fmt.Appendf(nil, `{"verdict":"pass","promptId":"p","output":"%d%s"}`, i, text)}
				for a := range 4 {
					r.Assertions = append(r.Assertions, store.AssertionStatus{ID: fmt.Sprint("a", a), Status: proviso.Pass})
				}
				if !yield(r, nil) {
					return
				}
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
