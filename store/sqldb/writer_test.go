package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// plainEngine changes nothing.
type plainEngine struct{ Engine }

func (plainEngine) Query(text string) string                      { return text }
func (plainEngine) Args(args []any) []any                         { return args }
func (plainEngine) Lock(context.Context, *sql.Tx, []string) error { return nil }
func (plainEngine) Ready() error                                  { return nil }
func (plainEngine) Written(int)                                   {}
func (plainEngine) Scoped() bool                                  { return false }
func (plainEngine) Lost(error) bool                               { return false }
func (plainEngine) Again(error) bool                              { return false }

// TestBatch: of the changes that share a transaction, a failed one is rolled back alone, and
// one whose caller has gone is skipped.
func TestBatch(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE run (id TEXT NOT NULL UNIQUE)"); err != nil {
		t.Fatal(err)
	}
	d := &DB{engine: plainEngine{}, writing: db, options: Options{Writers: 1}}
	wr := &writer{db: d, statements: map[string]*sql.Stmt{}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	fails := errors.New("fails")
	write := func(ctx context.Context, id string, err error) *change {
		return &change{ctx: ctx, done: make(chan struct{}), do: func(t *tx) error {
			for _, part := range []string{"a", "b"} {
				if _, err := t.exec("INSERT INTO run (id) VALUES (?)", id+part); err != nil {
					return err
				}
			}
			return err
		}}
	}
	for range 2 { // the second time, the statements are prepared
		if _, err := d.writing.Exec("DELETE FROM run"); err != nil {
			t.Fatal(err)
		}
		batch := []*change{write(t.Context(), "1", nil), write(t.Context(), "2", fails), write(gone, "3", nil),
			write(t.Context(), "1", nil), write(t.Context(), "4", nil)}
		wr.commit(batch)
		for i, want := range []bool{true, false, false, false, true} {
			if got := batch[i].err == nil; got != want {
				t.Errorf("change %d: %v", i, batch[i].err)
			}
		}
		if !errors.Is(batch[1].err, fails) || !errors.Is(batch[2].err, context.Canceled) {
			t.Errorf("errors: %v, %v", batch[1].err, batch[2].err)
		}
		var ids string
		if err := d.writing.QueryRow("SELECT group_concat(id, ' ' ORDER BY id) FROM run").Scan(&ids); err != nil || ids != "1a 1b 4a 4b" {
			t.Errorf("kept: %s, %v", ids, err)
		}
	}
	alone := write(t.Context(), "5", fails)
	wr.commit([]*change{alone})
	var n int
	if err := d.writing.QueryRow("SELECT count(*) FROM run").Scan(&n); err != nil || n != 4 || !errors.Is(alone.err, fails) {
		t.Errorf("after one that failed alone: %d runs, %v, %v", n, alone.err, err)
	}
}
