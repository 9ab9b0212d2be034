package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"

	"github.com/jackc/pgx/v5"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// leastVersion is the oldest supported PostgreSQL version, as server_version_num.
const leastVersion = 130000

// fits returns why a database cannot hold a store, before anything is written to it. Such
// problems would otherwise show up later, and less clearly. connections is the number of
// connections that this process wants.
func (e *engine) fits(ctx context.Context, connections int, access sqldb.Access) error {
	refused := func(format string, args ...any) error {
		return proviso.Errorf(proviso.Refused, "open the database %s: "+format, append([]any{e.place}, args...)...)
	}
	if connections > 1 {
		switch shared, err := e.sharesSessions(ctx); {
		case err != nil:
			return err
		case shared:
			return refused("a connection pooler gives each transaction another session, as PgBouncer does with pool_mode = transaction; set pool_mode = session, or connect to PostgreSQL itself")
		}
	}
	var version, most int
	var encoding, path string
	var schema, closed sql.NullString
	var standby, readOnly bool
	if err := e.db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
		(SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
			nullif(d.datconnlimit, -1), (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)) FROM pg_database d WHERE d.datname = current_database()),
		current_schema(), current_setting('search_path'), (SELECT min(nspname) FROM pg_namespace WHERE NOT has_schema_privilege(oid, 'USAGE')
			AND nspname = ANY(regexp_split_to_array(replace(translate(current_setting('search_path'), '"', ''), '$user', current_user), ' *, *')))`).
		Scan(&version, &encoding, &standby, &readOnly, &most, &schema, &path, &closed); err != nil {
		return err
	}
	e.schema = schema.String
	switch {
	case version < leastVersion:
		return refused("its server is PostgreSQL %d; version %d or later is needed", version/10000, leastVersion/10000)
	case encoding != "UTF8":
		return refused("its encoding is %s; make a database with UTF8: createdb --encoding=UTF8 --template=template0 NAME", encoding)
	case !schema.Valid && closed.Valid:
		return refused("the user %s may not use the schema %s; GRANT USAGE ON SCHEMA %s TO %s", e.user, closed.String, ident(closed.String), ident(e.user))
	case !schema.Valid:
		return refused("no schema of its search_path (%s) is there; CREATE SCHEMA makes one", path)
	case access == sqldb.Reading && (standby || readOnly):
	case standby:
		return refused("it is a replica, which can only be read; use the URL of the primary")
	case readOnly:
		return refused("it is read-only (default_transaction_read_only); use a database and a user that may write")
	case most < connections:
		return refused("its server allows %d connections, and each server and worker takes up to %d; raise max_connections, or the CONNECTION LIMIT of the database or the user", most, connections)
	}
	return nil
}

// sharesSessions reports whether a pooler in front of PostgreSQL maps two connections to one
// session. Such a pooler also loses prepared statements, so these queries are not prepared.
func (e *engine) sharesSessions(ctx context.Context) (shared bool, err error) {
	set := func(c *sql.Conn, mark string) error {
		_, err := c.ExecContext(ctx, "SELECT set_config('proviso.session', '"+mark+"', false)", pgx.QueryExecModeSimpleProtocol)
		return err
	}
	first, err := e.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer first.Close() // returns it to the pool
	second, err := e.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer second.Close()
	mark := rand.Text()
	if err := set(first, mark); err != nil {
		return false, err
	}
	if err := set(second, rand.Text()); err != nil {
		return false, err
	}
	var got sql.NullString
	err = first.QueryRowContext(ctx, "SELECT current_setting('proviso.session', true)", pgx.QueryExecModeSimpleProtocol).Scan(&got)
	return got.String != mark, err
}
