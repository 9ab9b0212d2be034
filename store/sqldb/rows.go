package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// micros returns the stored form of a time.
func micros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// fromMicros returns a stored time in UTC.
func fromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// at scans a stored time.
func at(t *time.Time) sql.Scanner {
	return stored[sql.NullInt64]{func(n sql.NullInt64) { *t = fromMicros(n) }}
}

// micro scans a stored duration.
func micro(d *time.Duration) sql.Scanner {
	return stored[int64]{func(n int64) { *d = time.Duration(n) * time.Microsecond }}
}

// listed scans a stored list of texts.
func listed[T ~string](into *[]T) sql.Scanner {
	return stored[string]{func(text string) { *into = fromList[T](text) }}
}

// stored scans a column of type T.
type stored[T any] struct{ take func(T) }

// Scan implements [sql.Scanner].
func (s stored[T]) Scan(from any) error {
	var v sql.Null[T]
	err := v.Scan(from)
	s.take(v.V)
	return err
}

// one scans a row with one column.
func one[T any](row scanner) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// noRow turns sql.ErrNoRows into the error for an unknown id. Other errors stay unchanged.
func noRow(err error, what, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound(what, id)
	}
	return err
}

// now returns the current time with the precision of the store.
func (d *DB) now() time.Time { return d.options.Now().UTC().Truncate(time.Microsecond) }

// list encodes a list of texts.
func list[T ~string](items []T) string {
	if len(items) == 0 {
		return "[]"
	}
	text, _ := json.Marshal(items) // strings cannot fail
	return string(text)
}

// fromList decodes a list of texts; nil if it is empty.
func fromList[T ~string](text string) []T {
	var items []T
	if text == "[]" || json.Unmarshal([]byte(text), &items) != nil {
		return nil
	}
	return items
}

// scanner is a single row, or the current one of several.
type scanner interface{ Scan(into ...any) error }

// rows is the result of a query. It must be closed.
type rows interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

// reader reads the data of one project, or of all.
type reader struct {
	db    *DB
	scope string // see [Engine.Enter]
}

// query runs one of the fixed queries as a prepared statement on a reading connection.
func (r reader) query(ctx context.Context, query string, args ...any) (rows, error) {
	if r.db.engine.Scoped() { // the driver prepares statements
		return r.find(ctx, query, args...)
	}
	s, err := r.db.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return anyRows(s.QueryContext(ctx, r.db.engine.Args(args)...))
}

// queryRow is query for one row.
func (r reader) queryRow(ctx context.Context, query string, args ...any) scanner {
	return firstRow(r.query(ctx, query, args...))
}

// find runs a query that is not worth preparing, because its text depends on a filter.
func (r reader) find(ctx context.Context, query string, args ...any) (rows, error) {
	d := r.db
	query, args = d.engine.Query(query), d.engine.Args(args)
	if !d.engine.Scoped() {
		return anyRows(d.reading.QueryContext(ctx, query, args...))
	}
	c, err := d.reading.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.engine.Enter(ctx, c, r.scope); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	found, err := c.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &scopedRows{found, c}, nil
}

// anyRows converts rows, so that an error comes with a nil interface, not with an interface
// that holds a nil pointer.
func anyRows(found *sql.Rows, err error) (rows, error) {
	if err != nil {
		return nil, err
	}
	return found, nil
}

// scopedRows release their connection when they are closed.
type scopedRows struct {
	*sql.Rows
	conn *sql.Conn
}

// Close implements rows.
func (r *scopedRows) Close() error { return errors.Join(r.Rows.Close(), r.conn.Close()) }

// firstRow returns the first row and closes the rows when it is scanned.
func firstRow(found rows, err error) scanner { return &oneRow{found, err} }

type oneRow struct {
	rows rows
	err  error
}

// Scan scans the row; sql.ErrNoRows if there is none.
func (r *oneRow) Scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := r.rows.Scan(into...); err != nil {
		return err
	}
	return r.rows.Close()
}

func (d *DB) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := d.queries.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := d.reading.PrepareContext(ctx, d.engine.Query(query))
	if err != nil {
		return nil, err
	}
	if other, loaded := d.queries.LoadOrStore(query, s); loaded {
		s.Close() // not needed
		return other.(*sql.Stmt), nil
	}
	return s, nil
}

