package sqlite

import (
	"context"
	"database/sql"
)

// maxBatch bounds the number of changes in a transaction.
const maxBatch = 512

// change is a function that writes.
type change struct {
	ctx  context.Context
	do   func(*tx) error
	err  error
	done chan struct{}
}

// change runs do in a transaction of the writer, and returns when it is
// committed. An error of do rolls its changes back. do must use only its tx.
// Changes of others may be in the same transaction.
func (d *DB) change(ctx context.Context, doing string, do func(*tx) error) error {
	c := &change{ctx: ctx, do: do, done: make(chan struct{})}
	select {
	case d.changes <- c:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.closing:
		return errClosed()
	}
	// It does not return when ctx ends: the change may be in progress, and takes
	// only milliseconds.
	<-c.done
	return d.failed(doing, c.err)
}

// writeChanges is the writer. It takes a change and all that wait behind it,
// and commits them together, while the next ones queue. So a single change does
// not wait, and under load one commit serves many.
func (d *DB) writeChanges() {
	defer close(d.stopped)
	for {
		var batch []*change
		select {
		case c := <-d.changes:
			batch = append(batch, c)
		case <-d.closing:
			return
		}
	gather:
		for len(batch) < maxBatch {
			select {
			case c := <-d.changes:
				batch = append(batch, c)
			default:
				break gather
			}
		}
		d.commit(batch)
		for _, c := range batch {
			close(c.done)
		}
	}
}

// commit writes a batch in one transaction. A failed change is rolled back
// alone; if the transaction fails, all fail.
func (d *DB) commit(batch []*change) {
	t := tx{db: d, bound: map[string]*sql.Stmt{}}
	err := d.roomToFold()
	if err == nil {
		// The context is not that of one caller, because its end must not affect the
		// others.
		t.Tx, err = d.writing.BeginTx(context.Background(), nil)
	}
	if err == nil {
		if err = t.apply(batch); err == nil {
			err = t.Commit()
		} else {
			t.Rollback() // fails only if SQLite has done it already
		}
	}
	for _, c := range batch {
		if c.err == nil {
			c.err = err
		}
	}
	d.noteWritten(len(batch))
	for _, query := range t.unprepared {
		if s, err := d.writing.Prepare(query); err == nil {
			d.statements[query] = s
		}
	}
}

// tx is a transaction of the writer.
type tx struct {
	*sql.Tx
	db         *DB
	bound      map[string]*sql.Stmt // prepared statements, bound to the transaction
	unprepared []string             // statements to be prepared for the next one
}

// apply runs the changes of a batch. Its error ends the transaction.
func (t *tx) apply(batch []*change) error {
	alone := len(batch) == 1
	for _, c := range batch {
		if c.err = c.ctx.Err(); c.err != nil {
			continue
		}
		if !alone {
			if _, err := t.exec("SAVEPOINT change"); err != nil {
				return err
			}
		}
		c.err = c.do(t)
		switch {
		case c.err != nil && alone:
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

// statement returns the prepared form of a query, or nil while there is none:
// preparing needs a connection, and the only one is busy with the transaction.
func (t *tx) statement(query string) *sql.Stmt {
	if s := t.bound[query]; s != nil {
		return s
	}
	s, known := t.db.statements[query]
	if s == nil {
		if !known {
			t.db.statements[query] = nil // not twice
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
	if s := t.statement(query); s != nil {
		return s.ExecContext(context.Background(), args...)
	}
	return t.ExecContext(context.Background(), query, args...)
}

// queryRow is exec for a query with one row.
func (t *tx) queryRow(query string, args ...any) *sql.Row {
	if s := t.statement(query); s != nil {
		return s.QueryRowContext(context.Background(), args...)
	}
	return t.QueryRowContext(context.Background(), query, args...)
}

// changed executes a query and returns how many rows it changed.
func (t *tx) changed(query string, args ...any) (int, error) {
	r, err := t.exec(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}
