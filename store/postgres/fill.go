package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/proviso-eval/proviso"
)

// Source is a database to copy from.
type Source interface {
	// Tables returns the names of the columns of each table.
	Tables(ctx context.Context) (map[string][]string, error)
	// Count returns the number of rows of a table.
	Count(ctx context.Context, table string) (int64, error)
	// Rows reads columns of a table.
	Rows(ctx context.Context, table string, columns []string) (*sql.Rows, error)
}

// Fill copies all rows of a source into a database without data, all or none. It compares the
// row counts with those of the source. note is called after each table with rows. A database
// with data is Refused. Memory does not grow with the number of rows.
func (d *DB) Fill(ctx context.Context, from Source, note func(table string, rows int64)) error {
	c, err := d.engine.db.Conn(ctx)
	if err != nil {
		return d.engine.failed("write", err)
	}
	defer c.Close() // returns it to the pool
	return d.engine.failed("write", c.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn()
		t, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer t.Rollback(context.WithoutCancel(ctx)) // does nothing after Commit
		f := &filling{ctx: ctx, e: d.engine, t: t, from: from}
		if err := f.tables(note); err != nil {
			return err
		}
		if err := t.Commit(ctx); err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "ANALYZE") // otherwise the first queries are planned for empty tables
		return err
	}))
}

// filling is the transaction of [DB.Fill].
type filling struct {
	ctx  context.Context
	e    *engine
	t    pgx.Tx
	from Source
}

// target is a table to fill.
type target struct {
	name     string
	columns  []string // columns of the source
	types    []string // their types in the target
	identity string   // column with generated numbers, "" if there is none
	triggers bool
	walled   bool     // row security binds its owner, too
	parents  []string // tables that its rows refer to
}

// tables fills all tables, parents first.
func (f *filling) tables(note func(string, int64)) error {
	theirs, err := f.from.Tables(f.ctx)
	if err != nil {
		return err
	}
	targets, err := f.targets(theirs)
	if err != nil {
		return err
	}
	for _, t := range targets {
		var filled bool
		if err := f.wall(t, "NO FORCE"); err != nil { // COPY does not work with row security
			return err
		}
		if _, err := f.t.Exec(f.ctx, "LOCK TABLE "+ident(t.name)+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		if err := f.t.QueryRow(f.ctx, "SELECT EXISTS (SELECT 1 FROM "+ident(t.name)+")").Scan(&filled); err != nil {
			return err
		}
		if filled {
			return proviso.Errorf(proviso.Refused, "the database %s has data already (table %s); a copy needs an empty one", f.e.place, t.name)
		}
	}
	for _, t := range targets {
		n, err := f.table(t)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		if n > 0 {
			note(t.name, n)
		}
	}
	for _, t := range targets {
		if err := f.wall(t, "FORCE"); err != nil {
			return err
		}
	}
	return nil
}

// wall changes whether row security binds the table's owner, which is our user. Other sessions
// see the change only when the whole copy is committed.
func (f *filling) wall(t *target, how string) error {
	if !t.walled {
		return nil
	}
	_, err := f.t.Exec(f.ctx, "ALTER TABLE "+ident(t.name)+" "+how+" ROW LEVEL SECURITY")
	return err
}

// table copies the rows of one table.
func (f *filling) table(t *target) (int64, error) {
	if t.triggers { // the rows that they would count are copied with their counts
		if _, err := f.t.Exec(f.ctx, "ALTER TABLE "+ident(t.name)+" DISABLE TRIGGER USER"); err != nil {
			return 0, err
		}
	}
	want, err := f.from.Count(f.ctx, t.name)
	if err != nil {
		return 0, err
	}
	rows, err := f.from.Rows(f.ctx, t.name, t.columns)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n, err := f.t.CopyFrom(f.ctx, pgx.Identifier{t.name}, t.columns, &copied{rows: rows, types: t.types})
	if err != nil {
		return n, err
	}
	var got int64
	if err := f.t.QueryRow(f.ctx, "SELECT count(*) FROM "+ident(t.name)).Scan(&got); err != nil {
		return n, err
	}
	if got != want {
		return n, proviso.Errorf(proviso.Unavailable, "%d rows were copied, and the source has %d", got, want)
	}
	if t.identity != "" && n > 0 {
		if _, err := f.t.Exec(f.ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('%s', '%s'), (SELECT max(%s) FROM %s))", ident(t.name), t.identity, ident(t.identity), ident(t.name))); err != nil {
			return n, err
		}
	}
	if t.triggers {
		_, err = f.t.Exec(f.ctx, "ALTER TABLE "+ident(t.name)+" ENABLE TRIGGER USER")
	}
	return n, err
}