// conditions is the WHERE clause of a filter.
type conditions struct {
	text []string
	args []any
}

func (c *conditions) add(condition string, args ...any) {
	c.text = append(c.text, condition)
	c.args = append(c.args, args...)
}

// equal requires a column to equal a value, unless the value is empty.
func (c *conditions) equal(column, value string) {
	if value != "" {
		c.add(column+" = ?", value)
	}
}

// between requires a column of times to be in a range; a zero time is no limit.
func (c *conditions) between(column string, since, until time.Time) {
	if !since.IsZero() {
		c.add(column+" >= ?", micros(since))
	}
	if !until.IsZero() {
		c.add(column+" < ?", micros(until))
	}
}

// in requires a column to have one of the values, if there are any.
func in[T any](c *conditions, column string, values []T) {
	if len(values) == 0 {
		return
	}
	var args []any
	for _, v := range values {
		args = append(args, v)
	}
	c.add(column+" IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
}

// textList returns texts as query arguments, and the placeholder list for IN.
func textList(texts []string) (args []any, places string) {
	if len(texts) == 0 {
		return nil, "(NULL)"
	}
	for _, text := range texts {
		args = append(args, text)
	}
	return args, "(?" + strings.Repeat(", ?", len(args)-1) + ")"
}

// where returns the WHERE clause, "" if there are no conditions.
func (c *conditions) where() string {
	if len(c.text) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.text, " AND ")
}

// collect reads all rows of a query.
func collect[T any](d interface{ failed(string, error) error }, read func(scanner) (T, error)) func(rows, error) ([]T, error) {
	return func(rows rows, err error) ([]T, error) {
		if err != nil {
			return nil, d.failed("read", err)
		}
		defer rows.Close()
		var list []T
		for rows.Next() {
			item, err := read(rows)
			if err != nil {
				return nil, d.failed("read", err)
			}
			list = append(list, item)
		}
		return list, d.failed("read", rows.Err())
	}
}

// page reads a page of a list that is sorted by one column, such as "seq DESC" or "name". read
// returns an item with its value of that column; the next page starts after the last one. size
// may end a page early; nil if items are small.
func page[T any, P int64 | string](ctx context.Context, r reader, kind string, p store.Page, query, order string, c *conditions,
	read func(scanner) (T, P, error), size func(*T) int) (store.List[T], error) {
	column, further := order, " > ?"
	if newest, ok := strings.CutSuffix(order, " DESC"); ok {
		column, further = newest, " < ?"
	}
	var after any
	var ok bool
	var err error
	if _, isText := any(*new(P)).(string); isText {
		after, ok, err = p.Position(kind)
	} else {
		after, ok, err = p.Number(kind)
	}
	if err != nil {
		return store.List[T]{}, err
	}
	if ok {
		c.add(column+further, after)
	}
	return pageAt(ctx, r, kind, p, query, order, c, func(row scanner) (item T, position string, bytes int, err error) {
		item, place, err := read(row)
		if err == nil && size != nil {
			bytes = size(&item)
		}
		return item, fmt.Sprint(place), bytes, err
	})
}

// pageAt is page for lists that add the condition of their cursor themselves; position is the
// cursor position of a row. It reads one row more than requested, to find out whether there is
// a next page.
func pageAt[T any](ctx context.Context, r reader, kind string, p store.Page, query, order string, c *conditions,
	read func(scanner) (item T, position string, size int, err error)) (store.List[T], error) {
	var l store.List[T]
	args := append(c.args, p.Size()+1)
	rows, err := r.find(ctx, query+c.where()+" ORDER BY "+order+" LIMIT ?", args...)
	if err != nil {
		return l, r.db.failed("read", err)
	}
	defer rows.Close()
	last, bytes := "", 0
	for rows.Next() {
		if len(l.Items) == p.Size() || bytes > store.MaxPageBytes {
			l.Next = store.Cursor(kind, last)
			break
		}
		item, position, size, err := read(rows)
		if err != nil {
			return store.List[T]{}, r.db.failed("read", err)
		}
		l.Items = append(l.Items, item)
		last = position
		bytes += size
	}
	if err := rows.Err(); err != nil {
		return store.List[T]{}, r.db.failed("read", err)
	}
	return l, nil
}
