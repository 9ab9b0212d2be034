package report_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

func write(ctx context.Context, t testing.TB, name string, rows report.Rows) error {
	t.Helper()
	f, err := report.ForFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return report.Write(ctx, name, f, meta(), report.NewSummary(1), rows)
}

// fakeRows yields n rows and then ends with an error, or calls each before a row.
type fakeRows struct {
	n    int
	err  error
	each func(int)
}

func (f *fakeRows) Err() error                    { return f.err }
func (f *fakeRows) Row(index int) ([]byte, error) { return nil, errors.New("not here") }
func (f *fakeRows) Rows() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := range f.n {
			if f.each != nil {
				f.each(i)
			}
			if !yield(i, []byte(`{"index":0,"a":1}`)) {
				return
			}
		}
	}
}

// checkFolder fails if a folder contains anything except the one file.
func checkFolder(t *testing.T, name, content string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != content {
		t.Errorf("the file holds %q, %v", got, err)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestWriteReplaces(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "new", "folder", "out.jsonl")
	for _, n := range []int{3, 1} {
		if err := write(context.Background(), t, name, &fakeRows{n: n}); err != nil {
			t.Fatal(err)
		}
	}
	checkFolder(t, name, "{\"index\":0,\"a\":1}\n")
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWriteFailureKeepsTheOldFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("cannot be read")
	ctx, cancel := context.WithCancel(context.Background())
	for name, rows := range map[string]*fakeRows{
		"rows":     {n: 10, err: broken},
		"canceled": {n: 10000, each: func(int) { cancel() }},
	} {
		path := filepath.Join(t.TempDir(), "out.json")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := write(ctx, t, path, rows)
		if !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		checkFolder(t, path, "old")
	}
}

func TestWriteThroughLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "a", "real.jsonl"), filepath.Join(dir, "link.jsonl")
	if err := errors.Join(os.Mkdir(filepath.Dir(target), 0o755), os.WriteFile(target, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := write(context.Background(), t, link, &fakeRows{n: 1}); err != nil {
		t.Fatal(err)
	}
	checkFolder(t, target, "{\"index\":0,\"a\":1}\n")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

func TestWriteToAFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "x.json")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(context.Background(), t, dir, &fakeRows{}); err == nil {
		t.Error("a folder was written to")
	}
}

// The full disk is Linux's /dev/full, which is written to directly.
func TestWriteToAFullDevice(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	link := filepath.Join(t.TempDir(), "out.json")
	if err := os.Symlink("/dev/full", link); err != nil {
		t.Skip(err)
	}
	if err := write(context.Background(), t, link, &fakeRows{n: 1}); err == nil {
		t.Error("a full device took the report")
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	last := ""
	seen := map[string]bool{}
	for _, f := range report.Formats() {
		if f.Name <= last || f.Doc == "" || f.Render == nil {
			t.Errorf("row %q is incomplete or out of order", f.Name)
		}
		last = f.Name
		if byName, err := report.ForName(f.Name); err != nil || byName.Name != f.Name {
			t.Errorf("%s is not found by its name: %v", f.Name, err)
		}
		for _, suffix := range f.Suffixes {
			if seen[suffix] {
				t.Errorf("two formats have %s", suffix)
			}
			seen[suffix] = true
			if got, err := report.ForFile("dir.json/report" + suffix); err != nil || got.Name != f.Name {
				t.Errorf("%s is %s, %v", suffix, got.Name, err)
			}
		}
	}
	var e *proviso.Error
	if _, err := report.ForFile("x.docx"); !errors.As(err, &e) || e.Code != proviso.Invalid || len(e.Valid) != len(seen) {
		t.Errorf("an unknown suffix: %v", err)
	}
	if _, err := report.ForName("docx"); !errors.As(err, &e) || len(e.Valid) != len(report.Formats()) {
		t.Errorf("an unknown name: %v", err)
	}
}
