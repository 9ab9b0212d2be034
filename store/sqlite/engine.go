package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	codes "modernc.org/sqlite/lib"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
)

var _ sqldb.Engine = (*engine)(nil)

// engine is the [sqldb.Engine] for SQLite.
type engine struct {
	path    string
	options Options
	copied  bool // the file is marked as copied

	writing *sql.DB // one connection
	reading *sql.DB // read-only connections; in memory the same as writing
	folding *sql.DB // one connection for checkpoints; in memory the same as writing

	written  atomic.Int64  // changes since the log was folded
	foldSoon chan struct{} // signals that there are many of them
	// foldedByWriter is when the writer last folded the log; only the writer uses it.
	foldedByWriter time.Time
	closing        chan struct{}
	folded         chan struct{} // closed when foldLog has ended
}

// dialect replaces functions in queries by their SQLite forms.
var dialect = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("greatest(", "max(", "least(", "min(", "strpos(", "instr(",
		"has_member(e.segment, ?, ?)", "EXISTS (SELECT 1 FROM json_each(e.segment) j WHERE j.key = ? AND j.value = ?)")
})

// Query implements [sqldb.Engine].
func (e *engine) Query(text string) string { return dialect().Replace(text) }

// Args implements [sqldb.Engine].
func (e *engine) Args(args []any) []any {
	for i, a := range args {
		if is, ok := a.(bool); ok {
			args[i] = 0
			if is {
				args[i] = 1
			}
		}
	}
	return args
}

// Columns implements [sqldb.Engine]: SQLite has no arrays, and statements cost no round trip.
func (e *engine) Columns([][]any) (table string, args []any, ok bool) { return "", nil, false }

// Lock implements [sqldb.Engine]: there is only one writer.
func (e *engine) Lock(context.Context, *sql.Tx, []string) error { return nil }

// Exclude implements [sqldb.Engine]: there is only one writer.
func (e *engine) Exclude(context.Context, *sql.Tx, []string) error { return nil }

// Scoped implements [sqldb.Engine]: only the queries separate projects.
func (e *engine) Scoped() bool { return false }

// Enter implements [sqldb.Engine].
func (e *engine) Enter(context.Context, *sql.Conn, string) error { return nil }

// EnterTx implements [sqldb.Engine].
func (e *engine) EnterTx(context.Context, *sql.Tx, string) error { return nil }

// Ready implements [sqldb.Engine]. The error is [store.ErrNoRoom] if the disk is full.
func (e *engine) Ready() error {
	if e.path == Memory {
		return nil
	}
	if free, err := freeBytes(filepath.Dir(e.path)); err == nil && free < leastRoom {
		return e.noRoom()
	}
	return e.roomToFold()
}

// leastRoom is the free space below which the disk counts as full. SQLite reuses the space of
// its log, so small writes still succeed when others fail.
const leastRoom = 1 << 20

func (e *engine) noRoom() error {
	return proviso.Because(store.ErrNoRoom, proviso.Unavailable, "write the database %s: %v", e.path, store.ErrNoRoom)
}

// Written implements [sqldb.Engine].
func (e *engine) Written(changes int) { e.noteWritten(changes) }

// Again implements [sqldb.Engine].
func (e *engine) Again(error) bool { return false }

// Lost implements [sqldb.Engine]: a file is never temporarily unreachable.
func (e *engine) Lost(error) bool { return false }

// Usable implements [sqldb.Engine]: a transaction finds out.
func (e *engine) Usable(context.Context) error { return nil }

// Failed implements [sqldb.Engine].
func (e *engine) Failed(doing string, err error) error {
	why := store.ErrFailed
	switch {
	case codeOf(err) == codes.SQLITE_READONLY:
		why = store.ErrReadOnly
	case codeOf(err) == codes.SQLITE_FULL:
		return proviso.Because(fmt.Errorf("%w: %w", store.ErrNoRoom, err), proviso.Unavailable, "%s the database %s: %v", doing, e.path, store.ErrNoRoom)
	case errors.As(err, new(*fs.PathError)): // it contains the path
		return proviso.Because(errors.Join(why, err), proviso.Unavailable, "%s the database: %v", doing, err)
	}
	return proviso.Because(errors.Join(why, err), proviso.Unavailable, "%s the database %s: %v", doing, e.path, err)
}

// named is Failed for errors that may have a code or come from a context.
func (e *engine) named(doing string, err error) error {
	var known *proviso.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return e.Failed(doing, err)
}

// Erased implements [sqldb.Engine]. SQLite has already overwritten deleted data in the file
// (secure_delete). Erased clears remains in unused parts of pages, and the log, which holds old
// versions of pages until it restarts.
func (e *engine) Erased(ctx context.Context) error {
	if e.path == Memory {
		return nil
	}
	if err := e.foldAll(); err != nil {
		return err
	}
	if err := e.sweep(ctx); err != nil {
		return err
	}
	return e.foldAll()
}

// foldTries is how often foldAll waits for readers, each time for foldWait.
const foldTries = 10

// foldAll folds the log until it is empty.
func (e *engine) foldAll() error {
	for range foldTries {
		busy, err := e.checkpoint("truncate")
		if err != nil {
			return fmt.Errorf("fold the write-ahead log: %w", err)
		}
		if !busy {
			return nil
		}
	}
	return proviso.Errorf(proviso.Unavailable, "what was removed is still in the write-ahead log of the database %s, because a reader or writer needs it; try again", e.path)
}

// Several implements [sqldb.Engine]: only one server uses a file.
func (e *engine) Several() bool { return false }

// Disconnect implements [sqldb.Engine].
func (e *engine) Disconnect() error {
	close(e.closing)
	<-e.folded
	return e.close()
}

func (e *engine) close() error {
	var err error
	for _, db := range [...]*sql.DB{e.reading, e.folding, e.writing} {
		if db != nil {
			err = errors.Join(err, db.Close()) // a second Close does nothing
		}
	}
	return err
}
