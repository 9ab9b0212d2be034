package postgres_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// BenchmarkImport stores a run of 100,000 rows with four assertions each, of about 1 KB.
func BenchmarkImport(b *testing.B) {
	s := postgrestest.StartFor(b, "-c", "fsync=on")
	if err := s.Run("CREATE DATABASE p", "postgres"); err != nil {
		b.Fatal(err)
	}
	d, err := postgres.Open(b.Context(), s.URL("p"), postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for n := 0; b.Loop(); n++ {
		importRun(b, d, fmt.Sprintf("run_%d", n))
	}
}

// importRun stores a run of 100,000 rows with four assertions each, of about 1 KB.
func importRun(b *testing.B, d store.Store, id string) {
	b.Helper()
	const rows = 100_000
	text := fmt.Sprintf("%0900d", 7)
	_, _, err := d.In(store.DefaultProject).ImportRun(b.Context(), store.ImportedRun{ID: id, Suite: "s", Rows: rows}, func(yield func(store.Result, error) bool) {
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

// BenchmarkFill copies a run of 100,000 rows with four assertions each, of about 1 KB, from
// SQLite: 500,001 rows of tables.
func BenchmarkFill(b *testing.B) {
	from, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	importRun(b, from, "run_1")
	snapshot, err := from.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer snapshot.Close()
	s := postgrestest.StartFor(b, "-c", "fsync=on")
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		name := fmt.Sprint("p", n)
		if err := s.Run("CREATE DATABASE "+name, "postgres"); err != nil {
			b.Fatal(err)
		}
		to, err := postgres.Open(b.Context(), s.URL(name), postgres.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := to.Fill(b.Context(), snapshot, func(string, int64) {}); err != nil {
			b.Fatal(err)
		}
		if err := to.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
