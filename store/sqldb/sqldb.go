// Package sqldb stores a server's data in a SQL database and executes runs. Its queries are the
// same for every database; an [Engine] covers the differences: SQL dialect, locking, and the
// meaning of errors.
//
// Writers put the changes of concurrent callers into one transaction: five hundred small writes
// a second cost little more than one. Start at [New]; packages store/sqlite and store/postgres
// open databases, and store/storetest is the contract.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

var (
	_ store.Store = (*DB)(nil)
	_ store.Jobs  = (*DB)(nil)
)

// Engine covers what is specific to one kind of database. Its methods are safe for concurrent
// use.
type Engine interface {
	// Query translates a query of this package to the database's dialect. The result depends
	// only on the text.
	Query(text string) string
	// Args converts query arguments to types that the driver accepts.
	Args(args []any) []any
	// Columns returns rows as a table expression with its arguments, so that one statement fits
	// any number of rows. It returns false if the database has no such form, or none for one of
	// the values.
	Columns(rows [][]any) (table string, args []any, ok bool)
	// Lock makes other transactions that change one of the projects wait until t ends. Changes
	// without a project have the name "".
	Lock(ctx context.Context, t *sql.Tx, projects []string) error
	// Exclude makes other transactions that write to the tables wait until t ends.
	Exclude(ctx context.Context, t *sql.Tx, tables []string) error
	// Scoped reports whether the database itself separates projects. If it does, Enter and
	// EnterTx set the project of the next queries, or [AllProjects].
	Scoped() bool
	Enter(ctx context.Context, c *sql.Conn, project string) error
	EnterTx(ctx context.Context, t *sql.Tx, project string) error
	// Ready is called before each writing transaction; an error prevents it.
	Ready() error
	// Written is called after each transaction with its number of changes.
	Written(changes int)
	// Again reports whether a failed transaction may succeed if repeated at once, because
	// another one was in its way.
	Again(err error) bool
	// Lost reports whether an error means that the database cannot be reached now, for example
	// while it restarts.
	Lost(err error) bool
	// Usable returns why a reachable database cannot be read or written now, or nil. It is
	// called at least once a second.
	Usable(ctx context.Context) error
	// Failed adds a code and the name of the database to an error without a code. doing is a
	// verb, such as "read".
	Failed(doing string, err error) error
	// Erased makes deleted data unreadable in the database files, as far as possible.
	Erased(ctx context.Context) error
	// Alone makes this process the only one that executes runs, until release is called.
	// release is nil if several processes may.
	Alone() (release func() error, err error)
	// Several reports whether several servers may use the database at a time.
	Several() bool
	// Disconnect stops the engine and closes its connections.
	Disconnect() error
}

// AllProjects is the scope of queries for no project, or for all: keys, retention, and the
// execution of runs.
const AllProjects = "*"

// Options configure a database; the zero value is right for a server.
type Options struct {
	Workers int                             // concurrent runs; 0 means 4
	Writers int                             // concurrent writing transactions; 0 means 1
	Poll    time.Duration                   // how often to look for due runs; 0 means a second
	Lease   time.Duration                   // after how long the runs of a silent process are taken over; 0 means 30 seconds
	Retry   func(attempt int) time.Duration // pause after a failed attempt, from 1; nil means 2, 4, 8 … seconds
	Rest    time.Duration                   // how long a process waits before it retries a need that it did not meet; 0 means a minute
	Now     func() time.Time                // nil means time.Now
	Logger  *slog.Logger                    // for errors that the jobs cannot return; nil means none

	Access Access // how this process uses the database
	Uses   []Use  // tables that it uses; nil means all, with every right, or only SELECT for Reading

	// Copied opens a database file for writing even after `proviso store copy` has copied it.
	Copied bool

	// ContentKey seals the contents of events: at least 32 bytes, nil for none. The key of a
	// database cannot change.
	ContentKey []byte
}

// WithDefaults returns the options with zero values replaced.
func (o Options) WithDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Writers <= 0 {
		o.Writers = 1
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Rest <= 0 {
		o.Rest = time.Minute
	}
	if o.Retry == nil {
		o.Retry = func(attempt int) time.Duration { return time.Second << min(attempt, 8) }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// DB is an open database. It implements [store.Store] and [store.Jobs].
type DB struct {
	reader  // reads all projects
	engine  Engine
	options Options
	writing *sql.DB // for the writers
	reading *sql.DB

	changes *changeQueue
	closing chan struct{}
	writers sync.WaitGroup
	close   sync.Once

	queries  sync.Map // prepared queries of the readers: text to *sql.Stmt
	contents contents
	rateSalt atomic.Pointer[[]byte] // salt of endpoint names

	counting sync.Mutex // held while a run of an earlier version is counted

	runner   runner
	offering offering
}

// New returns a store on a migrated database. writing and reading are its connection pools,
// which may be the same; writing must allow o.Writers concurrent transactions. [DB.Close]
// disconnects the engine, as does New if it fails.
func New(ctx context.Context, engine Engine, writing, reading *sql.DB, o Options) (*DB, error) {
	d := &DB{engine: engine, options: o.WithDefaults(), writing: writing, reading: reading,
		closing: make(chan struct{})}
	d.reader = reader{d, AllProjects}
	d.changes = newChangeQueue(d.options.Writers)
	if d.options.uses("content_key") {
		if err := d.openContents(ctx); err != nil {
			return nil, errors.Join(d.failed("open", err), engine.Disconnect())
		}
	}
	for range d.options.Writers {
		d.writers.Go(d.writeChanges)
	}
	return d, nil
}

// closeWait is how long Close waits for the jobs.
const closeWait = 5 * time.Second

// Close stops the jobs, waits for current changes, and disconnects.
func (d *DB) Close() error {
	var err error
	d.close.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeWait)
		defer cancel()
		err = d.Stop(ctx)
		close(d.closing)
		d.writers.Wait()
		err = errors.Join(err, d.engine.Disconnect())
	})
	return d.failed("close", err)
}

// Ping reports whether the database can be read and written. It writes nothing, since it may be
// called without a key.
func (d *DB) Ping(ctx context.Context) error {
	var one int
	if err := d.queryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		return d.failed("reach", err)
	}
	if err := d.engine.Ready(); err != nil {
		return d.failed("write", err)
	}
	if err := d.engine.Usable(ctx); err != nil {
		return d.failed("read", err)
	}
	if err := d.unsealed(d.queryRow(ctx, anyKey)); err != nil {
		return d.failed("write", err)
	}
	return d.change(ctx, "reach", func(*tx) error { return nil })
}

// failed adds a code and the operation to an error of the database. It returns errors that have
// a code, and context errors, unchanged.
func (d *DB) failed(doing string, err error) error {
	var e *proviso.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case d.isClosed():
		return errClosed()
	}
	return d.engine.Failed(doing, err)
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

// project is the data of one project. Its methods access nothing else.
type project struct {
	*DB
	reader
	name store.Project
}

var _ store.ProjectStore = project{}

// In implements [store.Store].
func (d *DB) In(p store.Project) store.ProjectStore { return project{d, reader{d, string(p)}, p} }

// conditions returns the conditions for the project's rows.
func (d project) conditions(column string) conditions {
	var c conditions
	c.add(column+" = ?", string(d.name))
	return c
}
