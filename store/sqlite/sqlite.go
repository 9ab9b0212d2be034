// Package sqlite opens a store in one SQLite file, in this process. It needs no database server
// and no C compiler. One connection writes; readers do not wait (WAL). The queries are those of
// package sqldb. Start at [Open]; store/storetest is the contract.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver, registered as "sqlite"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// Memory is the path of an in-memory database, which is lost when it is closed.
const Memory = ":memory:"

// Options configure a database; the zero value is right for a server. Writers and Lease have no
// effect: one connection writes, and one process executes runs.
type Options = sqldb.Options

const (
	readers     = 4               // connections that read
	busyTimeout = 5 * time.Second // for another process, such as proviso key, to finish its write
)

// DB is an open database.
type DB struct {
	*sqldb.DB
	engine *engine
}

// Open opens a database. It creates a missing one and migrates an older one. Only the owner can
// read the file (0600), and a new folder for it (0700). A database of a later proviso version,
// or another kind of file, is an error.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if path == "" {
		return nil, proviso.Errorf(proviso.Invalid, "no path is given for the database")
	}
	o.Writers = 1
	e := &engine{path: path, options: o.WithDefaults(), foldSoon: make(chan struct{}, 1),
		closing: make(chan struct{}), folded: make(chan struct{})}
	if err := e.connect(ctx); err != nil {
		return nil, errors.Join(e.named("open", err), e.close())
	}
	go e.foldLog()
	db, err := sqldb.New(ctx, e, e.writing, e.reading, o)
	if err != nil {
		return nil, err
	}
	return &DB{DB: db, engine: e}, nil
}

// Place returns the path of the file.
func (d *DB) Place() string { return d.engine.path }

// connect creates the file, opens the connections, and migrates.
func (e *engine) connect(ctx context.Context) error {
	if e.path != Memory {
		if err := makeFile(e.path); err != nil {
			return err
		}
	}
	var err error
	// Deleted data is overwritten, also when pages are split or freed: data that a user wants
	// forgotten must not survive in unreferenced copies.
	if e.writing, err = sql.Open("sqlite", e.source("_txlock=immediate&_pragma=secure_delete(on)")); err != nil {
		return err
	}
	e.writing.SetMaxOpenConns(1)
	if err := e.migrate(ctx); err != nil {
		return err
	}
	e.reading, e.folding = e.writing, e.writing
	if e.path == Memory {
		return nil
	}
	if e.reading, err = sql.Open("sqlite", e.source("_pragma=query_only(1)")); err != nil {
		return err
	}
	e.reading.SetMaxOpenConns(readers)
	e.reading.SetMaxIdleConns(readers)
	if e.folding, err = sql.Open("sqlite", e.source("")); err != nil {
		return err
	}
	e.folding.SetMaxOpenConns(1)
	_, err = e.folding.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", foldWait))
	return err
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

// source returns the data source name, with the settings of every connection.
func (e *engine) source(more string) string {
	settings := fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)&%s",
		busyTimeout.Milliseconds(), more)
	if e.path == Memory {
		return "file::memory:?" + settings
	}
	// NORMAL: a commit survives the death of the process. A power failure may undo the last
	// commits, but never part of one.
	settings += "&_pragma=synchronous(normal)&_pragma=journal_size_limit(8388608)&_pragma=wal_autocheckpoint(0)"
	return fileURI(e.path) + "?" + settings
}

// fileURI returns the URI of a file for SQLite, whatever characters its path contains.
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
