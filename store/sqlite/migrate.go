package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/store/sqldb"
)

//go:embed schema/*.sql
var schema embed.FS

// applicationID marks a file as a proviso database (PRAGMA application_id). copiedID marks one
// that was copied to another database, so that no server, not even one of an earlier version,
// continues to use it by mistake.
const (
	applicationID = 0x70727673 // "prvs"
	copiedID      = 0x70727663 // "prvc"
)

// migrations are the migration steps, in order; PRAGMA user_version is the number of applied
// steps. A released step never changes.
var migrations = [...]string{
	"schema/001.sql", "schema/002.sql", "schema/003.sql", "schema/004.sql", "schema/005.sql",
	"schema/006.sql", "schema/007.sql", "schema/008.sql", "schema/009.sql", "schema/010.sql", "schema/011.sql", "schema/012.sql", "schema/013.sql", "schema/014.sql",
}

func take(ctx context.Context, t *sql.Tx, file string) error {
	text, err := schema.ReadFile(file)
	if err == nil {
		_, err = t.ExecContext(ctx, string(text))
	}
	return err
}

// Schema returns the migration state of a database. It changes nothing. A missing file is
// NotFound.
func Schema(ctx context.Context, path string) (s sqldb.Schema, err error) {
	e := &engine{path: path}
	if _, err := os.Stat(path); err != nil {
		return s, proviso.Because(err, proviso.NotFound, "there is no database %s", path)
	}
	db, err := sql.Open("sqlite", e.source("_pragma=query_only(1)"))
	if err != nil {
		return s, e.named("open", err)
	}
	defer func() { err = errors.Join(e.named("open", err), db.Close()) }()
	s.Known = len(migrations)
	if s.Version, err = e.version(ctx, db); err != nil {
		return s, err
	}
	for _, file := range migrations[s.Version:] {
		s.Missing = append(s.Missing, sqldb.Step{Name: filepath.Base(file)})
	}
	return s, nil
}

// migrate checks the file and applies the missing steps in one transaction. If several
// processes call it, one applies the steps and the others wait.
func (e *engine) migrate(ctx context.Context) error {
	version, err := e.version(ctx, e.writing)
	if err == nil && e.copied && e.options.Access != sqldb.Reading && !e.options.Copied {
		err = proviso.Errorf(proviso.Refused, "the data of %s were copied to another database by `proviso store copy`, which does not see later changes to this file; to continue with the file anyway, start `proviso serve --after-copy`", e.path)
	}
	if err != nil || version == len(migrations) {
		return err
	}
	if err := (sqldb.Schema{Version: version, Known: len(migrations)}).Check(e.path, e.options.Access); err != nil {
		return err
	}
	if version > 0 {
		l, err := e.alone(ctx)
		if l == nil {
			return err
		}
		defer l.release() // if this fails, the lock ends with the process
	}
	if err := e.useWAL(ctx); err != nil {
		return err
	}
	t, err := e.writing.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback() // does nothing after Commit
	if version, err = e.version(ctx, t); err != nil {
		return err
	}
	for _, file := range migrations[version:] {
		if err := take(ctx, t, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	e.copied = false
	marks := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(migrations))
	if _, err := t.ExecContext(ctx, marks); err != nil {
		return err
	}
	return t.Commit()
}

// alone waits up to a second for the lock of a running server: a server of an earlier version
// cannot continue with changed tables. If another process has migrated the database meanwhile,
// alone returns neither a lock nor an error.
func (e *engine) alone(ctx context.Context) (*lock, error) {
	const pause, most = 20 * time.Millisecond, time.Second
	for waited := time.Duration(0); ; waited += pause {
		l, err := e.takeLock()
		if err == nil {
			return l, nil
		}
		version, failed := e.version(ctx, e.writing)
		if failed != nil || version == len(migrations) {
			return nil, failed
		}
		if waited >= most {
			return nil, proviso.Because(err, proviso.Refused, "the database %s is of an earlier version of proviso (schema %d, this one has %d), and a server uses it; stop the server, start this version of it, and try again", e.path, version, len(migrations))
		}
		if err := transport.Wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// useWAL permanently sets the file to WAL mode, so that readers do not wait for the writer. It
// retries while another process does the same.
func (e *engine) useWAL(ctx context.Context) error {
	if e.path == Memory {
		return nil
	}
	const pause = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		var mode string
		err := e.writing.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return fmt.Errorf("the file system does not allow a write-ahead log (journal mode %s)", mode)
		case codeOf(err) != codes.SQLITE_BUSY || waited > busyTimeout:
			return err
		}
		if err := transport.Wait(ctx, pause); err != nil {
			return err
		}
	}
}

// codeOf returns the primary result code of a SQLite error, or 0.
func codeOf(err error) int {
	var e *sqlite3.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// version returns the number of applied steps, and rejects files of other
// programs.
func (e *engine) version(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (int, error) {
	var id, version, tables int
	err := q.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").
		Scan(&id, &version, &tables)
	switch {
	case codeOf(err) == codes.SQLITE_NOTADB:
		return 0, proviso.Because(err, proviso.Refused, "%s is not an SQLite database", e.path)
	case err != nil:
		return 0, err
	case id == copiedID:
		e.copied = true
	case id != applicationID && (id != 0 || version != 0 || tables > 0):
		return 0, proviso.Errorf(proviso.Refused, "%s is an SQLite database of another program", e.path)
	}
	if version > len(migrations) {
		return 0, proviso.Errorf(proviso.Refused, "the database %s was written by a later version of proviso (schema %d, this one knows up to %d); use that version, or another file", e.path, version, len(migrations))
	}
	return version, nil
}
