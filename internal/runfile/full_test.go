package runfile

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fullDisk accepts room bytes and then fails like a full disk.
type fullDisk struct {
	room    int
	syncErr error
	synced  atomic.Int32
}

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *fullDisk) Sync() error  { d.synced.Add(1); return d.syncErr }
func (d *fullDisk) Close() error { return nil }

func TestFullDisk(t *testing.T) {
	t.Parallel()
	record := []byte(`{"index":0,"text":"` + strings.Repeat("x", 100_000) + `"}`)
	t.Run("append", func(t *testing.T) {
		t.Parallel()
		w := newWriter(&fullDisk{room: 150_000}, "run.jsonl", Header{})
		var err error
		for range 10 {
			err = errors.Join(err, w.Append(0, record))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Append said %v", err)
		}
		if err := w.Close(nil); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Close said %v", err)
		}
		if err := w.Close(nil); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a second Close said %v", err)
		}
	})
	t.Run("close", func(t *testing.T) {
		t.Parallel()
		w := newWriter(&fullDisk{room: 10}, "run.jsonl", Header{})
		if err := w.Append(0, []byte(`{"index":0,"a":1}`)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(nil); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Close said %v", err)
		}
	})
	t.Run("sync", func(t *testing.T) {
		t.Parallel()
		w := newWriter(&fullDisk{room: 1 << 30, syncErr: syscall.EIO}, "run.jsonl", Header{})
		if err := w.Append(0, record); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(nil); !errors.Is(err, syscall.EIO) {
			t.Errorf("Close said %v", err)
		}
	})
}

func TestSyncInBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &fullDisk{room: 1 << 30}
		w := newWriter(d, "run.jsonl", Header{})
		for i := range 100 {
			if err := w.Append(i, fmt.Appendf(nil, `{"index":%d,"a":1}`, i)); err != nil {
				t.Fatal(err)
			}
		}
		if d.synced.Load() != 0 {
			t.Errorf("%d syncs before the time", d.synced.Load())
		}
		time.Sleep(10 * syncEvery)
		synctest.Wait()
		if d.synced.Load() != 1 {
			t.Errorf("%d syncs for one batch", d.synced.Load())
		}
		if err := w.Append(100, []byte(`{"index":100,"a":1}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * syncEvery)
		synctest.Wait()
		if d.synced.Load() != 2 {
			t.Errorf("%d syncs for two batches", d.synced.Load())
		}
		if err := w.Close(nil); err != nil {
			t.Fatal(err)
		}
	})
}

// slowDisk takes 10 ms to sync.
type slowDisk struct{ fullDisk }

func (d *slowDisk) Sync() error { time.Sleep(10 * time.Millisecond); return d.fullDisk.Sync() }

// TestCommitsShareSyncs: commits that arrive during a sync share the next one.
func TestCommitsShareSyncs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &slowDisk{fullDisk{room: 1 << 30}}
		w := newWriter(d, "run.jsonl", Header{})
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				record := fmt.Appendf(nil, `{"index":%d,"a":1}`, i)
				if err := errors.Join(w.Append(i, record), w.Commit()); err != nil {
					t.Error(err)
				}
				if d.synced.Load() == 0 {
					t.Errorf("row %d is not on the disk", i)
				}
			})
		}
		start := time.Now()
		all.Wait()
		if n := d.synced.Load(); n > 3 || time.Since(start) > 30*time.Millisecond {
			t.Errorf("%d syncs for 50 commits at once, %v", n, time.Since(start))
		}
		if err := w.Commit(); err != nil || d.synced.Load() > 3 {
			t.Errorf("a commit of nothing syncs: %v", err)
		}
		if err := errors.Join(w.Close(nil), w.Commit()); err != nil {
			t.Error(err)
		}
	})
	w := newWriter(&fullDisk{room: 10}, "run.jsonl", Header{})
	if err := w.Append(0, []byte(`{"index":0,"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Commit on a full disk said %v", err)
	}
}
