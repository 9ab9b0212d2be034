package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

const (
	// watcherOf names the database whose events this process evaluates until it is killed.
	watcherOf = "PROVISO_TEST_WATCHER"
	watchers  = 4 // concurrent calls
)

// watcher evaluates events and appends a line to a file for each finished call, as a paid model
// would charge it.
func watcher(path string) error {
	d, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	if err := d.Start(context.Background(), func(context.Context, store.Job) error { return nil }); err != nil {
		return err
	}
	paid, err := os.OpenFile(path+".paid", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	in := d.In(store.DefaultProject)
	failed := make(chan error, watchers)
	for range watchers {
		go func() { failed <- evaluateEvents(in, paid) }()
	}
	return <-failed
}

func evaluateEvents(in store.ProjectStore, paid *os.File) error {
	for {
		leases, err := in.LeaseEvents(context.Background(), store.LeaseEvents{Watch: "w", Limit: 1, Lease: time.Hour, Reserve: 0.01, Budget: 1000})
		if err != nil {
			return err
		}
		for _, l := range leases {
			time.Sleep(3 * time.Millisecond)
			if _, err := fmt.Fprintln(paid, l.Event); err != nil {
				return err
			}
			v := store.WatchVerdict{Event: l.Event, Assertion: "a", Time: time.Now(), Probability: l.Probability, Status: proviso.Pass}
			if _, err := in.SettleEvents(context.Background(), "w", []store.EventResult{{EventLease: l, Verdicts: []store.WatchVerdict{v}, Cost: 0.01}}); err != nil {
				return err
			}
			fmt.Println(l.Event)
		}
		if len(leases) == 0 {
			fmt.Println("idle")
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// killWatcher starts a watcher and kills it after some events, or when it is idle.
func killWatcher(t *testing.T, path string, after int) (idle bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), watcherOf+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	waits := 0
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "idle" {
			waits++
		}
		idle = waits > 20*watchers // the last events have ended
		if idle || n == after {
			once.Do(func() { cmd.Process.Kill() })
		}
	}
	cmd.Wait()
	return idle
}

// TestKillWatcher kills processes while they evaluate events: no event is lost or has two
// verdicts, the rollup counts each once, and only calls in flight were paid twice.
func TestKillWatcher(t *testing.T) {
	t.Parallel()
	const events, kills = 300, 5
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	in := d.In(store.DefaultProject)
	if _, _, err := in.PutWatch(t.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	var jobs []store.Backfill
	for i := range events {
		jobs = append(jobs, store.Backfill{Event: fmt.Sprint("e", i), Probability: 1})
	}
	if n, err := in.EnqueueEvents(t.Context(), "w", jobs); err != nil || n != events {
		t.Fatal(n, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for range kills {
		killWatcher(t, path, events/(kills+1))
	}
	if !killWatcher(t, path, -1) {
		t.Fatal("the process ended before it had nothing to do")
	}
	d = open(t, path, storetest.Options{})
	defer d.Close()
	in = d.In(store.DefaultProject)
	verdicts, err := in.Observations(t.Context(), "w", 0, 10*events)
	if err != nil {
		t.Fatal(err)
	}
	once := map[string]bool{}
	for _, v := range verdicts {
		once[v.Event] = true
	}
	if len(verdicts) != events || len(once) != events {
		t.Errorf("%d verdicts on %d events of %d", len(verdicts), len(once), events)
	}
	h, err := in.WatchHealth(t.Context(), "w", time.Now())
	if err != nil || h.Pending != 0 || h.Leased != 0 || h.Spend.Calls != events || h.Spend.Reserved > 1e-9 {
		t.Errorf("%+v, %v", h, err)
	}
	buckets, err := in.Series(t.Context(), store.SeriesFilter{Watch: "w", From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), Step: time.Hour})
	pass := 0
	for _, b := range buckets {
		pass += b.Pass
	}
	if err != nil || pass != events {
		t.Errorf("the rollup counts %d of %d, %v", pass, events, err)
	}
	data, err := os.ReadFile(path + ".paid")
	if err != nil {
		t.Fatal(err)
	}
	paid := strings.Count(string(data), "\n")
	t.Logf("%d calls for %d events and %d kills of a process with %d calls at a time; %d leases were lost", paid, events, kills, watchers, h.Spend.Lost)
	if paid < events || paid > events+kills*watchers {
		t.Errorf("%d calls were paid for %d events", paid, events)
	}
	if h.Spend.Lost < paid-events {
		t.Errorf("%d calls were paid twice, but only %d are uncertain", paid-events, h.Spend.Lost)
	}
}
