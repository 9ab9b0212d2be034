package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// disk replaces the files that the watch reads.
type disk struct {
	mu    sync.Mutex
	files map[string]stamp
}

func (d *disk) stat(path string) stamp {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.files[path]
}

func (d *disk) write(path string, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[path] = stamp{is: aFile, size: size, written: time.Now()}
}

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{files: map[string]stamp{}}
		w := New()
		w.stat = d.stat
		for _, name := range []string{"/s/a", "/s/b", "/s/missing"} {
			if name != "/s/missing" {
				d.write(name, 1)
			}
			w.Add(name)
		}
		if got := w.folders(); !slices.Equal(got, []string{"/s"}) || w.Count() != 2 {
			t.Errorf("watching %d files in %v", w.Count(), got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		woken := make(chan struct{}, 1)
		result := make(chan []string, 1)
		wait := func() { go func() { result <- w.wait(ctx, woken) }() }
		wait()
		woken <- struct{}{} // an irrelevant event
		synctest.Wait()
		if len(result) != 0 {
			t.Fatal("nothing changed, and the wait is over")
		}

		// A file that is written in several steps is reported only once it is complete,
		// and so is a new file.
		start := time.Now()
		woken <- struct{}{}
		for i := range 5 {
			d.write("/s/a", int64(10+i))
			synctest.Wait()
			time.Sleep(settled / 2)
		}
		d.write("/s/missing", 1)
		got := <-result
		if !slices.Equal(got, []string{"/s/a", "/s/missing"}) {
			t.Errorf("changed: %v", got)
		}
		if took := time.Since(start); took < 3*settled || took > 5*settled {
			t.Errorf("settled after %v", took)
		}

		// A change during the run is reported at once; a reverted change is not reported.
		d.files["/s/b"] = stamp{}
		if got := w.wait(ctx, woken); !slices.Contains(got, "/s/b") {
			t.Errorf("a deleted file: %v", got)
		}
		w.stamps = map[string]stamp{}
		w.Add("/s/a")
		was := d.stat("/s/a")
		wait()
		d.write("/s/a", 99)
		woken <- struct{}{}
		synctest.Wait()
		d.mu.Lock()
		d.files["/s/a"] = was
		d.mu.Unlock()
		synctest.Wait()
		time.Sleep(2 * settled)
		if len(result) != 0 {
			t.Errorf("changed back, and still %v", <-result)
		}
		cancel()
		if got := <-result; got != nil {
			t.Errorf("after Ctrl-C: %v", got)
		}
	})
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	report := put("report.json")
	w := New()
	w.Add(dir)
	w.Add(report)
	w.Add(filepath.Join(dir, "runs"))
	w.Add(filepath.Join(dir, "runs", "x", "y.csv"))
	w.Ignore([]string{report, filepath.Join(dir, "new.html"), filepath.Join(dir, "runs")})
	if err := os.MkdirAll(filepath.Join(dir, "runs", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	put("runs/x/y.csv")
	put(".report.json.tmp")
	put("new.html")
	if err := os.Remove(report); err != nil {
		t.Fatal(err)
	}
	if got := w.changed(); len(got) != 0 {
		t.Errorf("reports changed %v", got)
	}
	put("cases.csv")
	if got := w.changed(); !slices.Equal(got, []string{dir}) {
		t.Errorf("a new file changed %v", got)
	}
}
