package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWriterFolds: if the log grows faster than it is folded beside the writer, the writer folds
// it. Changes that are not counted leave all folding to the writer.
func TestWriterFolds(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "proviso.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	long, largest := strings.Repeat("x", 1<<20), int64(0)
	for range 3 * writerFolds / len(long) {
		if err := d.engine.Ready(); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, d.engine.logSize())
		if _, err := d.engine.writing.Exec("INSERT OR REPLACE INTO run (id, suite, version, created_by, status, created, error) VALUES ('a', '', '', '', '', 0, ?)", long); err != nil {
			t.Fatal(err)
		}
		d.engine.foldedByWriter = d.engine.foldedByWriter.Add(-writerPause) // the pause is over
	}
	if largest < writerFolds/2 || largest > writerFolds+2<<20 {
		t.Errorf("the log had %d MiB at most, want about %d", largest>>20, writerFolds>>20)
	}
}
