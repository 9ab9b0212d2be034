package postgres_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

// TestFill copies a SQLite database: everything that is read from the copy is as it was, the
// data agree with each other, and both can be written to. A database with data takes none.
func TestFill(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	path := filepath.Join(t.TempDir(), "proviso.db")
	from, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	seen := storetest.Fill(t, from)
	snapshot, err := from.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to, err := postgres.Open(t.Context(), postgrestest.Database(t), postgres.Options{Options: sqldb.Options{Now: now}, Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	var tables []string
	note := func(table string, rows int64) { tables = append(tables, fmt.Sprint(table, " ", rows)) }
	if err := to.Fill(t.Context(), snapshot, note); err != nil {
		t.Fatal(err)
	}
	if got, want := seen(to), seen(from); got != want {
		t.Errorf("the copy shows\n%s\nand the source\n%s", got, want)
	}
	if text := strings.Join(tables, ", "); !strings.Contains(text, "run 5") || !strings.Contains(text, "api_key 2") {
		t.Errorf("noted: %s", text)
	}
	if problems, err := to.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("the copy: %q, %v", problems, err)
	}
	if err := to.Fill(t.Context(), snapshot, note); err == nil || !strings.Contains(err.Error(), "has data already") {
		t.Errorf("a second copy: %v", err)
	}
	for _, d := range []store.Store{from, to} { // numbers continue, and triggers count again
		in := d.In(store.DefaultProject)
		if _, err := in.CreateRun(t.Context(), store.NewRun{Suite: "s"}); err != nil {
			t.Error(err)
		}
		if _, err := in.EnqueueEvents(t.Context(), "w", []store.Backfill{{Event: "e1", Probability: 1}}); err != nil {
			t.Error(err)
		}
		if h, err := in.WatchHealth(t.Context(), "w", now()); err != nil || h.Pending != 1 {
			t.Errorf("after the copy, %d jobs wait, %v", h.Pending, err)
		}
	}
	if err := snapshot.Close(); err != nil {
		t.Error(err)
	}
	if err := from.Start(t.Context(), nil); err != nil { // nobody holds the lock any more
		t.Error(err)
	}
	if _, err := from.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "another process executes the runs") {
		t.Errorf("a snapshot of a database that a server uses: %v", err)
	}
}
