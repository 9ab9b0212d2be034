package sqlite

import (
	"context"
	"database/sql"
	"os"
	"time"
)

const (
	foldEvery   = time.Second            // how old changes get before they are folded into the file
	foldChanges = 1000                   // how many gather before they are folded at once
	foldSize    = 8 << 20                // bytes of the log above which writers wait for it to begin anew
	foldWait    = 1000                   // ms that they wait at most, for readers to end
	foldPause   = 500 * time.Millisecond // between such waits
)

// foldLog copies what was written from the write-ahead log into the file, and
// syncs both, while others read and write. Left to itself SQLite does that in the
// commit of whoever fills the log, whose caller, and all behind him, then wait
// for the disk. It also bounds what the end of the power can undo.
func (d *DB) foldLog() {
	defer close(d.folded)
	if d.path == Memory {
		return
	}
	tick := time.NewTicker(foldEvery)
	defer tick.Stop()
	for {
		select {
		case <-d.closing:
			return // the last connection to close folds what is left
		case <-tick.C:
		case <-d.foldSoon:
		}
		if d.written.Swap(0) > 0 {
			d.fold()
		}
		if d.logSize() > foldSize { // whoever reads all the time must not stop all who write
			select {
			case <-d.closing:
			case <-time.After(foldPause):
			}
		}
	}
}

// fold folds the log once. What fails is tried again with the next change.
func (d *DB) fold() {
	_, err := checkpoint(d.folding, "PRAGMA wal_checkpoint(passive)")
	if err == nil && d.logSize() > foldSize {
		// Under constant load the log never happens to be empty.
		_, err = checkpoint(d.folding, "PRAGMA wal_checkpoint(truncate)")
	}
	if err != nil {
		d.options.Logger.Warn("fold the write-ahead log", "database", d.path, "error", err)
		d.written.Add(1)
	}
}

// logSize is how large the log is, in bytes.
func (d *DB) logSize() int64 {
	if d.path == Memory {
		return 0
	}
	info, err := os.Stat(d.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// checkpoint returns how many frames the log has.
func checkpoint(db *sql.DB, pragma string) (frames int, err error) {
	var busy, folded int
	err = db.QueryRowContext(context.Background(), pragma).Scan(&busy, &frames, &folded)
	return frames, err
}

// noteWritten counts changes that are in the log.
func (d *DB) noteWritten(n int) {
	if d.written.Add(int64(n)) < foldChanges && d.logSize() <= foldSize {
		return
	}
	select {
	case d.foldSoon <- struct{}{}:
	default: // it is being told already
	}
}
