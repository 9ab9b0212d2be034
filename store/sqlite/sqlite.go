// Package sqlite stores everything of a server in one SQLite file, in this
// process, and executes runs with River in the same file: a run and its job are
// written in one transaction. It needs no database server and no C compiler.
//
// One connection writes. The changes of concurrent callers share a transaction,
// so that five hundred small writes a second cost little more than one. Readers
// do not wait (WAL). Start at [Open]; store/storetest is the contract.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver, registered as "sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

var (
	_ store.Store = (*DB)(nil)
	_ store.Jobs  = (*DB)(nil)
)

// Memory is the path of an in-memory database, which is lost when it is closed.
const Memory = ":memory:"

// Options configure a database; the zero value is right for a server.
type Options struct {
	Workers int                             // runs that are executed at a time; 0 means defaultWorkers
	Poll    time.Duration                   // how often to look for runs to be tried again; 0 means a second
	Retry   func(attempt int) time.Duration // the pause after a failed attempt, from 1; nil means 2, 4, 8 … seconds
	Now     func() time.Time                // nil means time.Now
	Logger  *slog.Logger                    // for warnings of the job queue; nil means none

	// ContentKey seals the contents of events: at least 32 bytes, nil for none. A database
	// has one key for good.
	ContentKey []byte
}

// defaultWorkers is the default number of concurrent runs.
const defaultWorkers = 4

const (
	readers     = 4               // connections that read
	busyTimeout = 5 * time.Second // for another process, such as proviso key, to finish its write
)

// DB is an open database. It implements [store.Store] and [store.Jobs].
type DB struct {
	path    string
	options Options

	writing *sql.DB // one connection
	reading *sql.DB // read-only connections; in memory the same as writing
	folding *sql.DB // one connection for checkpoints; in memory the same as writing

	changes  chan *change
	written  atomic.Int64  // changes since the log was folded
	foldSoon chan struct{} // there are many of them
	// foldedByWriter is when the writer folded the log last; only the writer uses it.
	foldedByWriter time.Time
	closing        chan struct{}
	stopped        chan struct{} // the writer has ended
	folded         chan struct{} // foldLog has ended
	close          sync.Once

	statements map[string]*sql.Stmt // prepared statements of the writer, which alone uses them
	queries    sync.Map             // of the readers: text to *sql.Stmt

	contents contents

	counting sync.Mutex // held while a run of an earlier version is counted

	jobs jobs
}

// Open opens a database. It creates a missing one and migrates an older one.
// Only the owner can read the file (0600), and a new folder for it (0700). A
// database of a later version of proviso, or a file that is not a database of
// proviso, is an error.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if path == "" {
		return nil, proviso.Errorf(proviso.Invalid, "no path is given for the database")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Retry == nil {
		o.Retry = doubling
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &DB{path: path, options: o, statements: map[string]*sql.Stmt{},
		changes: make(chan *change), foldSoon: make(chan struct{}, 1),
		closing: make(chan struct{}), stopped: make(chan struct{}), folded: make(chan struct{})}
	if err := d.connect(ctx); err != nil {
		return nil, errors.Join(d.failed("open", err), d.disconnect())
	}
	go d.writeChanges()
	go d.foldLog()
	return d, nil
}

// doubling is the pause after a failed attempt.
func doubling(attempt int) time.Duration { return time.Second << min(attempt, 8) }

// connect creates the file, opens the connections, and migrates.
func (d *DB) connect(ctx context.Context) error {
	if d.path != Memory {
		if err := makeFile(d.path); err != nil {
			return err
		}
	}
	var err error
	if d.writing, err = sql.Open("sqlite", d.source("_txlock=immediate")); err != nil {
		return err
	}
	d.writing.SetMaxOpenConns(1)
	if err := d.migrate(ctx); err != nil {
		return err
	}
	if d.reading, d.folding = d.writing, d.writing; d.path != Memory {
		if d.reading, err = sql.Open("sqlite", d.source("_pragma=query_only(1)")); err != nil {
			return err
		}
		d.reading.SetMaxOpenConns(readers)
		d.reading.SetMaxIdleConns(readers)
		if d.folding, err = sql.Open("sqlite", d.source("")); err != nil {
			return err
		}
		d.folding.SetMaxOpenConns(1)
		if _, err = d.folding.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", foldWait)); err != nil {
			return err
		}
	}
	if err := d.openContents(ctx); err != nil {
		return err
	}
	return d.jobs.connect(d)
}

// makeFile creates an empty database that only its owner can read; an existing
// one keeps its permissions.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// source is the data source name, with the settings of every connection.
func (d *DB) source(more string) string {
	settings := fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)&%s",
		busyTimeout.Milliseconds(), more)
	if d.path == Memory {
		return "file::memory:?" + settings
	}
	// NORMAL: a commit survives the death of the process. A power failure may
	// undo the last commits, but never a part of one.
	settings += "&_pragma=synchronous(normal)&_pragma=journal_size_limit(8388608)&_pragma=wal_autocheckpoint(0)"
	return fileURI(d.path) + "?" + settings
}

// fileURI is the URI of a file for SQLite, whatever characters its path has.
func fileURI(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	path = filepath.ToSlash(path)
	if path[0] != '/' { // a Windows drive
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Close stops the jobs, waits for current changes, and closes the file.
func (d *DB) Close() error {
	var err error
	d.close.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), busyTimeout)
		defer cancel()
		err = d.Stop(ctx)
		close(d.closing)
		<-d.stopped
		<-d.folded
		err = errors.Join(err, d.disconnect())
	})
	return d.failed("close", err)
}

func (d *DB) disconnect() error {
	var err error
	for _, db := range [...]*sql.DB{d.reading, d.folding, d.writing} {
		if db != nil {
			err = errors.Join(err, db.Close()) // a second time does nothing
		}
	}
	return err
}

// leastRoom is the free space below which the disk counts as full. SQLite uses the room
// of its log again, so that small writes still succeed when others fail.
const leastRoom = 1 << 20

// Ping reports whether the database can be read and written. The error is
// [store.ErrNoRoom] if the disk is full. It writes nothing, since anybody may ask.
func (d *DB) Ping(ctx context.Context) error {
	var one int
	if err := d.queryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		return d.failed("reach", err)
	}
	if d.path != Memory {
		if free, err := freeBytes(filepath.Dir(d.path)); err == nil && free < leastRoom {
			return proviso.Because(store.ErrNoRoom, proviso.Unavailable, "write the database %s: %v", d.path, store.ErrNoRoom)
		}
	}
	return d.change(ctx, "reach", func(*tx) error { return nil })
}

// failed adds a code and the operation to an error of the database. Errors that
// have a code, and errors of a context, are returned unchanged.
func (d *DB) failed(doing string, err error) error {
	var e *proviso.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case d.isClosed():
		return errClosed()
	case codeOf(err) == codes.SQLITE_FULL:
		return proviso.Because(fmt.Errorf("%w: %w", store.ErrNoRoom, err), proviso.Unavailable, "%s the database %s: %v", doing, d.path, store.ErrNoRoom)
	case errors.As(err, new(*fs.PathError)): // it tells the path
		return proviso.Errorf(proviso.Unavailable, "%s the database: %w", doing, err)
	}
	return proviso.Errorf(proviso.Unavailable, "%s the database %s: %w", doing, d.path, err)
}

func (d *DB) isClosed() bool {
	select {
	case <-d.closing:
		return true
	default:
		return false
	}
}

func errClosed() error { return proviso.Errorf(proviso.Unavailable, "the store is closed") }
