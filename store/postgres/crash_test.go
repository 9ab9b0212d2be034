package postgres_test

import (
	"context"
	"fmt"
	"os"
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

// nightly runs the crash tests at full length.
var nightly = os.Getenv("PROVISO_NIGHTLY") != ""

// fleet is several processes that evaluate the events of one watch, each with its own store.
type fleet struct {
	t         *testing.T
	server    *postgrestest.Server
	url       string
	jobs      int
	lease     time.Duration
	calls     atomic.Int64 // paid calls
	stored    atomic.Int64 // new verdicts
	most      int64        // maximum number of concurrent jobs
	processes []*process
	working   sync.WaitGroup
}

// process is one process of a fleet.
type process struct {
	db   *postgres.DB
	kill context.CancelFunc
	// paused makes the process stop with jobs in flight.
	paused atomic.Bool
}

const (
	fleetProcesses = 3
	fleetWorkers   = 4
	fleetBatch     = 10
)

func newFleet(t *testing.T, jobs int, lease time.Duration) *fleet {
	t.Helper()
	f := &fleet{t: t, server: postgrestest.StartFor(t), jobs: jobs, lease: lease, most: fleetProcesses * fleetWorkers * fleetBatch}
	var err error
	if f.url, err = f.server.Create("p"); err != nil {
		t.Fatal(err)
	}
	for range fleetProcesses {
		db, err := postgres.Open(t.Context(), f.url, postgres.Options{Options: sqldb.Options{Poll: 20 * time.Millisecond}, Connections: 6})
		if err != nil {
			t.Fatal(err)
		}
		f.processes = append(f.processes, &process{db: db})
	}
	in := f.processes[0].db.In(store.DefaultProject)
	if _, _, err := in.PutWatch(t.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < jobs; from += 500 {
		var list []store.Backfill
		for i := from; i < min(from+500, jobs); i++ {
			list = append(list, store.Backfill{Event: fmt.Sprint("e", i), Probability: 1})
		}
		if _, err := in.EnqueueEvents(t.Context(), "w", list); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// start makes the processes work until no job is left.
func (f *fleet) start() {
	for _, p := range f.processes {
		ctx, kill := context.WithCancel(context.Background())
		p.kill = kill
		for range fleetWorkers {
			f.working.Go(func() { f.work(ctx, p) })
		}
	}
}

func (f *fleet) work(ctx context.Context, p *process) {
	in := p.db.In(store.DefaultProject)
	for ctx.Err() == nil {
		leases, err := in.LeaseEvents(ctx, store.LeaseEvents{Watch: "w", Limit: fleetBatch, Lease: f.lease})
		if err != nil || len(leases) == 0 {
			if h, err := in.WatchHealth(ctx, "w", time.Now()); err == nil && h.Pending == 0 {
				return
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		var done []store.EventResult
		for _, l := range leases {
			f.calls.Add(1)
			done = append(done, store.EventResult{EventLease: l, Cost: 1, Verdicts: []store.WatchVerdict{
				{Event: l.Event, Agent: "a", Assertion: "tone", Set: "s", Judge: "j", Status: proviso.Pass, Probability: 1, Time: time.Now(), Cost: 1}}})
		}
		time.Sleep(2 * time.Millisecond)
		for p.paused.Load() {
			time.Sleep(10 * time.Millisecond)
		}
		if ctx.Err() != nil {
			return // killed with answers in flight
		}
		for { // as the server does: a paid answer is kept until it is stored
			n, err := in.SettleEvents(store.Patient(context.WithoutCancel(ctx)), "w", done)
			f.stored.Add(int64(n))
			if err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// check waits for the end and checks the counts.
func (f *fleet) check(faults int64) {
	f.t.Helper()
	f.working.Wait()
	in := f.processes[0].db.In(store.DefaultProject)
	have := map[string]int{}
	for p := (store.Page{Limit: 1000}); ; {
		l, err := in.ListVerdicts(f.t.Context(), store.VerdictFilter{Watch: "w"}, p)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, v := range l.Items {
			have[v.Event]++
		}
		if p.After = l.Next; p.After == "" {
			break
		}
	}
	twice := 0
	for _, n := range have {
		twice += n - 1
	}
	again := f.calls.Load() - int64(f.jobs)
	f.t.Logf("%d jobs: %d lost, %d stored twice, %d calls paid again (%d may be in progress)", f.jobs, f.jobs-len(have), twice, again, faults*f.most)
	if len(have) != f.jobs || twice != 0 || again < 0 || again > faults*f.most {
		f.t.Fail()
	}
	for _, p := range f.processes {
		if err := p.db.Close(); err != nil {
			f.t.Error(err)
		}
	}
}

// TestCrashes injects faults into a working fleet. Nothing is lost or stored twice, and only
// jobs in flight are paid for again.
func TestCrashes(t *testing.T) {
	t.Parallel()
	jobs, outage, lease := 600, 300*time.Millisecond, 5*time.Second
	if nightly {
		jobs, outage = 10_000, 30*time.Second
	}
	for name, fault := range map[string]func(*testing.T, *fleet){
		"killed database": func(t *testing.T, f *fleet) {
			if err := f.server.Kill(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(outage)
			if err := f.server.Restart(); err != nil {
				t.Fatal(err)
			}
		},
		"restarted database": func(t *testing.T, f *fleet) {
			if err := f.server.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := f.server.Restart(); err != nil {
				t.Fatal(err)
			}
		},
		"killed process": func(_ *testing.T, f *fleet) { f.processes[1].kill() },
		"process paused for longer than its lease": func(_ *testing.T, f *fleet) {
			f.processes[1].paused.Store(true)
			time.Sleep(lease + 200*time.Millisecond)
			f.processes[1].paused.Store(false)
		},
		"slow database": func(t *testing.T, f *fleet) {
			if err := f.server.Run(fmt.Sprintf("BEGIN; LOCK TABLE watch_job; SELECT pg_sleep(%f); COMMIT", (lease/2).Seconds()), "p"); err != nil {
				t.Fatal(err)
			}
		},
		"no connections": func(t *testing.T, f *fleet) {
			for _, sql := range []string{"ALTER ROLE app CONNECTION LIMIT 1", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'"} {
				if err := f.server.Run(sql, "p"); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(outage)
			if err := f.server.Run("ALTER ROLE app CONNECTION LIMIT -1", "p"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, jobs, lease)
			f.start()
			for limit := time.Now().Add(3 * time.Minute); f.stored.Load() <= int64(jobs/4); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(limit) {
					t.Fatal("the fleet does not get on")
				}
			}
			fault(t, f)
			f.check(1)
		})
	}
}
