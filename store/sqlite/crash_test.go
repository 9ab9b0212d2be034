package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

// victimOf names the database that this process uses until it is killed.
const victimOf = "PROVISO_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victimOf); path != "" {
		fmt.Println(victim(path))
		os.Exit(1)
	}
	if path := os.Getenv(watcherOf); path != "" {
		fmt.Println(watcher(path))
		os.Exit(1)
	}
	if path := os.Getenv(senderOf); path != "" {
		fmt.Println(sender(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// victim executes an endless run and prints every stored row.
func victim(path string) error {
	d, err := sqlite.Open(context.Background(), path, sqlite.Options{Poll: 5 * time.Millisecond})
	if err != nil {
		return err
	}
	failed := make(chan error)
	if err := d.Start(context.Background(), func(ctx context.Context, job store.Job) error {
		for row := 0; ; row++ {
			rows := []store.Result{{Index: row, Status: proviso.Pass, Cost: 1, JSON: []byte(strings.Repeat("x", 1000))}}
			if _, err := d.In(store.DefaultProject).AddResults(ctx, job.Run.ID, rows); err != nil {
				failed <- err
			}
			fmt.Println(row)
		}
	}); err != nil {
		return err
	}
	return <-failed
}

// TestKill kills a process during a run: no finished row is lost, and another
// process continues at once with the rest.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	defer func() { d.Close() }()
	key, secret, err := d.CreateKey(t.Context(), store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := d.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{Suite: "s", CreatedBy: key.ID})
	if err != nil {
		t.Fatal(err)
	}
	last := kill(t, d, path)

	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open(t, path, storetest.Options{})
	if k, err := d.Authenticate(t.Context(), secret); err != nil || k.Spent < float64(last+1) {
		t.Errorf("after the kill: %+v, %v", k, err)
	}
	type attempt struct {
		job   store.Job
		found []int
	}
	attempts := make(chan attempt, 1)
	begun := time.Now()
	err = d.Start(t.Context(), func(ctx context.Context, job store.Job) error {
		found, err := d.In(store.DefaultProject).FinishedRows(ctx, job.Run.ID)
		attempts <- attempt{job, found}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var a attempt
	select {
	case a = <-attempts:
	case <-time.After(20 * time.Second):
		t.Fatal("the run was not taken up")
	}
	if waited := time.Since(begun); waited > 10*time.Second {
		t.Errorf("the run was taken up after %v", waited)
	}
	if a.job.Run.ID != run.ID || a.job.Attempt != 1 {
		t.Errorf("attempt %d of %s", a.job.Attempt, a.job.Run.ID)
	}
	if len(a.found) <= last || !slices.IsSorted(a.found) || a.found[last] != last {
		t.Errorf("the process had finished rows 0 to %d; there are %d", last, len(a.found))
	}
	if a.job.Run.Totals.Passed != len(a.found) || a.job.Run.Totals.Cost != float64(len(a.found)) {
		t.Errorf("%d rows, totals %+v", len(a.found), a.job.Run.Totals)
	}
}

// kill starts a victim, waits for rows, reads the run from this process, kills
// the victim, and returns the last row that it printed.
func kill(t *testing.T, d *sqlite.DB, path string) int {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), victimOf+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := -1
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			cmd.Process.Kill()
			t.Fatal(lines.Text())
		}
		if last = n; n != 50 {
			continue
		}
		err = d.Start(t.Context(), func(context.Context, store.Job) error { return nil })
		wantCode(t, err, proviso.Refused)
		if _, _, err := d.CreateKey(t.Context(), store.NewKey{Name: "meanwhile", Scopes: []store.Scope{store.Read}}); err != nil {
			t.Errorf("while another process writes: %v", err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil || last < 50 {
		t.Fatalf("the process ended with %v after row %d", err, last)
	}
	return last
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("got the error %v, want one with code %s", err, code)
	}
}

// snapshot copies an open database as a crash would leave it.
func snapshot(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "proviso.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestSnapshot opens the files after a crash: every acknowledged write is there.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	defer d.Close()
	var ids []string
	for i := range 50 {
		e, err := d.In(store.DefaultProject).AddEvaluation(t.Context(), store.NewEvaluation{Agent: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	again := open(t, snapshot(t, path), storetest.Options{})
	defer again.Close()
	for _, id := range ids {
		if _, err := again.In(store.DefaultProject).Evaluation(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunThatKills: a run that repeatedly ends its process without finishing a row fails; a run
// that finishes rows continues.
func TestRunThatKills(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	create := func(suite string) string {
		r, err := d.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{Suite: suite})
		if err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	deadly, slow := create("deadly"), create("slow")
	for crash := range store.MaxAttempts {
		startBoth(t, d, crash)
		copied := snapshot(t, path)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		path = copied
		d = open(t, path, storetest.Options{})
	}
	defer d.Close()
	if err := d.Start(t.Context(), func(context.Context, store.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]store.RunStatus{deadly: store.Failed, slow: store.Done} {
		var r store.Run
		var err error
		until(t, func() bool {
			r, err = d.In(store.DefaultProject).Run(t.Context(), id)
			return err != nil || r.Status.Ended()
		})
		if err != nil || r.Status != want || r.Status == store.Failed && !strings.Contains(r.Error, "the process ended 5 times") {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// startBoth starts the two runs of TestRunThatKills.
func startBoth(t *testing.T, d *sqlite.DB, row int) {
	t.Helper()
	var begun atomic.Int32
	if err := d.Start(t.Context(), func(ctx context.Context, job store.Job) error {
		if job.Run.Suite == "slow" {
			if _, err := d.In(store.DefaultProject).AddResults(ctx, job.Run.ID, []store.Result{{Index: row}}); err != nil {
				t.Error(err)
			}
		}
		begun.Add(1)
		<-job.Drain // the database is copied before
		return store.ErrDrained
	}); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return begun.Load() == 2 })
}
