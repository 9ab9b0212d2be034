package sqlite_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// joblog is the log of jobs, without times. It is safe for concurrent use.
type joblog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *joblog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns the lines since its last call, without the line of the start.
func (l *joblog) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	l.text.Reset()
	return regexp.MustCompile(`(?m)^time=\S+ (level=INFO msg="this process executes runs".*\n)?`).ReplaceAllString(text, "")
}

// logged opens a database whose jobs log to l, in the time of a synctest bubble.
func logged(t *testing.T, path string, l *joblog) *sqlite.DB {
	t.Helper()
	d, err := sqlite.Open(t.Context(), path, sqlite.Options{Workers: 1, Logger: slog.New(slog.NewTextHandler(l, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// closed closes a database with its jobs.
func closed(t *testing.T, d *sqlite.DB) {
	t.Helper()
	if err := d.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnfitInLog: a process that takes no runs logs that at once and every 30 seconds, and logs
// once that it takes runs again.
func TestUnfitInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l joblog
		d := logged(t, filepath.Join(t.TempDir(), "p.db"), &l)
		defer closed(t, d)
		var full atomic.Bool
		full.Store(true)
		d.Offer(store.Offer{Kind: "worker", Fit: func() string {
			if full.Load() {
				return "the disk is full"
			}
			return ""
		}})
		if err := d.Start(t.Context(), func(context.Context, store.Job) error { return nil }); err != nil {
			t.Fatal(err)
		}
		const line = "level=WARN msg=\"this process takes no runs\" why=\"the disk is full\"\n"
		for _, step := range []struct {
			seconds int
			want    string
		}{{2, line}, {26, ""}, {5, line}, {60, line + line}} {
			time.Sleep(time.Duration(step.seconds) * time.Second)
			if got := l.take(); got != step.want {
				t.Errorf("after %d seconds more: %q, want %q", step.seconds, got, step.want)
			}
		}
		full.Store(false)
		time.Sleep(90 * time.Second)
		if got := l.take(); got != "level=INFO msg=\"this process takes runs again\"\n" {
			t.Errorf("afterwards: %q", got)
		}
	})
}

// TestNoRoomInLog: a run that waits for disk space logs that every 30 seconds.
func TestNoRoomInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l joblog
		d := logged(t, filepath.Join(t.TempDir(), "p.db"), &l)
		defer closed(t, d)
		begin := time.Now()
		if _, err := d.In("p").CreateRun(t.Context(), store.NewRun{Suite: "s"}); err != nil {
			t.Fatal(err)
		}
		if err := d.Start(t.Context(), func(context.Context, store.Job) error {
			if time.Since(begin) < 70*time.Second {
				return store.ErrNoRoom
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(75 * time.Second)
		if got := l.take(); strings.Count(got, "a run waits until there is room on the disk of the database") != 3 || strings.Count(got, "\n") != 3 {
			t.Errorf("%s", got)
		}
	})
}

// TestContinuedInLog: a process that continues a run logs the previous process and the number
// of finished rows.
func TestContinuedInLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "p.db")
		var first, second joblog
		d := logged(t, path, &first)
		in := d.In("p")
		run, err := in.CreateRun(t.Context(), store.NewRun{Suite: "s", Rows: 20, Division: store.Division{Rows: 10, Parts: 2}})
		if err != nil {
			t.Fatal(err)
		}
		former := ""
		if err := d.Start(t.Context(), func(ctx context.Context, job store.Job) error {
			former = job.Process
			if _, _, err := job.Take(ctx, 0); err != nil {
				return err
			}
			if _, err := in.AddResults(ctx, run.ID, []store.Result{{Index: 0, Status: proviso.Pass}, {Index: 1, Status: proviso.Pass}}); err != nil {
				return err
			}
			<-job.Drain
			return store.ErrDrained
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		closed(t, d)
		if got, want := first.take(), "level=INFO msg=\"a run is left to others\" run="+run.ID+" worker="+former+" rows=2\n"; got != want {
			t.Errorf("who had it: %q, want %q", got, want)
		}
		d = logged(t, path, &second)
		defer closed(t, d)
		in = d.In("p")
		now := ""
		if err := d.Start(t.Context(), func(ctx context.Context, job store.Job) error {
			now = job.Process
			for from := 0; ; from += 10 {
				if _, ok, err := job.Take(ctx, from); err != nil || !ok {
					return err
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		want := "level=INFO msg=\"a run is continued\" run=" + run.ID + " from=" + former + " worker=" + now + " rows=2\n" +
			"level=INFO msg=\"a part of a run is continued\" run=" + run.ID + " worker=" + now + " from_row=0\n"
		if got := second.take(); got != want || former == now || former == "" {
			t.Errorf("who has it: %q, want %q", got, want)
		}
	})
}
