package blobs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

func put(t *testing.T, s *blobs.Store, key string, v any) {
	t.Helper()
	if err := s.Put(key, value.ObjectOf("v", v)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s *blobs.Store, key string) any {
	t.Helper()
	o, _, err := s.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	return o.At("v")
}

func TestKey(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"a", "b", "c"}} {
		key := blobs.Key(parts...)
		if other, twice := seen[key]; twice || len(key) != 64 {
			t.Errorf("%q and %q have the key %q", parts, other, key)
		}
		seen[key] = parts
	}
}

func TestPutAndGet(t *testing.T) {
	t.Parallel()
	s := blobs.Open(filepath.Join(t.TempDir(), "not", "yet"))
	key := blobs.Key("x")
	if got := get(t, s, key); got != nil {
		t.Errorf("an empty store holds %v", got)
	}
	put(t, s, key, "first")
	put(t, s, key, "second\ud7ff")
	if got := get(t, s, key); got != "second\ud7ff" {
		t.Errorf("got %v", got)
	}
	want := filepath.Join(s.Dir(), key[:2], key[2:]+".json")
	data, err := os.ReadFile(want)
	if err != nil || !strings.HasPrefix(string(data), "{\n  \"v\": ") {
		t.Errorf("%s holds %q, %v", want, data, err)
	}
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]fs.FileMode{want: 0o600, filepath.Dir(want): 0o700, s.Dir(): 0o700} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s has the mode %v, %v; want %v", name, info.Mode(), err, mode)
			}
		}
	}
	if err := s.Delete(key); err != nil || get(t, s, key) != nil {
		t.Errorf("after Delete: %v, %v", err, get(t, s, key))
	}
	if err := s.Delete(key); err != nil {
		t.Errorf("deleting nothing: %v", err)
	}
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	s := blobs.Open(t.TempDir())
	for _, key := range []string{"", "ab", "../../etc/passwd", strings.Repeat("A", 64), strings.Repeat("/", 64), strings.Repeat("a", 65)} {
		if err := s.Put(key, value.NewObject(0)); err == nil {
			t.Errorf("%q is taken as a key", key)
		}
		if _, _, err := s.Get(key); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("reading %q gives %v", key, err)
		}
		if err := s.Delete(key); err == nil {
			t.Errorf("%q can be deleted", key)
		}
	}
}

// TestBrokenEntries cuts an entry at every byte.
func TestBrokenEntries(t *testing.T) {
	t.Parallel()
	s := blobs.Open(t.TempDir())
	key := blobs.Key("x")
	put(t, s, key, []any{"text", 1.0, nil})
	whole, err := os.ReadFile(s.Path(key))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 1 { // without the last newline it is whole
		if err := os.WriteFile(s.Path(key), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := s.Get(key)
		if n == len(whole)-1 {
			break
		}
		if err != nil || got != nil {
			t.Fatalf("cut after %d bytes: %v, %v", n, got, err)
		}
		if _, err := os.Stat(s.Path(key)); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("cut after %d bytes: the file is still there", n)
		}
	}
}

func TestWalkAndClear(t *testing.T) {
	t.Parallel()
	s := blobs.Open(t.TempDir())
	for info, err := range blobs.Open(filepath.Join(s.Dir(), "missing")).Walk() {
		t.Errorf("a missing folder has %v, %v", info, err)
	}
	want := map[string]bool{}
	for i := range 50 {
		key := blobs.Key(fmt.Sprint(i))
		want[key] = true
		put(t, s, key, float64(i))
	}
	mine := filepath.Join(s.Dir(), "notes.txt")
	also := filepath.Join(filepath.Dir(s.Path(blobs.Key("0"))), "mine.json")
	left := filepath.Join(filepath.Dir(s.Path(blobs.Key("0"))), ".part-123")
	for _, name := range []string{mine, also, left} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	last := ""
	for info, err := range s.Walk() {
		if err != nil || !want[info.Key] || info.Key <= last || info.Size == 0 || info.Written.IsZero() {
			t.Errorf("walked to %+v, %v", info, err)
		}
		last = info.Key
		delete(want, info.Key)
	}
	if len(want) != 0 {
		t.Errorf("%d entries were not walked to", len(want))
	}
	for range s.Walk() {
		break
	}
	if n, err := s.Clear(); n != 50 || err != nil {
		t.Errorf("cleared %d, %v", n, err)
	}
	for _, name := range []string{mine, also} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("what is no entry is gone: %v", err)
		}
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a half-written entry is still there")
	}
	if list, _ := os.ReadDir(s.Dir()); len(list) != 2 {
		t.Errorf("%d things are left, want the notes and one folder", len(list))
	}
}

// TestTwoStores has writers, readers and deleters on one folder, like two processes.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			s := blobs.Open(dir)
			for i := range 100 {
				key := blobs.Key(fmt.Sprint(i % 5))
				text := strings.Repeat(fmt.Sprint(w), 1000)
				if err := s.Put(key, value.ObjectOf("v", text)); err != nil {
					t.Error(err)
				}
				o, _, err := s.Get(key)
				if v, ok := o.At("v").(string); err != nil || o != nil && (!ok || strings.Trim(v, v[:1]) != "") {
					t.Errorf("a mixed entry: %v, %v", v, err)
				}
				if i%10 == 0 {
					if err := s.Delete(key); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	list, err := filepath.Glob(filepath.Join(dir, "*", ".part-*"))
	if err != nil || len(list) != 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

func TestUnwritable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := blobs.Open(file).Put(blobs.Key("x"), value.NewObject(0)); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestWriteBy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	text := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	if err := blobs.WriteBy(dir, 0o644, text); !errors.Is(err, blobs.ErrFolder) {
		t.Errorf("a folder: %v", err)
	}
	broken := errors.New("broken")
	if err := blobs.WriteBy(name, 0o644, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("an error of the writer: %v", err)
	}
	if err := blobs.WriteBy(name, 0o644, text); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	data, readErr := os.ReadFile(name)
	if err != nil || readErr != nil || len(list) != 1 || string(data) != "new" {
		t.Errorf("the folder has %v, and the file %q: %v, %v", list, data, err, readErr)
	}
}
