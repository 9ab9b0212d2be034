// Package sqldb keeps everything of a server in a SQL database, and executes runs. Its
// queries are the same for every database; an [Engine] says what differs: how a query is
// written, how writers keep out of each other's way, and what an error means.
//
// Changes go through writers, which put the changes of concurrent callers into one
// transaction: five hundred small writes a second cost little more than one. Start at [New];
// packages store/sqlite and store/postgres open databases, and store/storetest is the
// contract.
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

// Engine is what one kind of database does in its own way. Its methods are safe for
// concurrent use.
type Engine interface {
	// Query returns a query of this package as the database wants it. The result depends on
	// the text alone.
	Query(text string) string
	// Args returns the arguments of a query in types that the database takes.
	Args(args []any) []any
	// Columns returns rows as a table in a query, with its arguments, so that one statement
	// fits any number of rows; false if the database, or one of the values, has no such form.
	Columns(rows [][]any) (table string, args []any, ok bool)
	// Lock makes other transactions that change one of the projects wait until t ends.
	// Changes that are of no project have the name "".
	Lock(ctx context.Context, t *sql.Tx, projects []string) error
	// Exclude makes other transactions wait that write some tables, until t ends.
	Exclude(ctx context.Context, t *sql.Tx, tables []string) error
	// Scoped reports whether the database itself keeps projects apart. Then Enter and
	// EnterTx say which project the next queries are of, or [AllProjects].
	Scoped() bool
	Enter(ctx context.Context, c *sql.Conn, project string) error
	EnterTx(ctx context.Context, t *sql.Tx, project string) error
	// Ready is called before each transaction that writes; an error refuses it.
	Ready() error
	// Written is called after each transaction, with its number of changes.
	Written(changes int)
	// Again reports whether a transaction that failed may succeed when it is repeated at
	// once, because another one was in its way.
	Again(err error) bool
	// Lost reports whether an error means that the database cannot be reached now, as while
	// it starts again.
	Lost(err error) bool
	// Usable returns why the database cannot be read or written now, although it can be
	// reached; nil if it can. It is called every second, and more often.
	Usable(ctx context.Context) error
	// Failed adds a code and the database to an error that has none. doing is a verb, such
	// as "read".
	Failed(doing string, err error) error
	// Erased makes what was deleted unreadable in the files of the database, as far as that is
	// possible.
	Erased(ctx context.Context) error
	// Alone makes this process the only one that executes runs, until release is called.
	// release is nil if several may.
	Alone() (release func() error, err error)
	// Several reports whether several servers may use the database at a time.
	Several() bool
	// Disconnect ends what the engine does, and closes its connections.
	Disconnect() error
}

// AllProjects is the scope of what concerns no project, or all: keys, retention, and the
// execution of runs.
const AllProjects = "*"

// Options configure a database; the zero value is right for a server.
type Options struct {
	Workers int                             // runs that are executed at a time; 0 means 4
	Writers int                             // transactions that write at a time; 0 means 1
	Poll    time.Duration                   // how often to look for runs that are due; 0 means a second
	Lease   time.Duration                   // after how long the runs of a process that is silent are taken up; 0 means 30 seconds
	Retry   func(attempt int) time.Duration // the pause after a failed attempt, from 1; nil means 2, 4, 8 … seconds
	Rest    time.Duration                   // after how long a process that was unable to do something tries it again; 0 means a minute
	Now     func() time.Time                // nil means time.Now
	Logger  *slog.Logger                    // for what the jobs cannot return; nil means none

	Access Access // what this process wants of the database
	Uses   []Use  // the tables that it uses; nil means all of them, with every right or, if it only reads, SELECT

	// Copied opens a file to write, although `proviso store copy` has copied it.
	Copied bool

	// ContentKey seals the contents of events: at least 32 bytes, nil for none. A database
	// has one key for good.
	ContentKey []byte
}

// WithDefaults returns the options with the zero values replaced.
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
	reader  // of all projects
	engine  Engine
	options Options
	writing *sql.DB // of the writers
	reading *sql.DB

	changes *changeQueue
	closing chan struct{}
	writers sync.WaitGroup
	close   sync.Once

	queries  sync.Map // of the readers: text to *sql.Stmt
	contents contents
	rateSalt atomic.Pointer[[]byte] // of the names of endpoints

	counting sync.Mutex // held while a run of an earlier version is counted

	runner   runner
	offering offering
}

// New makes a store of a database that is up to date. writing and reading are its
// connections, which may be the same; those of writing are for o.Writers transactions at a
// time. [DB.Close] disconnects the engine, and New does so if it fails.
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

// Ping reports whether the database can be read and written. It writes nothing, since
// anybody may ask.
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

// project is the part of a database that belongs to one project. Its methods
// access nothing else.
type project struct {
	*DB
	reader
	name store.Project
}

var _ store.ProjectStore = project{}

// In implements [store.Store].
func (d *DB) In(p store.Project) store.ProjectStore { return project{d, reader{d, string(p)}, p} }

// conditions are the conditions of a list of the project.
func (d project) conditions(column string) conditions {
	var c conditions
	c.add(column+" = ?", string(d.name))
	return c
}
