//go:build unix

package files_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/store"
)

// TestPipe: a pipe in place of a run file blocks nothing.
func TestPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := finished(t, dir, header("good", 3))
	broken := finished(t, dir, header("broken", 3))
	path := filepath.Join(dir, broken, runfile.FileName)
	if err := syscall.Unlink(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	_, p := open(t, dir)
	if r := runOf(t, p, broken); r.Status != store.Failed || !strings.Contains(r.Error, "is not a regular file") {
		t.Errorf("%+v", r)
	}
	if r := runOf(t, p, id); r.Status != store.Done {
		t.Errorf("%+v", r)
	}
	if _, err := runfile.Open(path); err == nil {
		t.Error("a pipe is a run")
	}
}