// targets returns the tables of the source, parents first.
func (f *filling) targets(theirs map[string][]string) ([]*target, error) {
	rows, err := f.t.Query(f.ctx, `SELECT c.relname, a.attname, a.atttypid::regtype::text, a.attidentity <> '', c.relforcerowsecurity,
			EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal),
			ARRAY(SELECT p.relname::text FROM pg_constraint o JOIN pg_class p ON p.oid = o.confrelid WHERE o.conrelid = c.oid AND o.contype = 'f' AND p.oid <> c.oid)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ours := map[string]*target{}
	for rows.Next() {
		var table, column, kind string
		var identity, walled, triggers bool
		var parents []string
		if err := rows.Scan(&table, &column, &kind, &identity, &walled, &triggers, &parents); err != nil {
			return nil, err
		}
		if !slices.Contains(theirs[table], column) {
			continue // it gets its default
		}
		t := ours[table]
		if t == nil {
			t = &target{name: table, triggers: triggers, walled: walled, parents: parents}
			ours[table] = t
		}
		t.columns, t.types = append(t.columns, column), append(t.types, kind)
		if identity {
			t.identity = column
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for table, columns := range theirs {
		for _, c := range columns {
			if t := ours[table]; t == nil || !slices.Contains(t.columns, c) {
				return nil, proviso.Errorf(proviso.Refused, "the source has a column %s of the table %s, and the database %s has none", c, table, f.e.place)
			}
		}
	}
	return ordered(ours), nil
}

// ordered returns tables by name, but each after its parents.
func ordered(tables map[string]*target) []*target {
	var names []string
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []*target
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		t := tables[name]
		if t == nil || seen[name] {
			return
		}
		seen[name] = true
		for _, p := range t.parents {
			add(p)
		}
		list = append(list, t)
	}
	for _, name := range names {
		add(name)
	}
	return list
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

// copied passes the rows of a source to COPY, converted to the column types.
type copied struct {
	rows   *sql.Rows
	types  []string
	values []any
	err    error
}

// Next implements [pgx.CopyFromSource].
func (c *copied) Next() bool {
	if c.err != nil || !c.rows.Next() {
		return false
	}
	c.values = make([]any, len(c.types))
	into := make([]any, len(c.types))
	for i := range into {
		into[i] = &c.values[i]
	}
	if c.err = c.rows.Scan(into...); c.err != nil {
		return false
	}
	for i, kind := range c.types {
		if c.values[i], c.err = valueAs(kind, c.values[i]); c.err != nil {
			return false
		}
	}
	return true
}

// Values implements [pgx.CopyFromSource].
func (c *copied) Values() ([]any, error) { return c.values, nil }

// Err implements [pgx.CopyFromSource].
func (c *copied) Err() error { return errors.Join(c.err, c.rows.Err()) }

// valueAs converts a value to a column type: SQLite columns may hold values of any type.
func valueAs(kind string, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch kind {
	case "text":
		switch v := v.(type) {
		case string:
			return cleanText(v), nil
		case []byte:
			return cleanText(string(v)), nil
		}
	case "bytea":
		switch v := v.(type) {
		case string:
			return []byte(v), nil
		case []byte:
			return append([]byte{}, v...), nil // empty bytes are not NULL
		}
	case "double precision":
		switch v := v.(type) {
		case int64:
			return float64(v), nil
		case float64:
			return v, nil
		}
	case "bigint":
		switch v := v.(type) {
		case int64:
			return v, nil
		case float64:
			if n := int64(v); float64(n) == v {
				return n, nil
			}
		}
	}
	return nil, proviso.Errorf(proviso.Invalid, "a value of the type %s in a column of the type %s", strings.TrimPrefix(fmt.Sprintf("%T", v), "*"), kind)
}
