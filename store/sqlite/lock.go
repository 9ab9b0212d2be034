package sqlite

import (
	"database/sql"
	"errors"

	codes "modernc.org/sqlite/lib"

	"github.com/proviso-eval/proviso"
)

// lock keeps other processes from executing the runs of a database. It is a SQLite transaction
// on an empty database beside ours, because on every system, SQLite locks end with the process,
// however it ends.
type lock struct {
	db *sql.DB
	tx *sql.Tx
}

// Alone implements [sqldb.Engine].
func (e *engine) Alone() (release func() error, err error) {
	l, err := e.takeLock()
	if err != nil {
		return nil, err
	}
	return l.release, nil
}

// takeLock makes this process the only one that executes the runs.
func (e *engine) takeLock() (*lock, error) {
	if e.path == Memory {
		return &lock{}, nil
	}
	path := e.path + ".lock"
	if err := makeFile(path); err != nil {
		return nil, e.named("lock", err)
	}
	var l lock
	var err error
	if l.db, err = sql.Open("sqlite", fileURI(path)+"?_pragma=busy_timeout(0)&_txlock=exclusive"); err != nil {
		return nil, e.named("lock", err)
	}
	if l.tx, err = l.db.Begin(); err == nil {
		return &l, nil
	}
	if n := codeOf(err); n == codes.SQLITE_BUSY || n == codes.SQLITE_LOCKED {
		err = proviso.Because(err, proviso.Refused, "another process executes the runs of %s", e.path)
	}
	return nil, errors.Join(e.named("lock", err), l.db.Close())
}

// release ends the lock.
func (l *lock) release() error {
	if l.db == nil {
		return nil
	}
	return errors.Join(l.tx.Rollback(), l.db.Close())
}
