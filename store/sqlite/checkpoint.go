package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"time"
)

const (
	foldEvery   = time.Second            // maximum age of changes before they are folded into the file
	foldChanges = 1000                   // number of changes that are folded at once
	foldSize    = 8 << 20                // size of the log in bytes above which writers wait until it restarts
	foldWait    = 1000                   // ms that they wait at most, for readers to end
	foldPause   = 500 * time.Millisecond // between such waits
	writerFolds = 32 << 20               // size of the log in bytes above which the writer folds it itself
	writerPause = 2 * time.Second        // between such folds: a reader that stays must not stop the writer
)

// foldLog copies the write-ahead log into the database file and syncs both,
// while others read and write. By default SQLite does that in the commit that
// fills the log, so that this caller and all that follow wait for the disk. It
// also bounds how much a power failure can undo.
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
			return // the last connection to close folds what is left
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
	_, err := checkpoint(e.folding, "PRAGMA wal_checkpoint(passive)")
	if err == nil && e.logSize() > foldSize {
		// Under constant load the log is never empty.
		_, err = checkpoint(e.folding, "PRAGMA wal_checkpoint(truncate)")
	}
	if err != nil {
		e.options.Logger.Warn("fold the write-ahead log", "database", e.path, "error", err)
		e.written.Add(1)
	}
}

// roomToFold is [store.ErrNoRoom] if one more change could leave a log that cannot be
// folded: the file may grow by as much as the log has, and the log takes that room. Such
// a database would stay full for ever, even if most of the log is of old versions of few
// pages. Only the writer calls it.
func (e *engine) roomToFold() error {
	size := e.logSize()
	if size == 0 {
		return nil
	}
	if size > writerFolds && time.Since(e.foldedByWriter) > writerPause {
		_, _ = checkpoint(e.folding, "PRAGMA wal_checkpoint(truncate)") // foldLog reports what fails
		e.foldedByWriter, size = time.Now(), e.logSize()
	}
	dir := filepath.Dir(e.path)
	if free, err := freeBytes(dir); err != nil || free >= uint64(size) {
		return nil
	}
	if _, err := checkpoint(e.folding, "PRAGMA wal_checkpoint(truncate)"); err != nil {
		return err
	}
	size = e.logSize() // a reader of an earlier state keeps the log
	if free, err := freeBytes(dir); err != nil || free >= uint64(size) {
		return nil
	}
	return e.noRoom()
}

// logSize is the size of the log in bytes.
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

// checkpoint returns the number of frames in the log.
func checkpoint(db *sql.DB, pragma string) (frames int, err error) {
	var busy, folded int
	err = db.QueryRowContext(context.Background(), pragma).Scan(&busy, &frames, &folded)
	return frames, err
}

// noteWritten counts the changes in the log.
func (e *engine) noteWritten(n int) {
	if e.written.Add(int64(n)) < foldChanges && e.logSize() <= foldSize {
		return
	}
	select {
	case e.foldSoon <- struct{}{}:
	default: // it has been notified already
	}
}
