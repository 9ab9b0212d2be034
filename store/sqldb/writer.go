package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// maxBatch limits the number of changes in a transaction.
const maxBatch = 512

// tries is how often a transaction is tried if others are in its way.
const tries = 5

// change is a function that writes.
type change struct {
	ctx     context.Context
	project string // "" for no project, or several
	do      func(*tx) error
	err     error
	done    chan struct{}
}

// change runs do in a transaction of a writer, and returns when it is committed. If do returns
// an error, its changes are rolled back. do must use only its tx, and may be called again. The
// transaction may contain changes of other callers.
func (d *DB) change(ctx context.Context, doing string, do func(*tx) error) error {
	return d.changeIn(ctx, "", doing, do)
}

// change is [DB.change] for changes of one project; they exclude each other.
func (d project) change(ctx context.Context, doing string, do func(*tx) error) error {
	return d.changeIn(ctx, string(d.name), doing, do)
}

func (d *DB) changeIn(ctx context.Context, project, doing string, do func(*tx) error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		c := &change{ctx: ctx, project: project, do: do, done: make(chan struct{})}
		if err := d.write(ctx, c); err != nil {
			return err
		}
		if c.err == nil || !store.IsPatient(ctx) || !d.engine.Lost(c.err) {
			return d.failed(doing, c.err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return d.failed(doing, c.err)
		case <-d.closing:
			return errClosed()
		}
	}
}

// write gives a change to a writer, and returns when it is done; the change's own error is in
// c. Once a writer has the change, write returns only when it is done, even if ctx ends: that
// takes only milliseconds.
func (d *DB) write(ctx context.Context, c *change) error {
	if d.isClosed() {
		return errClosed()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.changes.add(c)
	var why error
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		why = ctx.Err()
	case <-d.closing:
		why = errClosed()
	}
	if d.changes.remove(c) {
		return why
	}
	<-c.done
	return nil
}

// The retry pauses of a patient caller while the database cannot be reached.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// writeChanges is a writer. It takes all waiting changes and commits them together, while new
// ones queue. So a single change does not wait, and under load one commit serves many.
func (d *DB) writeChanges() {
	w := writer{db: d, statements: map[string]*sql.Stmt{}}
	for {
		batch := d.changes.take(d.closing)
		if batch == nil {
			return
		}
		w.write(batch)
		d.changes.done(batch)
		for _, c := range batch {
			close(c.done)
		}
	}
}

// writer holds the prepared statements of one writing goroutine. With several writers there are
// none: each would have to prepare them on every connection.
type writer struct {
	db         *DB
	statements map[string]*sql.Stmt
}

// write commits a batch, and retries if another process was in the way.
func (w *writer) write(batch []*change) {
	for n := 1; ; n++ {
		err := w.commit(batch)
		if err == nil || n == tries || !w.db.engine.Again(err) {
			return
		}
		for _, c := range batch {
			c.err = nil
		}
	}
}

// commit writes a batch in one transaction. A failed change is rolled back alone. If the
// transaction fails, all changes fail with the returned error.
func (w *writer) commit(batch []*change) error {
	t := tx{db: w.db, writer: w, bound: map[string]*sql.Stmt{}}
	err := w.db.engine.Ready()
	if err == nil {
		// The context is not that of one caller: its end must not affect the others.
		t.Tx, err = w.db.writing.BeginTx(context.Background(), nil)
	}
	if err == nil {
		if err = w.db.engine.Lock(context.Background(), t.Tx, projectsOf(batch)); err == nil {
			err = t.apply(batch)
		}
		if err == nil {
			err = t.Commit()
		} else {
			t.Rollback() // fails only if the database has already rolled back
		}
	}
	for _, c := range batch {
		if c.err == nil {
			c.err = err
		}
	}
	w.db.engine.Written(len(batch))
	if w.db.options.Writers == 1 {
		for _, query := range t.unprepared {
			if s, err := w.db.writing.Prepare(w.db.engine.Query(query)); err == nil {
				w.statements[query] = s
			}
		}
	}
	return err
}

// projectsOf returns the projects of changes in a fixed order, so that no two transactions
// deadlock.
func projectsOf(batch []*change) []string {
	var projects []string
	for _, c := range batch {
		projects = append(projects, c.project)
	}
	slices.Sort(projects)
	return slices.Compact(projects)
}

// tx is a transaction of a writer.
type tx struct {
	*sql.Tx
	db         *DB
	writer     *writer
	scope      string               // see [Engine.EnterTx]
	texts      bool                 // the change stored texts that a key would seal
	bound      map[string]*sql.Stmt // prepared statements, bound to the transaction
	unprepared []string             // statements to prepare for the next transaction
}

