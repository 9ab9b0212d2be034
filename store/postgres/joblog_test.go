package postgres_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// joblog is a log that is safe for concurrent use.
type joblog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *joblog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *joblog) has(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range strings.Split(l.text.String(), "\n") {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			return true
		}
	}
	return false
}

// TestSilentInLog: when a worker with parts of a run is silent, another one logs that.
func TestSilentInLog(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	open := func(l *joblog, later time.Duration) *postgres.DB {
		d, err := postgres.Open(t.Context(), url, postgres.Options{Options: sqldb.Options{Poll: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(l, nil)), Now: func() time.Time { return time.Now().Add(later) }}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	var first, second joblog
	silent, other := open(&first, 0), open(&second, time.Hour) // the second clock is after the lease of the first
	in := silent.In("p")
	run, err := in.CreateRun(t.Context(), store.NewRun{Suite: "s", Rows: 20, Division: store.Division{Rows: 10, Parts: 2}})
	if err != nil {
		t.Fatal(err)
	}
	has := make(chan string, 9)
	if err := silent.Start(t.Context(), func(ctx context.Context, job store.Job) error {
		if _, _, err := job.Take(ctx, 0); err != nil {
			return err
		}
		_, err := in.AddResults(ctx, run.ID, []store.Result{{Index: 0, Status: proviso.Pass}})
		has <- job.Process
		<-job.Drain // ignore lost parts: it does not take the run again
		return errors.Join(err, store.ErrDrained)
	}); err != nil {
		t.Fatal(err)
	}
	former := <-has
	if err := other.Start(t.Context(), func(ctx context.Context, job store.Job) error {
		for from := 0; ; from += 10 {
			if _, ok, err := job.Take(ctx, from); err != nil || !ok {
				return err
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		return second.has("a worker is silent: others may continue what it had of a run", "run="+run.ID, "from="+former, "rows=1")
	})
	until(t, func() bool { return second.has("a part of a run is continued", "run="+run.ID, "from_row=0") })
}

// TestStoppedProcessKeepsItsLease: a process that renews its leases with a time from before it
// was suspended does not shorten leases that it took afterwards, and does not count as silent.
func TestStoppedProcessKeepsItsLease(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	var behind, asked atomic.Int64 // offset of the first process; number of clock reads of both
	open := func(l *joblog, now func() time.Time) *postgres.DB {
		d, err := postgres.Open(t.Context(), url, postgres.Options{Options: sqldb.Options{Poll: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(l, nil)), Now: now}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(d.Stop(context.WithoutCancel(t.Context())), d.Close()); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	var first, second joblog
	stopped := open(&first, func() time.Time { asked.Add(1); return time.Now().Add(-time.Duration(behind.Load())) })
	other := open(&second, func() time.Time { asked.Add(1); return time.Now() })
	run, err := stopped.In("p").CreateRun(t.Context(), store.NewRun{Suite: "s", Rows: 20, Division: store.Division{Rows: 20, Parts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	took := make(chan bool)
	if err := stopped.Start(t.Context(), func(ctx context.Context, job store.Job) error {
		if _, _, err := job.Take(ctx, 0); err != nil {
			return err
		}
		took <- true
		<-job.Drain
		return store.ErrDrained
	}); err != nil {
		t.Fatal(err)
	}
	<-took
	idle := func() { // wait for some renewals
		from := asked.Load()
		until(t, func() bool { return asked.Load() > from+30 })
	}
	behind.Store(int64(time.Hour))
	idle()
	if err := other.Start(t.Context(), func(context.Context, store.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	idle()
	idle()
	if second.has("silent", "run="+run.ID) {
		t.Error("a process that lives is taken for silent")
	}
}
