package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// tableNames returns the tables that the migration steps create. They are parsed once.
func (e *engine) tableNames() []string {
	e.tables.Do(func() { e.names = tablesOf(e.steps) })
	return e.names
}

func tablesOf(steps []step) (names []string) {
	made := regexp.MustCompile(`(?m)^\s*CREATE TABLE (\w+)`)
	for _, s := range steps {
		for _, m := range made.FindAllStringSubmatch(s.text, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// retired are tables that only an earlier version uses. The next step that requires old servers
// to stop drops them.
var retired = [...]string{"endpoint_rate"}

// usedTables returns the tables that this version uses.
func (e *engine) usedTables() []string {
	return slices.DeleteFunc(slices.Clone(e.tableNames()), func(table string) bool { return slices.Contains(retired[:], table) })
}

// foreign refuses a database without a proviso schema that has a table with the name of one of
// ours.
func (e *engine) foreign(ctx context.Context, q querier) error {
	var table sql.NullString
	if err := q.QueryRowContext(ctx, "SELECT min(relname) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND relname = ANY($1)", e.tableNames()).
		Scan(&table); err != nil {
		return err
	}
	if table.Valid {
		return proviso.Errorf(proviso.Refused, "the database %s has a table %s that is not proviso's; use an empty database", e.place, table.String)
	}
	return nil
}

// allRights are the rights of a process that reads and writes.
var allRights = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// use records the tables that the process is going to use.
func (e *engine) use(o *sqldb.Options) {
	e.uses, e.needs = o.Uses, allRights
	if o.Access == sqldb.Reading {
		e.needs = allRights[:1]
	}
}

// rights refuses a user without the rights that the process needs, before the first client is
// served.
func (e *engine) rights(ctx context.Context) error {
	missing, err := e.missing(ctx, e.needs)
	if err != nil || missing == "" {
		return err
	}
	return proviso.Errorf(proviso.Refused, "%s the database %s: %s", opening, e.place, missing)
}

// missing describes which of the needed rights the user lacks on the tables that the process
// uses, and the statements that grant them; "" if none.
func (e *engine) missing(ctx context.Context, needed []string) (string, error) {
	tables, rights := []string{schemaTable}, []string{"SELECT"}
	add := func(table string, needs []string) {
		for _, right := range needs {
			tables, rights = append(tables, table), append(rights, right)
		}
	}
	for _, u := range e.uses {
		add(u.Table, u.Rights)
	}
	if e.uses == nil {
		for _, table := range e.usedTables() {
			add(table, needed)
		}
	}
	var table, lacks sql.NullString
	err := e.db.QueryRowContext(ctx, `SELECT min(c.relname), string_agg(DISTINCT n.needed, ', ') FROM pg_class c, unnest($1::text[], $2::text[]) n(name, needed)
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = n.name
			AND NOT has_table_privilege(c.oid, n.needed)`, tables, rights).Scan(&table, &lacks)
	if err != nil || !lacks.Valid {
		return "", err
	}
	return "the user " + e.user + " lacks rights, such as on the table " + table.String + "; " + e.grants(strings.Split(lacks.String, ", ")) + ", or connect as the owner of the tables", nil
}

// grants returns the statements that grant the user what the process needs, or, if it uses all
// tables, some rights.
func (e *engine) grants(rights []string) string {
	to := " TO " + ident(e.user)
	if e.uses == nil {
		return "GRANT " + strings.Join(rights, ", ") + " ON ALL TABLES IN SCHEMA " + ident(e.schema) + to
	}
	of := map[string][]string{}
	var order []string // of rights, by their first table
	for _, u := range append([]sqldb.Use{{Table: schemaTable, Rights: allRights[:1]}}, e.uses...) {
		r := strings.Join(u.Rights, ", ")
		if of[r] == nil {
			order = append(order, r)
		}
		of[r] = append(of[r], ident(e.schema)+"."+ident(u.Table))
	}
	for i, r := range order {
		order[i] = "GRANT " + r + " ON " + strings.Join(of[r], ", ") + to
	}
	return strings.Join(order, "; ")
}

// readFor is how long a successful read of all tables is remembered.
const readFor = 2 * time.Second

// Usable implements [sqldb.Engine].
func (e *engine) Usable(ctx context.Context) error {
	if err := e.readable(ctx); err != nil {
		return err
	}
	var readOnly bool
	if err := e.db.QueryRowContext(ctx, "SELECT current_setting('transaction_read_only') = 'on'").Scan(&readOnly); err != nil {
		return err
	}
	if readOnly {
		e.lostRights(readOnlyTransaction)
		return proviso.Because(errReadOnly(), proviso.Unavailable, "write the database %s: it is read-only, perhaps a replica; use the URL of the primary", e.place)
	}
	if _, err := e.version(ctx, e.db); err != nil {
		var later *proviso.Error
		if errors.As(err, &later) {
			err = proviso.Because(store.Cause(store.ErrReadOnly, "it was migrated by a later version of proviso"), proviso.Unavailable, "%s", later.Message)
		}
		return err
	}
	missing, err := e.missing(ctx, []string{"INSERT", "UPDATE", "DELETE"})
	if err == nil && missing != "" {
		err = proviso.Because(errNoRight(), proviso.Unavailable, "write the database %s: %s", e.place, missing)
	}
	return err
}

// read returns the tables that the process reads.
func (e *engine) read() []string {
	tables := []string{schemaTable}
	for _, u := range e.uses {
		if slices.Contains(u.Rights, "SELECT") {
			tables = append(tables, u.Table)
		}
	}
	if e.uses == nil {
		tables = append(tables, e.usedTables()...)
	}
	return tables
}

// readable runs an empty SELECT on each table, unless it recently did: that needs the same
// rights as reading. After a missing right the next call checks again.
func (e *engine) readable(ctx context.Context) error {
	if time.Now().UnixMilli()-e.readAt.Load() < readFor.Milliseconds() {
		return nil
	}
	var none int
	err := e.db.QueryRowContext(ctx, "SELECT 1 FROM "+strings.Join(e.read(), " WHERE false UNION ALL SELECT 1 FROM ")+" WHERE false").Scan(&none)
	if errors.Is(err, sql.ErrNoRows) {
		e.readAt.Store(time.Now().UnixMilli())
		return nil
	}
	return err
}

func errReadOnly() error {
	return store.Cause(store.ErrReadOnly, "it is read-only, perhaps a replica")
}

func errNoRight() error { return store.Cause(store.ErrReadOnly, "a right is missing") }

func errNoSchema() error {
	return store.Cause(store.ErrUnreadable, "no right to use the schema of its tables, or tables were removed")
}

// denied returns the cause of a permission error.
func (e *engine) denied(doing string, err error) error {
	message := messageOf(err)
	switch {
	case strings.Contains(message, "permission denied for schema "):
		return errNoSchema()
	case doing != reading:
		return errNoRight()
	}
	for _, before := range [...]string{"permission denied for table ", "permission denied for view "} {
		if _, rest, ok := strings.Cut(message, before); ok {
			if name, _, _ := strings.Cut(rest, " "); name != "" {
				return store.Unreadable(name)
			}
		}
	}
	return store.ErrUnreadable
}

// lacking describes which right the user lacks, from the PostgreSQL message.
func (e *engine) lacking(err error) string {
	message := messageOf(err)
	_, on, _ := strings.Cut(message, "permission denied for ")
	on, _, _ = strings.Cut(on, " (")
	kind, name, _ := strings.Cut(on, " ")
	switch kind {
	case "table", "view", "relation":
		return "the user " + e.user + " may not use the table " + name + " as proviso does; " + e.grants(e.needs) + ", or connect as the owner of the tables"
	case "schema":
		return "the user " + e.user + " may not use the schema " + name + ", or make tables in it; GRANT USAGE, CREATE ON SCHEMA " + ident(name) + " TO " + ident(e.user) + ", or let its owner run `proviso store migrate`"
	case "database":
		return "the user " + e.user + " may not connect to the database " + name + "; GRANT CONNECT ON DATABASE " + ident(name) + " TO " + ident(e.user)
	}
	return "the user " + e.user + " lacks a right (" + message + "); connect as the owner of the tables, or GRANT it"
}

// openedAt is the key of a connection's opening time in its custom data.
const openedAt = "proviso.opened"

// lostRights makes the open connections unusable: a session that started while the database was
// read-only stays read-only, as does one to a server that became a replica. Changed rights take
// effect at once and need no new session.
func (e *engine) lostRights(code string) {
	if now := time.Now().UnixMilli(); code == readOnlyTransaction && now-e.outdated.Load() > time.Second.Milliseconds() { // not for every request
		e.outdated.Store(now)
	}
}

// connected is called for each new connection.
func (e *engine) connected(_ context.Context, c *pgx.Conn) error {
	c.PgConn().CustomData()[openedAt] = time.Now().UnixMilli()
	return nil
}

// reused is called before a connection is reused. If it rejects the connection, the pool opens
// another one.
func (e *engine) reused(_ context.Context, c *pgx.Conn) error {
	if at, _ := c.PgConn().CustomData()[openedAt].(int64); at <= e.outdated.Load() {
		return driver.ErrBadConn
	}
	return nil
}

// The queries name the project of each row that they read or write. Row security is a second
// barrier: a session that has not set the project of a row does not see the row. See "Row
// Security Policies" in the PostgreSQL manual. Policies do not bind a superuser or a role with
// BYPASSRLS.

// scopeVariable is the session variable that the policies read.
const scopeVariable = "proviso.project"

// Scoped implements [sqldb.Engine].
func (e *engine) Scoped() bool { return true }

// Enter implements [sqldb.Engine]. The last project is stored with the connection, so that it
// is set again only if it differs.
func (e *engine) Enter(ctx context.Context, c *sql.Conn, project string) error {
	return c.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn()
		told := conn.PgConn().CustomData()
		if told[scopeVariable] == project {
			return nil
		}
		delete(told, scopeVariable)
		if _, err := conn.Exec(ctx, "SELECT set_config($1, $2, false)", scopeVariable, project); err != nil {
			return err
		}
		told[scopeVariable] = project
		return nil
	})
}

// EnterTx implements [sqldb.Engine]: the setting holds until the end of the transaction.
func (e *engine) EnterTx(ctx context.Context, t *sql.Tx, project string) error {
	_, err := t.ExecContext(ctx, "SELECT set_config($1, $2, true)", scopeVariable, project)
	return err
}
