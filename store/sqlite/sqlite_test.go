package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

// open opens a database for a test, with short pauses.
func open(t testing.TB, path string, o storetest.Options) *sqlite.DB {
	t.Helper()
	d, err := sqlite.Open(t.Context(), path, sqlite.Options{
		Now: o.Now, Workers: o.Workers, Poll: 5 * time.Millisecond,
		Retry: func(int) time.Duration { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// until waits for a condition that another goroutine fulfils.
func until(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("waited in vain")
		}
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		empty := emptyDatabase(t)
		storetest.Run(t, storetest.Target{Open: func(t testing.TB, path string, o storetest.Options) storetest.Backend {
			if _, err := os.Stat(path); err != nil {
				copyTo(t, path, empty)
			}
			return open(t, path, o)
		}})
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		if testing.Short() {
			t.Skip("the same but for the connections, of which it has one")
		}
		groups := []string{"projects", "documents", "results", "jobs", "pages"} // groups that read in several steps, or beside the writer
		storetest.Run(t, storetest.Target{Forgets: true, Groups: groups, Open: func(t testing.TB, _ string, o storetest.Options) storetest.Backend {
			return open(t, sqlite.Memory, o)
		}})
	})
}

func copyTo(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// emptyDatabase returns the bytes of a database that was just made, because
// making one takes longer than most tests.
func emptyDatabase(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "empty.db")
	if err := open(t, path, storetest.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// BenchmarkOpen opens an existing database, and creates a new one.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "proviso.db")
	open(b, path, storetest.Options{}).Close()
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			open(b, path, storetest.Options{}).Close()
		}
	})
	b.Run("new", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			open(b, fmt.Sprint(path, n), storetest.Options{}).Close()
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			open(b, sqlite.Memory, storetest.Options{}).Close()
		}
	})
}
