package sqlite

import (
	"context"
	"database/sql"
	"time"
)

const (
	foldEvery   = time.Second // how old changes get before they are folded into the file
	foldChanges = 1000        // how many gather before they are folded at once
	foldFrames  = 16_384      // pages in the log, 64 MB, above which writers wait for it to begin anew
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
	}
}

// fold folds the log once. What fails is tried again with the next change.
func (d *DB) fold() {
	const passive, restart = "PRAGMA wal_checkpoint(passive)", "PRAGMA wal_checkpoint(restart)"
	frames, err := checkpoint(d.folding, passive)
	if err == nil && frames > foldFrames {
		// Under constant load the log never happens to be empty.
		_, err = checkpoint(d.folding, restart)
	}
	if err != nil {
		d.options.Logger.Warn("fold the write-ahead log", "database", d.path, "error", err)
		d.written.Add(1)
	}
}

// checkpoint returns how many frames the log has.
func checkpoint(db *sql.DB, pragma string) (frames int, err error) {
	var busy, folded int
	err = db.QueryRowContext(context.Background(), pragma).Scan(&busy, &frames, &folded)
	return frames, err
}

// noteWritten counts changes that are in the log.
func (d *DB) noteWritten(n int) {
	if d.written.Add(int64(n)) < foldChanges {
		return
	}
	select {
	case d.foldSoon <- struct{}{}:
	default: // it is being told already
	}
}