// apply runs the changes of a batch. An error ends the transaction.
func (t *tx) apply(batch []*change) error {
	alone := len(batch) == 1
	for _, c := range batch {
		if c.err = c.ctx.Err(); c.err != nil {
			continue
		}
		if err := t.enter(c.project); err != nil {
			return err
		}
		if !alone {
			if _, err := t.exec("SAVEPOINT change"); err != nil {
				return err
			}
		}
		t.texts = false
		if c.err = c.do(t); c.err == nil {
			c.err = t.checkUnsealed()
		}
		switch {
		case c.err != nil && (alone || t.db.engine.Again(c.err)):
			return c.err
		case c.err != nil:
			if _, err := t.exec("ROLLBACK TO change"); err != nil {
				return err
			}
			fallthrough
		case !alone:
			if _, err := t.exec("RELEASE change"); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter sets the project of the next queries. It must be called before the savepoint of a
// change, whose rollback would undo it.
func (t *tx) enter(project string) error {
	scope := cmp.Or(project, AllProjects)
	if strings.HasPrefix(scope, sharedLock[:1]) { // no project has such a name, whatever the lock is for
		scope = sharedLock
	}
	if t.scope == scope || !t.db.engine.Scoped() {
		return nil
	}
	t.scope = scope
	return t.db.engine.EnterTx(context.Background(), t.Tx, scope)
}

// statement returns the prepared form of a query, or nil if there is none yet: preparing needs
// a connection, and the only one is busy with the transaction.
func (t *tx) statement(query string) *sql.Stmt {
	if s := t.bound[query]; s != nil {
		return s
	}
	s, known := t.writer.statements[query]
	if s == nil {
		if !known {
			t.writer.statements[query] = nil // add it only once
			t.unprepared = append(t.unprepared, query)
		}
		return nil
	}
	s = t.StmtContext(context.Background(), s)
	t.bound[query] = s
	return s
}

// exec executes one of the fixed queries of this package.
func (t *tx) exec(query string, args ...any) (sql.Result, error) {
	args = t.db.engine.Args(args)
	if s := t.statement(query); s != nil {
		return s.ExecContext(context.Background(), args...)
	}
	return t.ExecContext(context.Background(), t.db.engine.Query(query), args...)
}

// queryRow is exec for a query that returns one row.
func (t *tx) queryRow(query string, args ...any) *sql.Row {
	args = t.db.engine.Args(args)
	if s := t.statement(query); s != nil {
		return s.QueryRowContext(context.Background(), args...)
	}
	return t.QueryRowContext(context.Background(), t.db.engine.Query(query), args...)
}

// query is exec for a query that returns several rows. The caller must read them before the
// next query.
func (t *tx) query(query string, args ...any) (rows, error) {
	args = t.db.engine.Args(args)
	if s := t.statement(query); s != nil {
		return anyRows(s.QueryContext(context.Background(), args...))
	}
	return anyRows(t.QueryContext(context.Background(), t.db.engine.Query(query), args...))
}

// changed executes a query and returns the number of changed rows.
func (t *tx) changed(query string, args ...any) (int, error) {
	r, err := t.exec(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// changeOne executes a query that changes rows, and returns the error otherwise if it changed
// none.
func (t *tx) changeOne(otherwise error, query string, args ...any) error {
	n, err := t.changed(query, args...)
	if err == nil && n == 0 {
		err = otherwise
	}
	return err
}

// inserted executes a query that adds a row and returns its number; sql.ErrNoRows if it added
// none.
func (t *tx) inserted(query string, args ...any) (seq int64, err error) {
	err = t.queryRow(query, args...).Scan(&seq)
	return seq, err
}

// insertSteps are the numbers of rows that a statement inserts. Few sizes suffice and keep the
// statements prepared.
var insertSteps = [...]int{64, 8, 1}

// insert adds rows with few statements: on a network, each costs a round trip. into is the
// statement up to the columns, after its end. returned, if not nil, is called for each row that
// the statement returns.
func (t *tx) insert(into, after string, rows [][]any, returned func(scanner) error) error {
	if table, args, ok := t.db.engine.Columns(rows); ok {
		return t.insertStep(into+" SELECT * FROM "+table+after, args, returned)
	}
	for _, step := range insertSteps {
		for len(rows) >= step {
			var args []any
			for _, row := range rows[:step] {
				args = append(args, row...)
			}
			if err := t.insertStep(into+valuesOf(step, len(rows[0]))+after, args, returned); err != nil {
				return err
			}
			rows = rows[step:]
		}
	}
	return nil
}

func (t *tx) insertStep(query string, args []any, returned func(scanner) error) error {
	if returned == nil {
		_, err := t.exec(query, args...)
		return err
	}
	rows, err := t.query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := returned(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// valuesOf returns the VALUES clause for some rows of some columns.
func valuesOf(rows, columns int) string {
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	return " VALUES " + row + strings.Repeat(", "+row, rows-1)
}
