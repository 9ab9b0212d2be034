package sqlite_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

func TestPermissions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	folder := filepath.Join(t.TempDir(), "state", "proviso")
	path := filepath.Join(folder, "proviso.db")
	d := open(t, path, storetest.Options{})
	defer d.Close()
	if _, err := d.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{folder: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has permissions %o, want %o", name, got, want)
		}
	}
}

// execute creates a database without this package.
func execute(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// TestRefused: files of other programs are not changed.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make    func(t *testing.T, path string)
		code    string
		message string
	}{
		"text": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, proviso.Refused, "is not an SQLite database"},
		"another program's": {func(t *testing.T, path string) {
			execute(t, path, "CREATE TABLE bookmarks (url TEXT)")
		}, proviso.Refused, "of another program"},
		"another program's, marked": {func(t *testing.T, path string) {
			execute(t, path, "PRAGMA application_id = 7; PRAGMA user_version = 1")
		}, proviso.Refused, "of another program"},
		"a later one": {func(t *testing.T, path string) {
			open(t, path, storetest.Options{}).Close()
			execute(t, path, "PRAGMA user_version = 99; PRAGMA journal_mode = delete")
		}, proviso.Refused, "written by a later version of proviso (schema 99, this one knows up to "},
		"a folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, proviso.Unavailable, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "proviso.db")
			tt.make(t, path)
			before, _ := os.ReadFile(path)
			d, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err == nil {
				d.Close()
				t.Fatal("it was opened")
			}
			wantCode(t, err, tt.code)
			if !strings.Contains(err.Error(), tt.message) || strings.Count(err.Error(), path) != 1 {
				t.Errorf("the error is %q", err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
	_, err := sqlite.Open(t.Context(), "", sqlite.Options{})
	wantCode(t, err, proviso.Invalid)
	_, err = sqlite.Open(t.Context(), filepath.Join(os.DevNull, "x", "proviso.db"), sqlite.Options{})
	wantCode(t, err, proviso.Unavailable)
}

// TestPaths opens databases whose names contain characters with a meaning in URIs.
func TestPaths(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	names := []string{"with space.db", "100%41.db", "what?mode=memory.db", "a#b.db", "ünï.db", "a&_pragma=x.db", "'.db", "..db"}
	empty := emptyDatabase(t)
	for _, name := range names {
		path := filepath.Join(folder, name)
		copyTo(t, path, empty)
		for before := range 2 {
			d := open(t, path, storetest.Options{})
			l, err := d.ListKeys(t.Context(), store.Page{})
			if err != nil || len(l.Items) != before {
				t.Errorf("%s: %d keys, want %d, %v", name, len(l.Items), before, err)
			}
			if _, _, err := d.CreateKey(t.Context(), store.NewKey{Name: name, Scopes: []store.Scope{store.Read}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			d.Close()
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != len(names) {
		t.Errorf("%d names made these files: %v, %v", len(names), files, err)
	}
}

// TestOpenTogether creates one database concurrently, as several processes would.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			d, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			for range 5 {
				if _, _, err := d.CreateKey(t.Context(), store.NewKey{Name: fmt.Sprint(i), Scopes: []store.Scope{store.Read}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	d := open(t, path, storetest.Options{})
	defer d.Close()
	l, err := d.ListKeys(t.Context(), store.Page{Limit: 100})
	if err != nil || len(l.Items) != 40 {
		t.Errorf("%d keys, %v", len(l.Items), err)
	}
}

// TestSecretsAreNotKept looks for a secret in the bytes of the files.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	defer d.Close()
	k, secret, err := d.CreateKey(t.Context(), store.NewKey{Name: "recognisable", Scopes: []store.Scope{store.Read}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Authenticate(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), k.Name) {
		t.Error("the log does not hold the key, so this test proves nothing")
	}
	if strings.Contains(string(data), secret[len(k.Hint):]) {
		t.Error("the secret is in the file")
	}
}

// TestLogIsFolded: changes reach the database file while it is open.
func TestLogIsFolded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	defer d.Close()
	const size, rows = 2000, 1200
	run, err := d.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if _, err := d.In(store.DefaultProject).AddResults(t.Context(), run.ID, []store.Result{{Index: i, JSON: make([]byte, size)}}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > size*rows/2
	})
}

// TestLogIsBounded: the log stays small under constant writes and reads.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "proviso.db")
	d := open(t, path, storetest.Options{})
	defer d.Close()
	run, err := d.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := d.In(store.DefaultProject).ListResults(t.Context(), run.ID, store.ResultFilter{}, store.Page{Limit: 20}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	const size, rows = 200_000, 350
	var largest int64
	for i := range rows {
		if _, err := d.In(store.DefaultProject).AddResults(t.Context(), run.ID, []store.Result{{Index: i, JSON: make([]byte, size)}}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path + "-wal"); err == nil {
			largest = max(largest, info.Size())
		}
	}
	close(stop)
	readers.Wait()
	t.Logf("the log had %d MiB at most, for %d MiB", largest>>20, size*rows>>20)
	if largest > 48<<20 {
		t.Errorf("the log grew to %d MiB", largest>>20)
	}
}
