package sqlite

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// TestLogOnFullDisk: a reader of an old snapshot keeps the log from being folded, while the
// same few pages are written again and again. The log fills the disk only so far that it can be
// folded once the reader has ended, without any clean-up.
func TestLogOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small disk: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	d, err := Open(t.Context(), filepath.Join(dir, "proviso.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	long := strings.Repeat("x", 100_000)
	write := func(id string) error {
		err := d.engine.Ready()
		if err == nil {
			_, err = d.engine.writing.Exec("INSERT OR REPLACE INTO run (id, suite, version, created_by, status, created, error) VALUES (?, '', '', '', '', 0, ?)", id, long)
			d.engine.Written(1)
		}
		return err
	}
	if err := write("a"); err != nil {
		t.Fatal(err)
	}
	reader, err := d.engine.reading.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM run").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil && i < 1000; i++ {
		err = write(string(rune('a' + i%30)))
	}
	if !errors.Is(err, store.ErrNoRoom) {
		t.Fatalf("with a log that cannot be folded: %v", err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for err = write("b"); err != nil && ctx.Err() == nil; err = write("b") {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("after the reader has ended: %v; the log has %d bytes", err, d.engine.logSize())
	}
}
