package postgres_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// TestRestart: PostgreSQL is killed and restarted while runs store their rows. A request fails
// at once, and work waits: no row is lost, stored twice, or worked on again.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t)
	url, err := s.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	d, err := postgres.Open(t.Context(), url, postgres.Options{Options: sqldb.Options{
		Workers: 4, Poll: 20 * time.Millisecond, Retry: func(int) time.Duration { return 0 },
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	in := d.In(store.DefaultProject)
	const runs, rows = 4, 40
	var ids []string
	for range runs {
		r, err := in.CreateRun(t.Context(), store.NewRun{Suite: "s", Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	var calls atomic.Int64
	if err := d.Start(t.Context(), func(ctx context.Context, job store.Job) error {
		done, err := in.FinishedRows(ctx, job.Run.ID)
		for i := len(done); err == nil && i < rows; i++ {
			calls.Add(1) // costs money
			time.Sleep(2 * time.Millisecond)
			_, err = in.AddResults(ctx, job.Run.ID, []store.Result{{Index: i, Status: proviso.Pass, Cost: 1}})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		time.Sleep(30 * time.Millisecond)
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		_, err := in.CreateRun(t.Context(), store.NewRun{Suite: "s"})
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Unavailable {
			t.Errorf("a request while the database is down: %v", err)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		until(t, func() bool {
			r, err := in.Run(t.Context(), id)
			return err == nil && r.Status == store.Done
		})
		r, err := in.Run(t.Context(), id)
		if err != nil || r.Totals.Passed != rows || r.Totals.Cost != rows {
			t.Errorf("a run: %+v, %v", r, err)
		}
	}
	if n := calls.Load(); n != runs*rows {
		t.Errorf("%d calls for %d rows", n, runs*rows)
	}
}

// until waits for a condition that another goroutine fulfils.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("waited in vain")
		}
	}
}
