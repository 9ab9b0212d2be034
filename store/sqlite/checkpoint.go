package sqlite

import (
	"os"
	"path/filepath"
	"time"
)

const (
	foldEvery   = time.Second            // maximum age of changes before a checkpoint
	foldChanges = 1000                   // number of changes that cause a checkpoint
	foldSize    = 8 << 20                // log size in bytes above which writers wait until the log restarts
	foldWait    = 1000                   // ms that writers wait at most for readers to end
	foldPause   = 500 * time.Millisecond // pause between such waits
	writerFolds = 32 << 20               // log size in bytes above which the writer does a checkpoint itself
	writerPause = 2 * time.Second        // pause between those, so that a long reader does not stop the writer
)

// foldLog copies the write-ahead log into the database file (a checkpoint) and syncs both,
// concurrently with readers and writers. By default SQLite does that in the commit that fills
// the log, so that its caller and all later ones wait for the disk. foldLog also limits how
// much a power failure can undo.
func (e *engine) foldLog() {
	defer close(e.folded)
	if e.path == Memory {
		return
	}
	tick := time.NewTicker(foldEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.closing:
			return // the last connection to close folds the rest
		case <-tick.C:
		case <-e.foldSoon:
		}
		if e.written.Swap(0) > 0 {
			e.fold()
		}
		if e.logSize() > foldSize { // constant readers must not block all writers
			select {
			case <-e.closing:
			case <-time.After(foldPause):
			}
		}
	}
}

// fold folds the log once. A failed attempt is repeated with the next change.
func (e *engine) fold() {
	_, err := e.checkpoint("passive")
	if err == nil && e.logSize() > foldSize {
		// Under constant load the log is never empty.
		_, err = e.checkpoint("truncate")
	}
	if err != nil {
		e.options.Logger.Warn("fold the write-ahead log", "database", e.path, "error", err)
		e.written.Add(1)
	}
}

// roomToFold returns [store.ErrNoRoom] if one more change could leave a log that cannot be
// folded: the file may grow by the size of the log, while the log still takes that space. Such
// a database would stay full for ever, even if most of the log consists of old versions of few
// pages. Only the writer calls it.
func (e *engine) roomToFold() error {
	size := e.logSize()
	if size == 0 {
		return nil
	}
	if size > writerFolds && time.Since(e.foldedByWriter) > writerPause {
		_, _ = e.checkpoint("truncate") // foldLog reports errors
		e.foldedByWriter, size = time.Now(), e.logSize()
	}
	dir := filepath.Dir(e.path)
	if free, err := freeBytes(dir); err != nil || free >= uint64(size) {
		return nil
	}
	if _, err := e.checkpoint("truncate"); err != nil {
		return err
	}
	size = e.logSize() // a reader of an old snapshot keeps the log
	if free, err := freeBytes(dir); err != nil || free >= uint64(size) {
		return nil
	}
	return e.noRoom()
}

// logSize returns the size of the log in bytes.
func (e *engine) logSize() int64 {
	if e.path == Memory {
		return 0
	}
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// checkpoint folds the log in a mode, and reports whether a reader or writer prevented that.
func (e *engine) checkpoint(mode string) (busy bool, err error) {
	var frames, folded int
	err = e.folding.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &folded)
	return busy, err
}

// noteWritten counts the changes in the log.
func (e *engine) noteWritten(n int) {
	if e.written.Add(int64(n)) < foldChanges && e.logSize() <= foldSize {
		return
	}
	select {
	case e.foldSoon <- struct{}{}:
	default: // already notified
	}
}
