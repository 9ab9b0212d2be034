package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Snapshot is a consistent view of a database, for a copy.
type Snapshot struct {
	e    *engine
	t    *sql.Tx
	lock *lock
}

// Snapshot starts to read the database. It is Refused while a server uses the database, and no
// server may start until [Snapshot.Close]: later writes would be missing in the copy.
func (d *DB) Snapshot(ctx context.Context) (*Snapshot, error) {
	l, err := d.engine.takeLock()
	if err != nil {
		return nil, err
	}
	t, err := d.engine.reading.BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(d.engine.named("read", err), l.release())
	}
	return &Snapshot{d.engine, t, l}, nil
}

// MarkCopied marks the file as copied to another database, or as in use again. A copied file is
// opened only for reading, unless [Options] say otherwise.
func (d *DB) MarkCopied(ctx context.Context, is bool) error {
	id := applicationID
	if is {
		id = copiedID
	}
	_, err := d.engine.writing.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", id))
	return d.engine.named("write", err)
}

// Close ends the snapshot.
func (s *Snapshot) Close() error { return errors.Join(s.t.Rollback(), s.lock.release()) }

// Tables returns the names of the columns of each table.
func (s *Snapshot) Tables(ctx context.Context) (map[string][]string, error) {
	rows, err := s.t.QueryContext(ctx, "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY t.name, c.cid")
	if err != nil {
		return nil, s.e.named("read", err)
	}
	defer rows.Close()
	tables := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, s.e.named("read", err)
		}
		if table == "run" && column == "job" { // from earlier versions; nothing reads it
			continue
		}
		tables[table] = append(tables[table], column)
	}
	return tables, s.e.named("read", rows.Err())
}

// Count returns the number of rows of a table.
func (s *Snapshot) Count(ctx context.Context, table string) (n int64, err error) {
	err = s.t.QueryRowContext(ctx, "SELECT count(*) FROM "+quoted(table)).Scan(&n)
	return n, s.e.named("read", err)
}

// Rows reads columns of a table, one row after the other.
func (s *Snapshot) Rows(ctx context.Context, table string, columns []string) (*sql.Rows, error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quoted(c)
	}
	rows, err := s.t.QueryContext(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+quoted(table))
	return rows, s.e.named("read", err)
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
